import { MAX_AGENT_ROWS } from '#contract/operations/agent-tools.ts';

/** A value cut to a size that leaves a model room for its work. */
export interface Compact {
  readonly value: unknown;
  /** Parts that are left out, one phrase each. */
  readonly omitted: readonly string[];
}

/** Characters of JSON, some 3,000 tokens. */
const MAX_JSON = 12_000;
const MAX_STRING = 500;
const DIGITS = 6;

/**
 * The value with at most 20 rows per list, fewer when it is long. A longer list of numbers becomes its range. Numbers have six
 * significant digits. Null fields are left out.
 */
export function compact(value: unknown): Compact {
  for (const rows of [MAX_AGENT_ROWS, 10, 5, 2]) {
    const omitted: string[] = [];
    const cut = cutTo(rows, value, '', omitted);
    if (JSON.stringify(cut ?? null).length <= MAX_JSON)
      return { value: withoutSkips(rows, cut, omitted), omitted };
  }
  const omitted: string[] = [];
  return { value: withoutLongest(withoutSkips(2, cutTo(2, value, '', omitted), omitted), omitted), omitted };
}

/** Without the cursor of a page whose rows are cut: the next page would skip them. */
function withoutSkips(rows: number, value: unknown, omitted: string[]): unknown {
  if (!omitted.some((part) => part.startsWith('items: '))) return value;
  const { next_cursor, ...page } = value as { next_cursor?: string };
  if (next_cursor === undefined) return value;
  omitted.push(`next_cursor: for the rows after these call again with limit ${rows}`);
  return page;
}

function cutTo(rows: number, value: unknown, path: string, omitted: string[]): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
  if (typeof value === 'string') return cutString(value, path, omitted);
  if (Array.isArray(value)) return cutList(rows, value, path, omitted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, cutTo(rows, each, path ? `${path}.${key}` : key, omitted)]),
  );
}

function cutString(text: string, path: string, omitted: string[]): string {
  // A cursor is only right as a whole.
  if (text.length <= MAX_STRING || path.endsWith('cursor')) return text;
  omitted.push(`${path}: ${MAX_STRING} of ${text.length} characters`);
  return `${text.slice(0, MAX_STRING)}…`;
}

function cutList(rows: number, list: readonly unknown[], path: string, omitted: string[]): unknown {
  const each = (value: unknown) => cutTo(rows, value, path, omitted);
  if (list.length <= rows) return list.map(each);
  if (list.every((value) => typeof value === 'number')) {
    const [first, last] = [list[0], list.at(-1)];
    const min = list.reduce((a, b) => Math.min(a, b));
    const max = list.reduce((a, b) => Math.max(a, b));
    omitted.push(`${path}: range of ${list.length} values`);
    return cutTo(rows, { count: list.length, first, last, min, max }, path, omitted);
  }
  omitted.push(`${path}: ${rows} of ${list.length} rows`);
  return list.slice(0, rows).map(each);
}

/** Without the longest parts, until it fits. */
function withoutLongest(value: unknown, omitted: string[]): unknown {
  const left = new Map(
    Object.entries(value as object).map(([key, each]) => [key, JSON.stringify(each).length]),
  );
  let total = [...left.values()].reduce((sum, length) => sum + length, 0);
  for (const [key, length] of [...left].sort(([, a], [, b]) => b - a)) {
    if (total <= MAX_JSON) break;
    left.delete(key);
    total -= length;
    omitted.push(key);
  }
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => left.has(key)));
}
