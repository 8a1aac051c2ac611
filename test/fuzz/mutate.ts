import type { Chance } from './chance.ts';
import type { Json, Schema, ServiceDocument } from './document.ts';
import { anyValue, boundaryValue, hostileText, hugeValue, PROTOTYPE_KEYS } from './hostile.ts';

/** Changes of JSON values. None changes its argument. */

type Path = readonly (string | number)[];

/** Every place in the value, the whole first. */
function placesIn(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value)
    ? value.map((each, index) => [index, each] as const)
    : Object.entries(value as { [key: string]: Json });
  return [path, ...inner.flatMap(([key, each]) => placesIn(each, [...path, key]))];
}

/** The value with another at that place; without one, the place is removed. */
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

/** Another value somewhere, of any type; sometimes in place of the whole. */
export function withWrongType(body: Json, chance: Chance): Json {
  const path = chance.bool(0.1) ? [] : chance.pick(placesIn(body));
  return withAt(body, path, anyValue(chance)) ?? null;
}

/** A hostile text somewhere. */
export function withHostileText(body: Json, chance: Chance): Json {
  const places = placesIn(body);
  const texts = places.filter((path) => typeof at(body, path) === 'string');
  return withAt(body, chance.pick(texts.length > 0 ? texts : places), hostileText(chance)) ?? null;
}

export function withHugeValue(body: Json, chance: Chance): Json {
  return withAt(body, chance.pick(placesIn(body)), hugeValue(chance)) ?? null;
}

/** Without one key or item; undefined: without a body. */
export function withMissing(body: Json, chance: Chance): Json | undefined {
  const inner = placesIn(body).slice(1);
  return inner.length === 0 || chance.bool(0.1) ? undefined : withAt(body, chance.pick(inner), undefined);
}

/** With keys that the schema does not name, those of prototypes among them. */
export function withExtraKeys(body: Json, chance: Chance): Json {
  const objects = placesIn(body).filter((path) => isObject(at(body, path)));
  if (objects.length === 0) return body;
  const path = chance.pick(objects);
  const keys = Array.from({ length: chance.int(1, 3) }, () =>
    chance.bool(0.6) ? chance.pick(PROTOTYPE_KEYS) : hostileText(chance),
  );
  const added = keys.map((key) => [key, chance.bool(0.3) ? { polluted: true } : anyValue(chance)] as const);
  // fromEntries defines `__proto__` as a key like any other.
  const grown = Object.fromEntries([...Object.entries(at(body, path) as object), ...added]) as Json;
  return withAt(body, path, grown) ?? null;
}

const isObject = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value at the edge of what the schema allows, in place of one of the values or as one more key. */
export function withBoundary(body: Json, schema: Schema, document: ServiceDocument, chance: Chance): Json {
  const described = [...schemasIn(schema, [], document)];
  if (described.length === 0) return body;
  const { path, schema: chosen } = chance.pick(described);
  return setAt(body, path, boundaryValue(chosen, chance));
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

/** Sets a key, making the objects that lead to it. */
function setAt(value: Json, [key, ...rest]: readonly string[], replacement: Json): Json {
  if (key === undefined) return replacement;
  const object = (isObject(value) ? value : {}) as { [key: string]: Json };
  return { ...object, [key]: setAt(object[key] ?? {}, rest, replacement) };
}
