import { JOB_LIST_LIMITS } from '#contract/values/job-limits.ts';
import type {
  JobCount,
  JobFacts,
  JobPage,
  JobSearch,
  ListedJobRow,
  ReadSortValues,
} from '#domain/jobs/job-list-ports.ts';
import { matchesFacts, parameterOf } from '#domain/jobs/match-job.ts';
import { SearchWork } from '#domain/shared/search-work.ts';
import { type CursorScope, decodeCursor, encodeCursor } from './cursor.ts';
import { listPosition } from './job-sharing.ts';

type Row = ListedJobRow;

/** How the rows of one kind of jobs are searched. */
export interface Searchable<R extends Row> {
  /** Texts that contain the words of a search. */
  readonly textsOf: (row: R) => readonly (string | null)[];
  /** Absent: jobs of this kind cannot be pinned. */
  readonly isPinned?: (row: R) => boolean;
  /** Value of a metric that the list can be sorted by; null: the job has none. */
  readonly metricOf: (row: R, sort: string) => number | null;
}

/** Place of a row in the order of a search. */
interface Place {
  readonly last: boolean;
  readonly value: number | string | null;
  readonly position: string;
}

interface SearchedPage<R> {
  readonly limit: number;
  readonly cursor: string | null;
  readonly scope: CursorScope;
  readonly sortValues?: ReadSortValues<R> | undefined;
}

/** Filters of a search as the scope of its cursors has them. */
export function scopeOfFacts({ session, owner, exchange, tag, look_ahead, params }: JobFacts): CursorScope {
  const given = { session, owner, exchange, tag, look_ahead };
  const values = Object.entries(params ?? {}).map(([name, value]) => [`params.${name}`, String(value)]);
  return Object.fromEntries(
    [...Object.entries(given), ...values].filter((each): each is [string, string] => each[1] !== undefined),
  );
}

/** Values of rows themselves. Rows with a look-ahead bias come last in the order of any other value, a metric. */
const OWN_VALUES = ['created_at', 'strategy', 'owner', 'exchange', 'session', 'look_ahead'] as const;
const PARAMETER_PREFIX = 'params.';

function isOwnValue(sort: string): boolean {
  // The progress of a search is not a result.
  return sort === 'progress' || sort.startsWith(PARAMETER_PREFIX) || OWN_VALUES.some((own) => own === sort);
}

function sortValueOf<R extends Row>(
  row: R,
  sort: string,
  metricOf: Searchable<R>['metricOf'],
): number | string | boolean | null {
  if (sort.startsWith(PARAMETER_PREFIX)) return parameterOf(row.params, sort.slice(PARAMETER_PREFIX.length));
  const own = OWN_VALUES.find((each) => each === sort);
  return own ? row[own] : metricOf(row, sort);
}

/** Characters of a text by which rows are sorted: a part of a cursor is bounded, in which one may need six. */
const COMPARED_CHARACTERS = 40;

function comparable(value: number | string | boolean | null): Place['value'] {
  return value === null || typeof value === 'number' ? value : String(value).slice(0, COMPARED_CHARACTERS);
}

/**
 * One page of a search through the newest rows of a list. Every page reads them again: a stored order would need an index for
 * each value.
 *
 * @param rows newest first
 * @param sortValues absent: the rows have what they are sorted by
 * @throws CodedError VAL006 for a cursor that is invalid or was made with another filter, VAL005 for words that compare too much
 *   text
 */
export async function searchPage<R extends Row>(
  rows: AsyncIterable<R>,
  { textsOf, isPinned, metricOf }: Searchable<R>,
  search: JobSearch,
  page: SearchedPage<R>,
): Promise<JobPage<R>> {
  const { limit, cursor, scope, sortValues } = page;
  const { q, pinned, sort = 'created_at', sort_order } = search;
  const after = cursor === null ? undefined : decodePlace(cursor, scope);
  const words = [...new Set((q ?? '').toLowerCase().split(/\s+/))];
  const { newest, complete } = await readNewest(rows);
  const matching: R[] = [];
  const work = new SearchWork('q');
  for (const row of newest) {
    const isWanted = pinned === undefined || isPinned?.(row) === pinned;
    if (isWanted && matchesFacts(row, search) && hasWords(textsOf(row), words, work)) matching.push(row);
    await work.turn();
  }
  const comparison = comparisonOf(sort_order);
  const read = await sortValues?.(matching);
  const sortedBy = (row: R) => (read ? (read.get(row.job_id) ?? null) : sortValueOf(row, sort, metricOf));
  const places = matching
    .map((row) => ({
      row,
      last: !isOwnValue(sort) && row.look_ahead === 'found',
      value: comparable(sortedBy(row)),
      position: listPosition(row),
    }))
    .sort(comparison);
  const first = after ? places.findIndex((place) => comparison(place, after) > 0) : 0;
  const rest = first < 0 ? [] : places.slice(first);
  const items = rest.slice(0, limit);
  return {
    items: items.map(({ row }) => row),
    next: rest.length > limit ? encodePlace(items.at(-1)!, scope) : null,
    searched: { jobs: newest.length, complete },
    count: countOf(matching.length, complete),
  };
}

/** Number of rows, up to the limit. */
export function countOf(counted: number, complete: boolean): JobCount {
  const value = Math.min(counted, JOB_LIST_LIMITS.counted);
  return { value, relation: complete && value === counted ? 'exact' : 'at_least' };
}

async function readNewest<R>(rows: AsyncIterable<R>): Promise<{ newest: R[]; complete: boolean }> {
  const newest: R[] = [];
  for await (const row of rows) {
    if (newest.length === JOB_LIST_LIMITS.searched) return { newest, complete: false };
    newest.push(row);
  }
  return { newest, complete: true };
}

function hasWords(texts: readonly (string | null)[], words: readonly string[], work: SearchWork): boolean {
  const text = texts.join('\n').toLowerCase();
  return words.every((word) => {
    work.add(text.length);
    return text.includes(word);
  });
}

/**
 * Rows without a value come after those with one in both orders; among equal values the newest comes first. Numbers come before texts:
 * a parameter may be either, by the strategy.
 */
function comparisonOf(order: JobSearch['sort_order']) {
  const sign = order === 'asc' ? 1 : -1;
  return (a: Place, b: Place): number => {
    if (a.last !== b.last) return a.last ? 1 : -1;
    if (a.value === b.value) return a.position > b.position ? -1 : Number(a.position < b.position);
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    return isBelow(a.value, b.value) ? -sign : sign;
  };
}

function isBelow(a: number | string, b: number | string): boolean {
  return typeof a === typeof b ? a < b : typeof a === 'number';
}

function encodePlace({ last, value, position }: Place, scope: CursorScope): string {
  return encodeCursor([JSON.stringify(value), position, String(last)], scope);
}

function decodePlace(cursor: string, scope: CursorScope): Place {
  const [value, position, last] = decodeCursor(cursor, scope, 3);
  return { last: last === 'true', value: parseValue(value!), position: position! };
}

/** Value of a cursor. One that no list has made sorts like a job without a value. */
function parseValue(json: string): Place['value'] {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'number' || typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
