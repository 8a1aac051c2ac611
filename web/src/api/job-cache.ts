import type { QueryClient } from '@tanstack/react-query';
import type { EventsOf, OperationId } from './client.ts';

/** State of a job, as the stream has it. */
export type JobState = EventsOf<'watchJobs'>['job'];

/** Milliseconds. Events come in bursts: what they change loads again once. */
const BURST = 250;
/** Milliseconds between two loads of a list while only progress changes: values such as the best so far come with them. */
const REFRESH = 15_000;

type Item = Readonly<Record<string, unknown>>;
type Kind = JobState['kind'];

/** Permuted searches follow the trials, and each has as many. */
function hyperoptProgress(share: number | null, item: Item): Item {
  const total = Number(item.total_trials);
  const permutations = item.permutations as { readonly ended: number; readonly total: number } | null;
  const ended = Math.round((share ?? 0) * total * (1 + (permutations?.total ?? 0)));
  return {
    progress: Math.round((share ?? 0) * 100),
    current_trial: Math.min(ended, total),
    ...(permutations && {
      permutations: { ...permutations, ended: Math.max(0, Math.floor(ended / total) - 1) },
    }),
  };
}

/** Queries that show jobs of a kind. */
const KINDS: Readonly<
  Record<
    Kind,
    {
      readonly one: OperationId;
      readonly list: OperationId;
      readonly idField: string;
      /** Progress in the units of the list. */
      readonly progress: (share: number | null, item: Item) => Item;
      /** Queries that change when a job ends. */
      readonly atEnd: readonly OperationId[];
    }
  >
> = {
  backtest: {
    one: 'getBacktest',
    list: 'listBacktests',
    idField: 'job_id',
    progress: (progress) => ({ progress }),
    atEnd: ['listExperiments'],
  },
  hyperopt: {
    one: 'getHyperopt',
    list: 'listHyperopts',
    idField: 'job_id',
    progress: hyperoptProgress,
    atEnd: ['listExperiments'],
  },
  collection: {
    one: 'getCollection',
    list: 'listCollections',
    idField: 'collection_id',
    progress: (progress) => ({ progress }),
    atEnd: ['getCoverage', 'getDataStatus'],
  },
};

/** Operations whose data the stream keeps up to date. */
export const FOLLOWED: ReadonlySet<OperationId> = new Set<OperationId>([
  'getOverview',
  ...Object.values(KINDS).flatMap(({ one, list }) => [one, list]),
]);

/**
 * Key of the number of jobs in a list, or of all of them. It does not begin with the operation: events load a list again, while a count
 * reads all matching jobs and is loaded at fixed times.
 */
export const countKey = (list: OperationId, ...filters: readonly object[]): readonly unknown[] => [
  'count',
  list,
  ...filters,
];

/** Brings the states of jobs into the cache: progress at once; a changed status makes what shows the job load again. */
export class JobCache {
  readonly #client: QueryClient;
  readonly #isHidden: () => boolean;
  /** Last status by id. */
  readonly #known = new Map<string, string>();
  /** Keys of queries to load again, by their JSON. */
  readonly #stale = new Map<string, readonly unknown[]>();
  /** Times of the last loads of lists, in milliseconds. */
  readonly #loadedAt = new Map<OperationId, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param isHidden true while nobody sees the tab: what changed loads again when it is shown */
  constructor(client: QueryClient, isHidden: () => boolean) {
    this.#client = client;
    this.#isHidden = isHidden;
  }

  apply(job: JobState): void {
    const { one, list, idField, atEnd } = KINDS[job.kind];
    const hasNewStatus = this.#known.get(job.id) !== job.status;
    const isOver = job.status !== 'pending' && job.status !== 'running';
    if (isOver) this.#known.delete(job.id);
    else this.#known.set(job.id, job.status);
    this.#load([one, { params: { [idField]: job.id } }]);
    for (const shown of [list, 'getOverview'] as const) {
      const isDue = Date.now() - (this.#loadedAt.get(shown) ?? 0) >= REFRESH;
      if (hasNewStatus || isDue) {
        this.#loadedAt.set(shown, Date.now());
        this.#load([shown]);
      }
    }
    if (hasNewStatus && isOver) for (const id of atEnd) this.#load([id]);
    if (!hasNewStatus) this.#patch(job);
  }

  /** Loads queries again, after the burst of events. */
  #load(key: readonly unknown[]): void {
    this.#stale.set(JSON.stringify(key), key);
    this.#timer ??= setTimeout(() => {
      const keys = [...this.#stale.values()];
      this.#stale.clear();
      this.#timer = undefined;
      const refetchType = this.#isHidden() ? 'none' : 'active';
      for (const queryKey of keys) void this.#client.invalidateQueries({ queryKey, refetchType });
    }, BURST);
  }

  /** Sets the progress in the lists and in the overview. */
  #patch({ kind, id, progress }: JobState): void {
    const { list, idField, progress: inUnits } = KINDS[kind];
    this.#patchItems(list, 'items', idField, id, (item) => inUnits(progress, item));
    this.#patchItems('getOverview', 'moving', 'id', id, () => ({ progress }));
  }

  #patchItems(
    operation: OperationId,
    field: string,
    idField: string,
    id: string,
    patchOf: (item: Item) => Item,
  ): void {
    for (const { queryKey, state } of this.#client.getQueryCache().findAll({ queryKey: [operation] })) {
      const data = state.data as Readonly<Record<string, readonly Item[]>> | undefined;
      const items = data?.[field];
      if (!items?.some((item) => item[idField] === id)) continue;
      const patched = items.map((item) => (item[idField] === id ? { ...item, ...patchOf(item) } : item));
      // The age of the data remains that of their last load.
      this.#client.setQueryData(queryKey, { ...data, [field]: patched }, { updatedAt: state.dataUpdatedAt });
    }
  }
}
