import { describe, expect, it } from 'vitest';
import { searchPage } from '#adapters/dynamo/job-search.ts';
import type { CodedError } from '#contract/values/errors.ts';
import type { JobRow } from '#domain/jobs/job-list-ports.ts';
import { select } from '#domain/mlflow/pages.ts';
import { RUN_FIELDS } from '#domain/mlflow/runs.ts';
import { afterOtherSearches } from '#domain/shared/search-work.ts';

/** Runs `search` and returns its result or error, and how often another request had its turn meanwhile. */
async function withTurns(search: () => Promise<unknown>) {
  let turns = 0;
  let searching = true;
  const count = () => {
    turns++;
    if (searching) setImmediate(count);
  };
  setImmediate(count);
  const result = await search().catch((error: CodedError) => error);
  searching = false;
  return { result, turns };
}

const ROWS = 2_000;
const NOTE = 'a'.repeat(2_000);
const runs = Array.from({ length: ROWS }, () => ({ note: NOTE }));

const searchRuns = (filter: string) =>
  select(runs, { filter }, RUN_FIELDS, ({ note }) => ({ attributes: {}, tags: { note } }));

/** Page of a search for these words in the notes of jobs. */
const searchJobs = (q: string, note: string) =>
  searchPage(
    (async function* () {
      for (let row = 0; row < ROWS; row++) yield { job_id: `bt-${row}`, created_at: '2026-01-01' } as JobRow;
    })(),
    { textsOf: () => [note], metricOf: () => null },
    { q, sort_order: 'desc' },
    { limit: 20, cursor: null, scope: {} },
  );

const WORDS = Array.from({ length: 66 }, (_, index) => `a${String.fromCharCode(0x430 + index)}`);

describe('work of a search', () => {
  it.each([
    ['a filter with one long pattern', 'filter', () => searchRuns(`tags.note LIKE '%_${'a'.repeat(999)}b%'`)],
    [
      'a filter of 5,011 characters',
      'filter',
      () => searchRuns(`tags.note LIKE '%${'_'.repeat(300)}b%${'%_a'.repeat(1_500)}x%'`),
    ],
    [
      'a filter with long parts that nearly fit everywhere',
      'filter',
      () =>
        searchRuns(
          Array(2)
            .fill(`tags.note NOT LIKE '%${'a'.repeat(700)}b${'a'.repeat(299)}%'`)
            .join(' AND '),
        ),
    ],
    ['66 words', 'q', () => searchJobs(WORDS.join(' '), `${NOTE}${WORDS.join('')}`)],
  ])('%s ends at its limit, after other requests had many turns', async (_, field, search) => {
    const { result, turns } = await withTurns(search);
    const { code, field: named, message } = result as CodedError;
    expect([code, named]).toEqual(['VAL005', field]);
    expect(message).toContain('compares too much text');
    expect(turns).toBeGreaterThan(40);
  });

  it('ends within a row that compares too much by itself', async () => {
    const long = [{ note: 'a'.repeat(50_000) }];
    const filter = `tags.note LIKE '%${'a'.repeat(2_900)}b${'a'.repeat(2_900)}%'`;
    const start = performance.now();
    const search = select(long, { filter }, RUN_FIELDS, ({ note }) => ({ attributes: {}, tags: { note } }));
    await expect(search).rejects.toMatchObject({ code: 'VAL005' });
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('a search of every text for a word is within the limit', async () => {
    expect(await searchRuns("tags.note LIKE '%b%'")).toEqual([]);
    expect(await searchRuns(`tags.note LIKE '${'%a'.repeat(2_000)}b'`)).toEqual([]);
    expect(await searchRuns("tags.note LIKE '%aaa%'")).toHaveLength(ROWS);
    expect((await searchJobs('one two three', `${NOTE} three two one`)).count?.value).toBe(1_000);
  });

  it('one search runs at a time, and the 17th is refused', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    const most: number[] = [];
    const search = async () => {
      most.push(++running);
      await gate.promise;
      running--;
      return 'found';
    };
    const searches = Array.from({ length: 16 }, () => afterOtherSearches(search));
    await expect(afterOtherSearches(search)).rejects.toMatchObject({ code: 'DATA005' });
    gate.resolve();
    expect(new Set(await Promise.all(searches))).toEqual(new Set(['found']));
    expect(new Set(most)).toEqual(new Set([1]));
    await expect(afterOtherSearches(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await afterOtherSearches(async () => 'after a failure')).toBe('after a failure');
  });
});
