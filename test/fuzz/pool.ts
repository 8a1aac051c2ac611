import type { Chance } from './chance.ts';

type Scalar = string | number;

/** What one object of a response said: its names and values, those of its inner objects too. */
type Seen = ReadonlyMap<string, Scalar>;

const MAX_RECORDS = 400;

/** As the documents' examples write what only the caller can know. */
const PLACEHOLDER = /<|^BASE\/QUOTE/;

/** Names that stand for the same thing. A name also stands for its parts: `target_version` for `version`. */
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

/** Things that are numbered within another: names that ask for several of them mean several of the same owner. */
const OWNERS: Readonly<Record<string, string>> = { version: 'model_name' };

/** States in which there is most to do with a thing. */
const RIPE = new Set<Scalar>(['completed', 'active', 'Production', 'Staging', 'None']);

/** Values of earlier responses, by name: what makes later requests reach more than 404. */
export class Pool {
  readonly #records: Seen[] = [];

  /** Takes in a response, and with it the path variables of its request. */
  learn(body: unknown, variables: Readonly<Record<string, string>>): void {
    // A document tells what things are called, not what there is.
    if (typeof body === 'object' && body !== null && 'openapi' in body) return;
    for (const object of objectsOf(body, 0)) {
      const seen = new Map<string, Scalar>(Object.entries(variables));
      // What stands nearer to the object counts: its own status, not that of something inside it.
      for (const [name, value] of leaves(object, 0)) {
        if (!seen.has(name) && !PLACEHOLDER.test(String(value))) seen.set(name, value);
      }
      this.#remember(seen);
    }
  }

  #remember(seen: Seen): void {
    const id = identity(seen);
    const known = id === undefined ? -1 : this.#records.findIndex((record) => identity(record) === id);
    if (known >= 0) this.#records[known] = new Map([...this.#records[known]!, ...seen]);
    else this.#records.push(seen);
    if (this.#records.length > MAX_RECORDS) this.#records.splice(MAX_RECORDS / 4, 1);
  }

  /**
   * One thing seen before that has values for as many of the names as any has, and among those for as many of the
   * others; ripe ones come first.
   */
  focus(chance: Chance, names: readonly string[], others: readonly string[]): Focus {
    const known = (record: Seen, of: readonly string[]) => knownIn(record, of, this.#records);
    const covers = (record: Seen) => known(record, names) * 100 + known(record, others);
    const counted = this.#records.map((record) => ({ record, count: covers(record) }));
    const most = Math.max(0, ...counted.map(({ count }) => count));
    const best = counted.filter(({ count }) => count === most).map(({ record }) => record);
    const ripe = best.filter((record) => RIPE.has(record.get('status') ?? record.get('stage') ?? ''));
    const chosen = chance.pick([...(ripe.length > 0 && chance.bool(0.7) ? ripe : best), ...noRecords(best)]);
    return new Focus(chosen, this.#records);
  }
}

function noRecords(best: readonly Seen[]): Seen[] {
  return best.length === 0 ? [new Map()] : [];
}

/** For how many of the names there is a value: two versions are known of a model that has two. */
function knownIn(record: Seen, names: readonly string[], all: readonly Seen[]): number {
  const parts = Map.groupBy(names, numberedPart);
  const plain = parts.get(undefined) ?? [];
  const values = plain.filter((name) => valueIn(record, name) !== undefined);
  return [...parts].reduce((sum, [part, named]) => {
    return part === undefined ? sum : sum + Math.min(named.length, siblingsIn(record, part, all).length);
  }, values.length);
}

/** Where the values of one request come from. */
export class Focus {
  readonly #record: Seen;
  readonly #all: readonly Seen[];
  /** Of numbered things, those that the request names already. */
  readonly #named = new Set<Scalar>();

  constructor(record: Seen, all: readonly Seen[]) {
    this.#record = record;
    this.#all = all;
  }

  /** A value for that name which passes the test: of the thing in focus, or now and then of another. */
  value(chance: Chance, name: string, fits: (value: Scalar) => boolean): Scalar | undefined {
    const own = this.#sibling(chance, name, fits) ?? valueIn(this.#record, name, fits);
    if (own !== undefined && chance.bool(0.8)) return own;
    const others = this.#all.flatMap((record) => valueIn(record, name, fits) ?? []);
    return others.length > 0 ? chance.pick(others) : undefined;
  }

  /** Of a numbered thing: one of the same owner, and not the one that was named before. */
  #sibling(chance: Chance, name: string, fits: (value: Scalar) => boolean): Scalar | undefined {
    const part = numberedPart(name);
    if (part === undefined) return undefined;
    const siblings = siblingsIn(this.#record, part, this.#all).filter(fits);
    const others = siblings.filter((value) => !this.#named.has(value));
    if (others.length === 0) return siblings[0];
    const chosen = chance.pick(others);
    this.#named.add(chosen);
    return chosen;
  }
}

/** What the name counts within an owner, if anything: `version` for `champion_version`. */
function numberedPart(name: string): string | undefined {
  return namesOf(name).find((part) => part in OWNERS);
}

/** What was seen under that name with the owner of the record. */
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
  // An `id` is of something: without that it could be of anything.
  const longestFirst = parts
    .map((part) => part.join('_'))
    .filter((part) => part !== 'id')
    .sort((a, b) => b.length - a.length);
  // A bare `name` is the name of anything: what it stands for says more.
  const names = longestFirst.flatMap((part) => [...(SYNONYMS[part] ?? []), part]).sort(ownNameFirst(name));
  NAMES.set(name, names);
  return names;
}

function ownNameFirst(name: string): (a: string, b: string) => number {
  const rank = (each: string) => (each === name && name !== 'name' ? 0 : 1);
  return (a, b) => rank(a) - rank(b);
}

/** The id of what a record is of: its first name that ends with `_id`, and the number of what is numbered. */
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
