import type { SeededRandom } from './seeded-random.ts';

type Scalar = string | number;

/** Names and values of one object in a response, including its inner objects. */
type Seen = ReadonlyMap<string, Scalar>;

const MAX_RECORDS = 400;

/** Placeholders in the documents' examples for values that only the caller knows. */
const PLACEHOLDER = /<|^BASE\/QUOTE/;

/** Synonyms. A name also matches its parts: `target_version` for `version`. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  name: ['model_name', 'strategy'],
  model_name: ['strategy'],
  strategy: ['model_name'],
  run_id: ['job_id'],
  cursor: ['next_cursor'],
  symbol: ['symbols', 'pairs'],
  symbols: ['symbol', 'pairs'],
  pairs: ['symbol', 'symbols'],
};

/** Things numbered per owner. Several such names in one request mean several items of one owner. */
const OWNERS: Readonly<Record<string, string>> = { version: 'model_name' };

/** States in which most operations are possible. */
const RIPE = new Set<Scalar>(['completed', 'active', 'Production', 'Staging', 'None']);

/** Values of earlier responses by name, so that later requests reach more than 404. */
export class Pool {
  readonly #records: Seen[] = [];

  /** Records a response with the path variables of its request. */
  learn(body: unknown, variables: Readonly<Record<string, string>>): void {
    // A document contains names of things, not existing things.
    if (typeof body === 'object' && body !== null && 'openapi' in body) return;
    for (const object of objectsOf(body, 0)) {
      const seen = new Map<string, Scalar>(Object.entries(variables));
      // Outer values take precedence: the object's own status, not one of an inner object.
      for (const [name, value] of leaves(object, 0)) {
        if (!seen.has(name) && !PLACEHOLDER.test(String(value))) seen.set(name, value);
      }
      this.#remember(seen);
    }
  }

  /** Value of this name of the first completed item whose value begins like `value`, as all of its kind do. */
  firstCompleted(name: string, value: string): Scalar | undefined {
    const kind = `${value.split('-', 1)[0]!}-`;
    const isKind = (seen: Seen) => String(seen.get(name)).startsWith(kind);
    return this.#records.find((seen) => seen.get('status') === 'completed' && isKind(seen))?.get(name);
  }

  #remember(seen: Seen): void {
    const id = identity(seen);
    const known = id === undefined ? -1 : this.#records.findIndex((record) => identity(record) === id);
    if (known >= 0) this.#records[known] = new Map([...this.#records[known]!, ...seen]);
    else this.#records.push(seen);
    if (this.#records.length > MAX_RECORDS) this.#records.splice(MAX_RECORDS / 4, 1);
  }

