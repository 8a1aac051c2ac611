import { actionsOf, type Statement, type Synthesized, statements } from './stacks.ts';

/** Evaluates synthesized policies, since emulators do not enforce IAM. */

/** One request of a role. */
export interface IamRequest {
  readonly action: string;
  /** ARN as {@link arnOf} writes it. */
  readonly resource: string;
  /** Condition keys and policy variables, such as `aws:userid`. */
  readonly context?: Readonly<Record<string, string | readonly string[]>>;
}

/** Buckets and tables of the data stack by the names that the tests use. */
const STORES = ['Candles', 'Results', 'Runs', 'Jobs', 'Registry', 'Series'] as const;
type Store = (typeof STORES)[number];

export function arnOf(store: Store, key?: string): string {
  const bucket = ['Candles', 'Results', 'Runs'].includes(store);
  const base = bucket ? `arn:aws:s3:::${store}` : `arn:aws:dynamodb:us-east-1:111122223333:table/${store}`;
  return key === undefined ? base : `${base}/${key}`;
}

/** True if one statement of the role allows the request and none denies it. Throws for a condition that it does not know. */
export function isAllowed(stage: Synthesized, role: RegExp, request: IamRequest): boolean {
  const own = statements(stage).filter(({ id }) => role.test(id));
  if (own.length === 0) throw new Error(`No policy of ${role}`);
  const by = (effect: string) =>
    own.some(({ statement }) => statement.Effect === effect && matches(statement, request));
  return by('Allow') && !by('Deny');
}

function matches(statement: Statement, { action, resource, context = {} }: IamRequest): boolean {
  const variables = (text: string) =>
    text.replaceAll(/\$\{([\w:]+)\}/g, (all, name: string) => String(context[name] ?? all));
  return (
    actionsOf(statement).some((pattern) => like(pattern.toLowerCase(), action.toLowerCase())) &&
    [statement.Resource].flat().some((pattern) => like(variables(textOf(pattern)), resource)) &&
    Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys as Record<string, unknown>).every(([key, expected]) =>
        holds(operator, [context[key] ?? []].flat() as string[], [expected].flat().map(textOf)),
      ),
    )
  );
}

function holds(operator: string, values: readonly string[], expected: readonly string[]): boolean {
  const any = (value: string) => expected.some((pattern) => like(pattern, value));
  switch (operator) {
    case 'ForAllValues:StringLike':
      return values.every(any);
    case 'ForAnyValue:StringLike':
      return values.some(any);
    case 'StringEquals':
    case 'ArnEquals':
      return values.length === 1 && expected.includes(values[0]!);
    default:
      throw new Error(`Condition operator ${operator} is not known`);
  }
}

/** IAM's wildcards: `*` matches any characters, slashes included, `?` one. */
function like(pattern: string, value: string): boolean {
  const expression = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${expression.replaceAll('?', '.')}$`, 's').test(value);
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'us-east-1',
  'AWS::AccountId': '111122223333',
};

/** String of a value in a template. A resource of the platform stack is named by its logical ID. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join, 'Fn::GetStackOutput': output, Ref: ref } = value as Record<string, any>;
  if (join) return join[1].map(textOf).join(join[0]);
  if (ref) return PSEUDO[ref] ?? ref;
  const store = STORES.find((name) => new RegExp(`FnGetAtt${name}[0-9A-F]{8}Arn`).test(output?.OutputName));
  return store ? arnOf(store) : JSON.stringify(value);
}
