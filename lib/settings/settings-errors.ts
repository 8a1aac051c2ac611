import * as z from 'zod';
import { nearestName } from '#contract/values/nearest-name.ts';

/** Wrong settings. The message has one line per problem: path of the setting, its value, and what to write. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Parses `input`. @throws SettingsError whose paths begin with `root`. */
export function validated<T extends z.ZodType>(
  schema: T,
  input: unknown,
  root: readonly string[] = [],
): z.infer<T> {
  const { success, data, error } = schema.safeParse(input, { error: whatToWrite });
  if (success) return data;
  throw new SettingsError(error.issues.flatMap((issue) => linesOf(issue, input, root)));
}

/** One line per setting of an issue. */
function linesOf(issue: z.core.$ZodIssue, input: unknown, root: readonly string[]): string[] {
  const at = (...keys: PropertyKey[]) => pathOf([...root, ...issue.path, ...keys]);
  if (issue.code === 'unrecognized_keys') {
    const hints = issue.message.split('\n');
    return issue.keys.map((key, index) => `${at(key)} ${hints[index]}`);
  }
  // A rule between settings has the whole sentence.
  if (issue.code === 'custom') return [`${at()} ${issue.message}`];
  const value = issue.path.reduce<unknown>(
    (parent, key) => (parent as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  );
  return [`${at()} is ${value === undefined ? 'missing' : JSON.stringify(value)}: ${issue.message}`];
}

/** Such as `stages.dev.trustedCallers[0]`. */
function pathOf(keys: readonly PropertyKey[]): string {
  if (keys.length === 0) return 'the file';
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
}

/** Message of an issue whose schema has none. Zod passes the schema, which has the known names. */
function whatToWrite(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownName(key, namesOf(issue.inst))).join('\n');
    case 'invalid_value':
      return oneOf(issue.values, issue.input);
    case 'invalid_union':
      return unionMember(issue);
    case 'invalid_type':
      return `write ${issue.inst instanceof z.ZodNumberFormat ? 'an integer' : TYPES[issue.expected]}`;
    case 'too_small':
      return issue.origin === 'number' ? `write at least ${issue.minimum}` : 'it must not be empty';
    case 'too_big':
      return `write at most ${issue.maximum}`;
    case 'invalid_key':
      return `the name is not valid: ${issue.issues[0]?.message ?? 'choose another one'}`;
    default:
      return 'the value is not valid';
  }
}

/** A discriminated union has the values of its discriminator; any other union of the schema has its own message. */
function unionMember({ options, discriminator, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>) {
  const given = (input as Readonly<Record<string, unknown>>)[String(discriminator)];
  return oneOf((options ?? []) as string[], given);
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  array: 'a list in [ ]',
  object: 'an object in { }',
};

function namesOf(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest
    ? `is not a setting: did you mean ${nearest}?`
    : `is not a setting. Known: ${known.join(', ')}`;
}

function oneOf(values: readonly unknown[], given: unknown): string {
  const nearest = typeof given === 'string' && nearestName(given, values.map(String));
  return nearest
    ? `did you mean ${JSON.stringify(nearest)}?`
    : `write ${values.map((value) => JSON.stringify(value)).join(' or ')}`;
}
