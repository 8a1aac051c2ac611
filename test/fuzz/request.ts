import type { FuzzOperation, Json, Parameter, Schema } from './document.ts';
import { generate, type Sources } from './generate.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Draft of a request, changed by mutations before it is encoded. */
export interface Draft {
  method: string;
  /** Path variables before encoding. */
  readonly variables: Record<string, string>;
  /** Complete raw path; undefined: the operation's path with its variables. */
  rawPath?: string;
  /** Names and values before encoding, in order. */
  readonly query: [string, string][];
  /** Additional raw query. */
  rawQuery?: string;
  readonly headers: Record<string, string | readonly string[]>;
  body: Json | undefined;
  /** Raw body; undefined: `body` as JSON. */
  rawBody?: Buffer;
}

/** Encoded request. */
export interface FuzzRequest {
  readonly method: string;
  readonly base: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
}

export interface Place {
  readonly operation: FuzzOperation;
  readonly sources: Sources;
}

/** Request that should succeed, as far as the document and earlier responses allow. */
export function validDraft({ operation, sources }: Place): Draft {
  const draft: Draft = { method: operation.method, variables: {}, query: [], headers: {}, body: undefined };
  for (const parameter of operation.parameters) addParameter(draft, parameter, sources);
  if (operation.body) draft.body = validBody(operation.body, sources);
  return draft;
}

/** Names for which a request needs values, and optional ones. */
export function wantedNames({ parameters, body, service }: FuzzOperation): {
  readonly needed: readonly string[];
  readonly others: readonly string[];
} {
  const {
    properties = {},
    required = [],
    'x-any-of': anyOf = [],
  } = body ? service.resolve(body) : ({} as Schema);
  // Uses the first of alternative schemas.
  const first: readonly string[] = anyOf[0]?.required ?? [];
  const needed = [
    ...parameters.filter((each) => each.required).map(({ name }) => name),
    ...(required as readonly string[]),
    ...first,
  ];
  return { needed, others: Object.keys(properties) };
}

function addParameter(
  draft: Draft,
  { name, in: place, required, schema }: Parameter,
  sources: Sources,
): void {
  const { random } = sources;
  if (!required && !random.bool(place === 'header' ? 0.1 : 0.3)) return;
  const value = generate(schema, name, sources);
  const texts = [value].flat().map(String);
  if (place === 'path') draft.variables[name] = texts[0]!;
  else if (place === 'header') draft.headers[name] = random.bool() ? `fuzz-${random.int(1, 99)}` : texts[0]!;
  else if (random.bool()) draft.query.push(...texts.map((text): [string, string] => [name, text]));
  else draft.query.push([name, texts.join(',')]);
}

/** Value of the schema, or an example of the document with values of earlier responses. */
function validBody(schema: Schema, sources: Sources): Json {
  const { random, document } = sources;
  const { examples = [] } = document.resolve(schema);
  const made = generate(schema, '', sources) as { [key: string]: Json };
  return examples.length === 0 || random.bool(0.8)
    ? made
    : { ...random.pick(examples as { [key: string]: Json }[]), ...made };
}

/** Bodies that the document shows for the operation. */
export function examplesOf({ body, service }: FuzzOperation): readonly Json[] {
  return (body && service.resolve(body).examples) ?? [];
}

/** Encodes a draft. */
export function writeRequest({ operation, sources }: Place, draft: Draft): FuzzRequest {
  const { random } = sources;
  const path =
    draft.rawPath ??
    operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(draft.variables[name] ?? 'x'));
  const query = [
    ...draft.query.map(([name, value]) => `${encode(name)}=${encode(value)}`),
    ...(draft.rawQuery === undefined ? [] : [draft.rawQuery]),
  ].join('&');
  const body = draft.rawBody ?? (draft.body === undefined ? undefined : toJson(draft.body, random));
  const typed = Object.keys(draft.headers).some((name) => name.toLowerCase() === 'content-type');
  return {
    method: draft.method,
    base: operation.service.base,
    path: query === '' ? path : `${path}?${query}`,
    headers: { ...(body && !typed ? { 'Content-Type': 'application/json' } : {}), ...draft.headers },
    body,
  };
}

function toJson(value: Json, random: SeededRandom): Buffer {
  return Buffer.from(JSON.stringify(value, null, random.bool(0.05) ? 2 : 0));
}

/** Percent-encoded; an unpaired surrogate as the three bytes that every decoder rejects. */
export function encode(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : '%ED%A0%80'))
    .join('');
}
