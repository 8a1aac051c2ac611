import { isTerminal } from '#contract/backtests/backtest.ts';
import type { JobEvent } from '#contract/platform/job-events-api.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { WATCH_LIMITS } from '#contract/values/job-limits.ts';
import type { Caller } from '../access/access.ts';
import type { CollectionStore } from '../data/collection-queue.ts';
import type { HyperoptRow } from '../hyperopt/hyperopt-ports.ts';
import type { JobActivity, JobRow, ListedJobRow } from '../jobs/job-list-ports.ts';
import {
  backtestProgress,
  hyperoptProgress,
  type JobOverviewDeps,
  progressOf,
} from '../overview/overview-jobs.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';

export interface JobChangesDeps extends Omit<JobOverviewDeps, 'collections'> {
  readonly collections: Pick<CollectionStore, 'get' | 'list'>;
  readonly clock: Clock;
}

/** Rows of new jobs per read. More are read in the next pass. */
const SUBMITTED_AT_ONCE = 100;
/** An index shows a new job within a second; the clocks of two machines may differ by some seconds. */
const OVERLAP_MS = 10_000;
/** Jobs that became visible without being new, such as shared ones, are looked for at this interval. */
const DISCOVERY_MS = 30_000;
/** Age of the oldest cursor from which new jobs are looked for. */
const MAX_CURSOR_AGE_MS = DAY_MS;
/** Newest collections that each pass reads: they run one after another. */
const NEWEST_COLLECTIONS = 5;

/** Jobs of one kind as of a pass. */
interface Pass {
  readonly jobs: readonly JobEvent[];
  /** Position up to which submissions are known; undefined: up to now. */
  readonly next?: string | undefined;
}

interface PassInput {
  /** Unfinished jobs of the kind that are followed. */
  readonly followed: readonly string[];
  /** New jobs are those submitted after this time or position. */
  readonly since: string;
  /** Also returns unfinished jobs that are not new. */
  readonly discovers: boolean;
}

type Kind = JobEvent['kind'];

const PREFIXES: Readonly<Record<Kind, string>> = { backtest: 'bt-', hyperopt: 'ho-', collection: 'co-' };
const KINDS = Object.keys(PREFIXES) as readonly Kind[];

/**
 * Changes of the jobs that a caller can see, from pass to pass. A pass reads the unfinished jobs that it follows, and those that
 * were submitted since the last one. So each end is seen, also of a job that was submitted and has ended between two passes.
 *
 * DynamoDB read units of a pass: 1 for each principal of the caller (4 for an admin), 6 for collections, and 1 to 2 for each
 * followed job, of which there are 100 at most.
 */
export class JobChanges {
  readonly #clock: Clock;
  readonly #read: Readonly<Record<Kind, (input: PassInput) => Promise<Pass>>>;
  /** Unfinished jobs, by ID. */
  readonly #followed = new Set<string>();
  readonly #since: Record<Kind, string>;
  /** Status and progress that were last returned, by ID: of followed jobs, and of those that have just ended. */
  #known = new Map<string, string>();
  #discoverAt = 0;

