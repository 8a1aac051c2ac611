import type { SeriesUse } from '#contract/market-data/series.ts';
import type { ActiveJobs, ListedJobRow } from '../jobs/job-list-ports.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import type { CollectionStore } from './collection-queue.ts';
import type { SymbolKey } from './series-ports.ts';

export interface SeriesUseDeps {
  readonly jobs: ActiveJobs<ListedJobRow>;
  readonly hyperoptJobs: ActiveJobs<ListedJobRow>;
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
 * also reads informative and detail candles. Throws DATA005, SVC005.
 */
export async function usesOf(
  deps: SeriesUseDeps,
  { exchange, symbol }: SymbolKey,
  reader: UseReader,
): Promise<SeriesUse[]> {
  const idFor = (owner: string, id: string) => (reader.isAdmin || owner === reader.id ? id : null);
  const isOn = (row: { readonly exchange: string; readonly pairs: readonly string[] }) =>
    row.exchange === exchange && row.pairs.includes(symbol);
  const ofJobs = async (kind: 'backtest' | 'hyperopt', { activity }: ActiveJobs<ListedJobRow>) => {
    const { rows } = await activity.unfinished(undefined, MAX_JOBS);
    return rows
      .filter(isOn)
      .map(({ owner, job_id, status }): SeriesUse => ({ kind, id: idFor(owner, job_id), status }));
  };
  const [backtests, hyperopts, collections] = await Promise.all([
    ofJobs('backtest', deps.jobs),
    ofJobs('hyperopt', deps.hyperoptJobs),
    collectionsOf(deps.collections, { exchange, symbol }),
  ]);
  const versions: SeriesUse[] = [];
  for await (const { row } of deps.registry.catalog({}, { field: 'name', order: 'asc' }, null)) {
    if (!isOn(row)) continue;
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