  /**
   * Selects a known object that has values for the most of the names, and among those for the most of the others.
   * Prefers objects in a ripe state.
   */
  focus(random: SeededRandom, names: readonly string[], others: readonly string[]): Focus {
    const known = (record: Seen, of: readonly string[]) => knownIn(record, of, this.#records);
    const covers = (record: Seen) => known(record, names) * 100 + known(record, others);
    const counted = this.#records.map((record) => ({ record, count: covers(record) }));
    const most = Math.max(0, ...counted.map(({ count }) => count));
    const best = counted.filter(({ count }) => count === most).map(({ record }) => record);
    const ripe = best.filter((record) => RIPE.has(record.get('status') ?? record.get('stage') ?? ''));
    const chosen = random.pick([...(ripe.length > 0 && random.bool(0.7) ? ripe : best), ...noRecords(best)]);
    return new Focus(chosen, this.#records);
  }
}

function noRecords(best: readonly Seen[]): Seen[] {
  return best.length === 0 ? [new Map()] : [];
}

/** Number of names with a value: a model with two versions has values for two. */
function knownIn(record: Seen, names: readonly string[], all: readonly Seen[]): number {
  const parts = Map.groupBy(names, numberedPart);
  const plain = parts.get(undefined) ?? [];
  const values = plain.filter((name) => valueIn(record, name) !== undefined);
  return [...parts].reduce((sum, [part, named]) => {
    return part === undefined ? sum : sum + Math.min(named.length, siblingsIn(record, part, all).length);
  }, values.length);
}

/** Source of the values of one request. */
export class Focus {
  readonly #record: Seen;
  readonly #all: readonly Seen[];
  /** Numbered items already used in the request. */
  readonly #named = new Set<Scalar>();

  constructor(record: Seen, all: readonly Seen[]) {
    this.#record = record;
    this.#all = all;
  }

  /** Value for the name that passes the test: of the object in focus, or sometimes of another. */
  value(random: SeededRandom, name: string, fits: (value: Scalar) => boolean): Scalar | undefined {
    const own = this.#sibling(random, name, fits) ?? valueIn(this.#record, name, fits);
    if (own !== undefined && random.bool(0.8)) return own;
    const others = this.#all.flatMap((record) => valueIn(record, name, fits) ?? []);
    return others.length > 0 ? random.pick(others) : undefined;
  }

  /** Another numbered item of the same owner that the request does not use yet. */
  #sibling(random: SeededRandom, name: string, fits: (value: Scalar) => boolean): Scalar | undefined {
    const part = numberedPart(name);
    if (part === undefined) return undefined;
    const siblings = siblingsIn(this.#record, part, this.#all).filter(fits);
    const others = siblings.filter((value) => !this.#named.has(value));
    if (others.length === 0) return siblings[0];
    const chosen = random.pick(others);
    this.#named.add(chosen);
    return chosen;
  }
}

/** Numbered part of a name, if any: `version` for `champion_version`. */
function numberedPart(name: string): string | undefined {
  return namesOf(name).find((part) => part in OWNERS);
}

/** Values of that name with the same owner as the record. */
function siblingsIn(record: Seen, part: string, all: readonly Seen[]): Scalar[] {
  const owner = OWNERS[part]!;
  const value = valueIn(record, owner);
  if (value === undefined) return [];
  return [...new Set(all.flatMap((each) => (each.get(owner) === value ? (each.get(part) ?? []) : [])))];
}

function valueIn(
  record: Seen,
  name: string,
  fits: (value: Scalar) => boolean = () => true,
): Scalar | undefined {
  for (const candidate of namesOf(name)) {
    const value = record.get(candidate);
    if (value !== undefined && fits(value)) return value;
  }
  return undefined;
}

const NAMES = new Map<string, readonly string[]>();

/** The name, its synonyms, then its parts and theirs. */
function namesOf(name: string): readonly string[] {
  const known = NAMES.get(name);
  if (known) return known;
  const words = name.split('_');
  const parts = words.flatMap((_, from) =>
    words.slice(from).map((__, to) => words.slice(from, from + to + 1)),
  );
  // A bare `id` could belong to anything.
  const longestFirst = parts
    .map((part) => part.join('_'))
    .filter((part) => part !== 'id')
    .sort((a, b) => b.length - a.length);
  // A bare `name` could belong to anything, so its synonyms come first.
  const names = longestFirst.flatMap((part) => [...(SYNONYMS[part] ?? []), part]).sort(ownNameFirst(name));
  NAMES.set(name, names);
  return names;
}

function ownNameFirst(name: string): (a: string, b: string) => number {
  const rank = (each: string) => (each === name && name !== 'name' ? 0 : 1);
  return (a, b) => rank(a) - rank(b);
}

/** Identity of a record: its first name that ends with `_id`, and the numbers of numbered parts. */
function identity(seen: Seen): Scalar | undefined {
  const numbers = Object.keys(OWNERS).map((part) => seen.get(part) ?? '');
  for (const [name, value] of seen) if (name.endsWith('_id')) return [name, value, ...numbers].join(' ');
  return undefined;
}

function* objectsOf(value: unknown, depth: number): Generator<object> {
  if (typeof value !== 'object' || value === null || depth > 3) return;
  if (!Array.isArray(value)) yield value;
  const inner = Array.isArray(value) ? value.slice(0, 20) : Object.values(value);
  for (const each of inner)
    if (Array.isArray(value) || Array.isArray(each)) yield* objectsOf(each, depth + 1);
}

function* leaves(object: object, depth: number): Generator<[string, Scalar]> {
  const inner: object[] = [];
  for (const [name, value] of Object.entries(object)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string' || typeof first === 'number') yield [name, first];
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) inner.push(value);
  }
  if (depth < 2) for (const value of inner) yield* leaves(value, depth + 1);
}