  /** @param cursor {@link JobChanges.cursor} of a stream before; undefined: from the unfinished jobs on */
  constructor(deps: JobChangesDeps, caller: Caller, cursor: string | undefined) {
    const now = deps.clock.now();
    const [time, ...ids] = cursor?.split(',') ?? [];
    const known = time === undefined ? now : Math.min(now, Number(time));
    const since = isoTime(Math.max(known, now - MAX_CURSOR_AGE_MS));
    const visibleTo = caller.isAdmin ? undefined : caller;
    this.#clock = deps.clock;
    this.#since = { backtest: since, hyperopt: since, collection: since };
    for (const id of ids) this.#followed.add(id);
    this.#read = {
      backtest: jobReader('backtest', deps.jobs.activity, visibleTo, (row: JobRow) =>
        backtestProgress(deps, row),
      ),
      hyperopt: jobReader('hyperopt', deps.hyperoptJobs.activity, visibleTo, async (row: HyperoptRow) =>
        hyperoptProgress(row),
      ),
      collection: (input) => readCollections(deps, input),
    };
  }

  /** True while no unfinished job is known. */
  get isIdle(): boolean {
    return this.#followed.size === 0;
  }

  /** Position after the last pass, for a stream that continues. */
  get cursor(): string {
    const [since] = Object.values(this.#since).sort();
    // A position is the time of a job, followed by its ID.
    return [Date.parse(since!.split('#')[0]!), ...this.#followed].join(',');
  }

  /** Jobs that are new or have changed since the last pass. Throws DATA005. */
  async next(): Promise<readonly JobEvent[]> {
    const now = this.#clock.now();
    const discovers = now >= this.#discoverAt;
    const passes = await Promise.all(KINDS.map((kind) => this.#read[kind](this.#inputOf(kind, discovers))));
    if (discovers) this.#discoverAt = now + DISCOVERY_MS;
    for (const [index, kind] of KINDS.entries()) {
      this.#since[kind] = passes[index]!.next ?? isoTime(now - OVERLAP_MS);
    }
    return this.#changed(passes.flatMap(({ jobs }) => jobs));
  }

  #inputOf(kind: Kind, discovers: boolean): PassInput {
    const followed = [...this.#followed].filter((id) => id.startsWith(PREFIXES[kind]));
    return { followed, since: this.#since[kind], discovers };
  }

  #changed(jobs: readonly JobEvent[]): JobEvent[] {
    const changed: JobEvent[] = [];
    // Jobs that are not found again are deleted, or no longer visible to the caller.
    const known = new Map<string, string>();
    this.#followed.clear();
    for (const job of jobs) {
      if (known.has(job.id)) continue;
      const state = `${job.status} ${job.progress}`;
      const isFull = this.#followed.size === WATCH_LIMITS.followed;
      if (!isTerminal(job.status) && isFull) continue;
      known.set(job.id, state);
      if (!isTerminal(job.status)) this.#followed.add(job.id);
      if (this.#known.get(job.id) !== state) changed.push(job);
    }
    this.#known = known;
    return changed;
  }
}

/** Reads the jobs of a kind, the followed ones first. */
function jobReader<Row extends ListedJobRow>(
  kind: Kind,
  activity: JobActivity<Row>,
  visibleTo: Caller | undefined,
  progress: (row: Row) => Promise<number | null>,
) {
  return async ({ followed, since, discovers }: PassInput): Promise<Pass> => {
    const [known, submitted, unfinished] = await Promise.all([
      followed.length > 0 ? activity.rowsOf(visibleTo, followed) : [],
      activity.submittedAfter(visibleTo, since, SUBMITTED_AT_ONCE),
      discovers ? activity.unfinished(visibleTo, WATCH_LIMITS.followed) : undefined,
    ]);
    const rows = [...known, ...(unfinished?.rows ?? []), ...submitted.rows];
    const jobs = await Promise.all(
      rows.map(async (row) => ({
        kind,
        id: row.job_id,
        status: row.status,
        progress: await progress(row),
      })),
    );
    return { jobs, next: submitted.next ?? undefined };
  };
}

async function readCollections(
  { collections }: JobChangesDeps,
  { followed, since, discovers }: PassInput,
): Promise<Pass> {
  const limit = discovers ? WATCH_LIMITS.collections : NEWEST_COLLECTIONS;
  const { items } = await collections.list(undefined, limit, null);
  const listed = new Set(items.map(({ collection_id }) => collection_id));
  const others = await Promise.all(followed.filter((id) => !listed.has(id)).map((id) => collections.get(id)));
  const seen = items.filter(
    ({ collection_id, status, created_at }) =>
      !isTerminal(status) || followed.includes(collection_id) || created_at > since,
  );
  const jobs = [...others.filter((each) => each !== undefined), ...seen].map(
    ({ collection_id: id, status, progress }): JobEvent => ({
      kind: 'collection',
      id,
      status,
      progress: progressOf(status, progress),
    }),
  );
  return { jobs };
}
