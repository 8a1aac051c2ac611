import type { SeriesUse } from '#contract/market-data/series.ts';
import type { ActiveJobs, ListedJobRow } from '../jobs/job-list-ports.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import type { CollectionStore } from './collection-queue.ts';
import type { SymbolKey } from './series-ports.ts';

/** Jobs of one kind, with the series that each reads beside those of its pairs. */
interface ReadingJobs extends ActiveJobs<ListedJobRow> {
  get(jobId: string): Promise<
    | {
        readonly execution_input: {
          readonly informative?: readonly { readonly symbol: string }[] | undefined;
        };
      }
    | undefined
  >;
}

export interface SeriesUseDeps {
  readonly jobs: ReadingJobs;
  readonly hyperoptJobs: ReadingJobs;
  readonly collections: CollectionStore;
  readonly registry: Pick<RegistryStore, 'catalog'>;
}

/** Whose jobs and versions are named: others are counted without their ID. */
export interface UseReader {
  readonly id: string;
  readonly isAdmin: boolean;
}

/** Jobs read of each kind: more than the queues of all users hold. */
const MAX_JOBS = 1_000;
const MAX_COLLECTIONS = 100;

/**
 * Unfinished jobs and collections, and versions in Staging and Production, of a symbol on an exchange. Timeframes do not matter: a run
 * also reads informative and detail candles. A version uses what the job read from which it is registered. Throws DATA005, SVC005.
 */
export async function usesOf(
  deps: SeriesUseDeps,
  { exchange, symbol }: SymbolKey,
  reader: UseReader,
): Promise<SeriesUse[]> {
  const idFor = (owner: string, id: string) => (reader.isAdmin || owner === reader.id ? id : null);
  /** True if the run of a job trades the symbol, or reads it for a strategy that trades others. */
  const reads = async (
    row: { readonly exchange: string; readonly pairs: readonly string[] },
    jobs: ReadingJobs,
    jobId: string,
  ) => {
    if (row.exchange !== exchange) return false;
    if (row.pairs.includes(symbol)) return true;
    const job = await jobs.get(jobId);
    return job?.execution_input.informative?.some((each) => each.symbol === symbol) ?? false;
  };
  const ofJobs = async (kind: 'backtest' | 'hyperopt', jobs: ReadingJobs) => {
    const { rows } = await jobs.activity.unfinished(undefined, MAX_JOBS);
    const uses: SeriesUse[] = [];
    for (const row of rows) {
      const { owner, job_id, status } = row;
      if (await reads(row, jobs, job_id)) uses.push({ kind, id: idFor(owner, job_id), status });
    }
    return uses;
  };
  const [backtests, hyperopts, collections] = await Promise.all([
    ofJobs('backtest', deps.jobs),
    ofJobs('hyperopt', deps.hyperoptJobs),
    collectionsOf(deps.collections, { exchange, symbol }),
  ]);
  const versions: SeriesUse[] = [];
  for await (const { row } of deps.registry.catalog({}, { field: 'name', order: 'asc' }, null)) {
    if (!(await reads(row, deps.jobs, row.backtest_run_id))) continue;
    const id = idFor(row.owner, `${row.model_name}/${row.version}`);
    versions.push({ kind: 'version', id, status: row.stage });
  }
  return [...backtests, ...hyperopts, ...collections, ...versions];
}

async function collectionsOf(
  collections: CollectionStore,
  { exchange, symbol }: SymbolKey,
): Promise<SeriesUse[]> {
  const pages = await Promise.all(
    (['pending', 'running'] as const).map((status) => collections.list(status, MAX_COLLECTIONS, null)),
  );
  return pages
    .flatMap(({ items }) => items)
    .filter((each) => each.exchange === exchange && each.symbols.includes(symbol))
    .map(({ collection_id, status }): SeriesUse => ({ kind: 'collection', id: collection_id, status }));
}
