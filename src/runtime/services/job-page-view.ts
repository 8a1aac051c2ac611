import type { JobPage, ListedJobRow } from '#domain/jobs/job-list-ports.ts';

/** Page of a list of jobs as clients see it. */
export function jobPageView<Item>({ next, searched, count }: JobPage<unknown>, items: Item[]) {
  return { items, next_cursor: next, searched, count };
}

/** Fields of a row that all kinds of jobs have. */
export function listedView(row: ListedJobRow) {
  const { owner, session, exchange, pairs, timeframe, date_range, started_at, finished_at } = row;
  return { owner, session, exchange, pairs: [...pairs], timeframe, date_range, started_at, finished_at };
}
