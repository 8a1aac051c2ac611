import { JOB_LIST_LIMITS } from '#contract/values/job-limits.ts';
import type { JobCount, JobPage, JobSearch } from '#domain/jobs/job-list-ports.ts';
import { SearchWork } from '#domain/shared/search-work.ts';
import { type CursorScope, decodeCursor, encodeCursor } from './cursor.ts';
import { listPosition } from './job-sharing.ts';

type Row = { readonly job_id: string; readonly created_at: string };

/** How the rows of one kind of jobs are searched. */
export interface Searchable<R extends Row> {
  /** Texts that contain the words of a search. */
  readonly textsOf: (row: R) => readonly (string | null)[];
  /** Absent: jobs of this kind cannot be pinned. */
  readonly isPinned?: (row: R) => boolean;
  /** Value of a name that the list can be sorted by; null: the job has none. */
  readonly sortValue: (row: R, sort: string) => number | string | null;
  /** True for a row that comes after all others in the order of this value. */
  readonly sortsLast: (row: R, sort: string) => boolean;
}

/** Place of a row in the order of a search. */
interface Place {
  readonly last: boolean;
  readonly value: number | string | null;
  readonly position: string;
}

/**
 * One page of a search through the newest rows of a list. Every page reads them again: a stored order would need an index for
 * each value.
 *
 * @param rows newest first
 * @throws CodedError VAL006 for a cursor that is invalid or was made with another filter, VAL005 for words that compare too much
 *   text
 */
export async function searchPage<R extends Row>(
  rows: AsyncIterable<R>,
  { textsOf, isPinned, sortValue, sortsLast }: Searchable<R>,
  search: JobSearch,
  page: { readonly limit: number; readonly cursor: string | null; readonly scope: CursorScope },
): Promise<JobPage<R>> {
  const { limit, cursor, scope } = page;
  const { q, pinned, sort = 'created_at', sort_order } = search;
  const after = cursor === null ? undefined : decodePlace(cursor, scope);
  const words = [...new Set((q ?? '').toLowerCase().split(/\s+/))];
  const { newest, complete } = await readNewest(rows);
  const matching: R[] = [];
  const work = new SearchWork('q');
  for (const row of newest) {
    const isWanted = pinned === undefined || isPinned?.(row) === pinned;
    if (isWanted && hasWords(textsOf(row), words, work)) matching.push(row);
    await work.turn();
  }
  const comparison = comparisonOf(sort_order);
  const places = matching
    .map((row) => ({
      row,
      last: sortsLast(row, sort),
      value: sortValue(row, sort),
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

/** Rows without a value come after those with one in both orders; among equal values the newest comes first. */
function comparisonOf(order: JobSearch['sort_order']) {
  const sign = order === 'asc' ? 1 : -1;
  return (a: Place, b: Place): number => {
    if (a.last !== b.last) return a.last ? 1 : -1;
    if (a.value === b.value) return a.position > b.position ? -1 : Number(a.position < b.position);
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    return a.value < b.value ? -sign : sign;
  };
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
