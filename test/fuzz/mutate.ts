import type { Json, Schema, ServiceDocument } from './document.ts';
import { anyValue, boundaryValue, hostileText, hugeValue, PROTOTYPE_KEYS } from './hostile.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Changes of JSON values. None changes its argument. */

type Path = readonly (string | number)[];

/** All locations in the value, the root first. */
function placesIn(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value)
    ? value.map((each, index) => [index, each] as const)
    : Object.entries(value as { [key: string]: Json });
  return [path, ...inner.flatMap(([key, each]) => placesIn(each, [...path, key]))];
}

/** Replaces the value at a location; without a replacement, removes it. */
function withAt(value: Json, path: Path, replacement: Json | undefined): Json | undefined {
  const key = path.at(-1);
  if (key === undefined) return replacement;
  const copy = structuredClone(value);
  const parent = at(copy, path.slice(0, -1)) as any;
  if (replacement !== undefined) parent[key] = replacement;
  else if (Array.isArray(parent)) parent.splice(key as number, 1);
  else delete parent[key];
  return copy;
}

function at(value: Json, path: Path): Json {
  return path.reduce<any>((node, key) => node[key], value);
}

/** Replaces a random location, sometimes the root, by a value of any type. */
export function withWrongType(body: Json, random: SeededRandom): Json {
  const path = random.bool(0.1) ? [] : random.pick(placesIn(body));
  return withAt(body, path, anyValue(random)) ?? null;
}

/** Puts a hostile string at a random location. */
export function withHostileText(body: Json, random: SeededRandom): Json {
  const places = placesIn(body);
  const texts = places.filter((path) => typeof at(body, path) === 'string');
  return withAt(body, random.pick(texts.length > 0 ? texts : places), hostileText(random)) ?? null;
}

export function withHugeValue(body: Json, random: SeededRandom): Json {
  return withAt(body, random.pick(placesIn(body)), hugeValue(random)) ?? null;
}

/** Removes one key or item; undefined removes the body. */
export function withMissing(body: Json, random: SeededRandom): Json | undefined {
  const inner = placesIn(body).slice(1);
  return inner.length === 0 || random.bool(0.1) ? undefined : withAt(body, random.pick(inner), undefined);
}

/** Adds keys that the schema does not name, including those of prototypes. */
export function withExtraKeys(body: Json, random: SeededRandom): Json {
  const objects = placesIn(body).filter((path) => isObject(at(body, path)));
  if (objects.length === 0) return body;
  const path = random.pick(objects);
  const keys = Array.from({ length: random.int(1, 3) }, () =>
    random.bool(0.6) ? random.pick(PROTOTYPE_KEYS) : hostileText(random),
  );
  const added = keys.map((key) => [key, random.bool(0.3) ? { polluted: true } : anyValue(random)] as const);
  // fromEntries defines `__proto__` as a key like any other.
  const grown = Object.fromEntries([...Object.entries(at(body, path) as object), ...added]) as Json;
  return withAt(body, path, grown) ?? null;
}

const isObject = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Puts a value at the bounds of the schema in place of a value or as an additional key. */
export function withBoundary(
  body: Json,
  schema: Schema,
  document: ServiceDocument,
  random: SeededRandom,
): Json {
  const described = [...schemasIn(schema, [], document)];
  if (described.length === 0) return body;
  const { path, schema: chosen } = random.pick(described);
  return setAt(body, path, boundaryValue(chosen, random));
}

interface Described {
  readonly path: readonly string[];
  readonly schema: Schema;
}

function* schemasIn(
  schema: Schema,
  path: readonly string[],
  document: ServiceDocument,
): Generator<Described> {
  const { properties, anyOf = [], ...own } = document.resolve(schema);
  if (properties) {
    for (const [key, each] of Object.entries<Schema>(properties))
      yield* schemasIn(each, [...path, key], document);
    return;
  }
  if (path.length > 0) yield { path, schema: own };
  for (const branch of anyOf as readonly Schema[]) yield* schemasIn(branch, path, document);
}

/** Sets a key and creates the objects on its path. */
function setAt(value: Json, [key, ...rest]: readonly string[], replacement: Json): Json {
  if (key === undefined) return replacement;
  const object = (isObject(value) ? value : {}) as { [key: string]: Json };
  return { ...object, [key]: setAt(object[key] ?? {}, rest, replacement) };
}
