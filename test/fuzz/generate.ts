import fc from 'fast-check';
import type { FuzzOperation, Json, Schema, ServiceDocument } from './document.ts';
import type { Focus } from './pool.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Sources of generated values. */
export interface Sources {
  readonly random: SeededRandom;
  readonly focus: Focus;
  readonly document: ServiceDocument;
  /** Epoch milliseconds, UTC: no generated range ends after it. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
const WORDS = ['alpha', 'first try', 'Zoë', 'a-b_c.d', 'x', '7'];

/** Value that fits the schema and is meaningful, as far as the schema and earlier responses allow. */
export function generate(schema: Schema, name: string, sources: Sources): Json {
  const { random, document } = sources;
  const { anyOf, oneOf, allOf, 'x-any-of': required, ...plain } = document.resolve(schema);
  const branches: readonly Schema[] | undefined = anyOf ?? oneOf ?? required;
  const parts: readonly Schema[] = [...(allOf ?? []), ...(branches ? [random.pick(branches)] : [])];
  const whole = parts.map((part) => document.resolve(part)).reduce(merge, plain);
  if (whole.const !== undefined) return whole.const;
  // The default is the usual value: other values may need data that does not exist yet.
  if (whole.enum?.includes(defaultOf(whole)) && random.bool(0.7)) return defaultOf(whole);
  if (whole.enum) return random.pick(whole.enum as readonly Json[]);
  const types = [whole.type ?? typeOf(whole)].flat();
  switch (random.bool(0.9) ? types.find((type) => type !== 'null') : random.pick(types)) {
    case 'object':
      return generateObject(whole, name, sources);
    case 'array':
      return generateArray(whole, name, sources);
    case 'integer':
    case 'number':
      return generateNumber(whole, name, types.includes('integer'), sources);
    case 'boolean':
      return random.bool();
    case 'null':
    case undefined:
      return null;
    default:
      return generateText(whole, name, sources);
  }
}

/** Default of a parameter, or of a field of a body. */
function defaultOf(schema: Schema) {
  return schema.default ?? schema['x-default'];
}

function merge(a: Schema, b: Schema): Schema {
  return {
    ...a,
    ...b,
    ...(a.properties || b.properties ? { properties: { ...a.properties, ...b.properties } } : {}),
    ...(a.required || b.required ? { required: [...(a.required ?? []), ...(b.required ?? [])] } : {}),
  };
}

function typeOf(schema: Schema): string {
  return schema.properties || schema.additionalProperties ? 'object' : 'string';
}

function generateObject(schema: Schema, name: string, sources: Sources): Json {
  const { random } = sources;
  const properties = Object.entries<Schema>(schema.properties ?? {});
  const required = new Set<string>(schema.required);
  const chosen = properties.filter(([key, property]) => {
    return required.has(key) || boundsWork(property, sources) || random.bool(0.35);
  });
  // Null counts as absent, and would cause the work that a value avoids.
  const given = (property: Schema) => (boundsWork(property, sources) ? withoutNull(property) : property);
  const entries = chosen.map(([key, property]) => [key, generate(given(property), key, sources)] as const);
  const object: Record<string, Json> = Object.fromEntries(entries);
  if (!schema.properties && hasSchema(schema.additionalProperties) && random.bool(0.3)) {
    const key = schema.propertyNames?.enum?.[0] ?? String(random.int(0, 90));
    object[key] = generate(schema.additionalProperties, name, sources);
  }
  return withShortRange(object, sources);
}

function withoutNull(property: Schema): Schema {
  return Array.isArray(property.type)
    ? { ...property, type: property.type.filter((type) => type !== 'null') }
    : property;
}

const hasSchema = (schema: unknown): schema is Schema =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length > 0;

/** A number whose default is higher means a lot of work if omitted: trials, days. */
const LARGE_DEFAULT = 10;

/** True if a minimal request causes a lot of work. */
export function isLarge({ body, service }: FuzzOperation): boolean {
  const properties: Schema = (body && service.resolve(body).properties) ?? {};
  return Object.values<Schema>(properties).some(isLargeNumber);
}

function isLargeNumber(schema: Schema): boolean {
  return [schema.type].flat().includes('integer') && defaultOf(schema) > LARGE_DEFAULT;
}

/** True if omitting the field causes longer work: the start or end of a time range, a large number. */
function boundsWork(schema: Schema, { random, document }: Sources): boolean {
  const { format, properties, ...own } = document.resolve(schema);
  return (
    format === 'date-time' ||
    isLargeNumber(own) ||
    // A range object may be omitted sometimes, because other numbers may have to fit into it.
    (properties?.start !== undefined && properties?.end !== undefined && random.bool(0.6))
  );
}

/** Every generated range causes little work: one to five past days. */
function withShortRange(object: Record<string, Json>, { random, now }: Sources): Json {
  if (!('start' in object) || !('end' in object)) return object;
  const end = now - random.int(1, 30) * DAY_MS;
  const start = end - random.int(1, 5) * DAY_MS;
  return { ...object, start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}

function generateArray(schema: Schema, name: string, sources: Sources): Json {
  const { random } = sources;
  const least: number = schema.minItems ?? 1;
  const most = Math.min(schema.maxItems ?? Number.POSITIVE_INFINITY, least + 1);
  const items = Array.from({ length: random.int(least, most) }, () =>
    generate(schema.items ?? {}, name, sources),
  );
  return schema.uniqueItems === false ? items : [...new Set(items)];
}

function generateNumber(schema: Schema, name: string, whole: boolean, sources: Sources): Json {
  const { random, focus } = sources;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const least: number = minimum ?? exclusiveMinimum ?? (maximum < 1 ? maximum - 1 : 1);
  const most: number = maximum ?? exclusiveMaximum ?? least + 100;
  const inside = (value: number) =>
    value >= least && value <= most && value !== exclusiveMinimum && value !== exclusiveMaximum;
  const seen = focus.value(random, name, (value) => {
    return typeof value === 'number' && inside(value) && (!whole || Number.isInteger(value));
  });
  if (seen !== undefined && random.bool(0.3)) return seen;
  const usual = defaultOf(schema);
  if (usual !== undefined && (!whole || usual <= LARGE_DEFAULT) && random.bool(0.3)) return usual;
  // Small numbers cause little work: trials, pages, trades.
  const near = Math.min(most, least + (whole ? 9 : Math.min(1, most - least)));
  const value = whole
    ? random.int(Math.ceil(least), Math.floor(near))
    : Number(random.number(least, near).toPrecision(3));
  return inside(value) ? value : whole ? Math.ceil(least) + 1 : (least + near) / 2;
}

function generateText(schema: Schema, name: string, sources: Sources): Json {
  const { random, focus, now } = sources;
  if (schema.format === 'date-time') return new Date(now - random.int(1, 20) * DAY_MS).toISOString();
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u');
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (pattern?.test(text) ?? true);
  const seen = focus.value(random, name, (value) => fits(String(value)));
  if (seen !== undefined && random.bool(0.95)) return String(seen);
  const usual = defaultOf(schema);
  if (usual !== undefined && random.bool(0.3)) return usual;
  if (schema.examples && random.bool(0.9)) return random.pick(schema.examples as readonly Json[]);
  if (pattern) return matching(pattern, random);
  const word = random.pick(WORDS);
  return fits(word) ? word : 'x'.repeat(Math.max(1, minLength));
}

/** String of the right format, most probably unknown. */
export function matching(pattern: RegExp, random: SeededRandom): string {
  const seed = random.int(0, 2 ** 31 - 1);
  return fc.sample(fc.stringMatching(pattern), { seed, numRuns: 1 })[0]!;
}
