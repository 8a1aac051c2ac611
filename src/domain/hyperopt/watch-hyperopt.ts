import { isTerminal } from '#contract/backtests/backtest.ts';
import type { EndedTrial, StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import { samplerLag } from '#engine/search/trials.ts';
import { type Caller, mayAccess } from '../access/access.ts';
import type { Log } from '../ports.ts';
import { type StreamTime, streamTimes, waitWithHeartbeats } from '../shared/stream-heartbeats.ts';
import { getHyperopt } from './get-hyperopt.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import { endedTrials } from './trial-counts.ts';

/** Events of a hyperopt job's stream. The ids only grow: the last one identifies the events that a client has. */
export type HyperoptEvent =
  | { readonly kind: 'snapshot' | 'status'; readonly id: number; readonly job: StoredHyperoptJob }
  | { readonly kind: 'trial'; readonly id: number; readonly trial: TrialEnd; readonly job: StoredHyperoptJob }
  /** `ended` permuted searches have ended. */
  | {
      readonly kind: 'permuted_search';
      readonly id: number;
      readonly ended: number;
      readonly job: StoredHyperoptJob;
    }
  | { readonly kind: 'reconnect' | 'heartbeat' };

export interface WatchHyperoptDeps extends StreamTime {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly ledger: Pick<TrialLedger, 'read'>;
  readonly log: Log;
}

/** A job, the caller that follows it, and the last event that the caller has. */
interface Watched {
  readonly job: StoredHyperoptJob;
  readonly after: number;
  readonly caller: Caller;
}

/** Pauses between two reads of the job: the shortest while trials end, longer ones while none end. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_000;
const SLOWER = 1.5;
/** True when the stream has no event after that id. */
export function isOver(job: StoredHyperoptJob, after: number): boolean {
  return isTerminal(job.status) && after > lastEnd(job);
}

/** ID of the latest event before the end of the job. Permuted searches follow the last trial. */
function lastEnd({ trials, permuted_searches = 0 }: StoredHyperoptJob): number {
  return endedTrials(trials) + permuted_searches;
}

/**
 * Follows a hyperopt job from the event `after` on: the job's current state, each trial and each permuted search as it ends,
 * and the job when it is terminal. The same events have the same ids in every stream, without omissions or repetitions. `reconnect` ends
 * the stream earlier: its time limit is reached, the job is no longer shared with the caller, storage cannot be read,
 * or the signal was aborted.
 */
export async function* watchHyperopt(
  deps: WatchHyperoptDeps,
  watched: Watched,
  signal: AbortSignal,
): AsyncGenerator<HyperoptEvent> {
  try {
    yield* follow(deps, watched, signal);
  } catch (error) {
    deps.log.error('failed to stream hyperopt job', { job_id: watched.job.job_id, error });
    yield { kind: 'reconnect' };
  }
}

async function* follow(
  deps: WatchHyperoptDeps,
  { job: begun, after, caller }: Watched,
  signal: AbortSignal,
): AsyncGenerator<HyperoptEvent> {
  const { clock } = deps;
  const times = streamTimes(clock);
  const ended = new FinishedTrialReader(deps.ledger, begun, after);
  let job = begun;
  let pause = 0;
  let last = after;
  yield { kind: 'snapshot', id: after, job };
  for (;;) {
    pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pause * SLOWER));
    for await (const trial of ended.upTo(endedTrials(job.trials))) {
      pause = SHORTEST_PAUSE_MS;
      yield { kind: 'trial', id: trial.sequence, trial, job };
    }
    const trials = endedTrials(job.trials);
    for (let id = Math.max(last, trials) + 1; id <= lastEnd(job); id++) {
      pause = SHORTEST_PAUSE_MS;
      yield { kind: 'permuted_search', id, ended: id - trials, job };
    }
    last = lastEnd(job);
    if (isTerminal(job.status)) {
      yield { kind: 'status', id: last + 1, job };
      return;
    }
    yield* waitWithHeartbeats(deps, pause, times, signal);
    const ends = signal.aborted || clock.now() >= times.end;
    if (!ends) job = await getHyperopt(deps, job.job_id);
    if (ends || !mayAccess(caller, job, 'read')) {
      yield { kind: 'reconnect' };
      return;
    }
  }
}

/** A trial that has ended, without the values of its windows. */
interface TrialEnd extends Pick<EndedTrial, 'number' | 'state' | 'params' | 'sequence' | 'best_value'> {
  /** Null unless complete. */
  readonly value: number | null;
  /** By how much it misses the constraints; null unless complete. */
  readonly violation: number | null;
}

/** Trials per read: a hyperopt job may have 10,000, each with the values of its windows. */
const PAGE = 200;

/**
 * The trials of a hyperopt job in the order in which they ended, each once. The ledger has them by number. At most a
 * lag of them run concurrently, so the next ended trial is at most that far from the first one that has not ended.
 */
export class FinishedTrialReader {
  readonly #ledger: Pick<TrialLedger, 'read'>;
  readonly #jobId: string;
  /** Sequence of the next trial to return. */
  #sequence: number;
  /** Every trial with a lower number was returned or is in `#early`. */
  #from: number;
  /** Trials, by sequence, that were read before one that ended earlier. */
  readonly #early = new Map<number, TrialEnd>();

  /** @param after number of trials that an earlier reader has returned */
  constructor(ledger: Pick<TrialLedger, 'read'>, { job_id, config }: StoredHyperoptJob, after: number) {
    this.#ledger = ledger;
    this.#jobId = job_id;
    this.#sequence = after + 1;
    this.#from = Math.max(0, after + 1 - samplerLag(config.n_trials));
  }

  /** The trials not yet returned among the first `ended` ones; reads nothing when there are none. */
  async *upTo(ended: number): AsyncGenerator<TrialEnd> {
    let from = this.#from;
    let running: number | undefined;
    while (this.#sequence <= ended) {
      const page = await this.#ledger.read(this.#jobId, from, PAGE);
      for (const trial of page) {
        from = trial.number + 1;
        if (trial.state === 'running') running ??= trial.number;
        else if (trial.sequence >= this.#sequence) this.#early.set(trial.sequence, endOf(trial));
      }
      this.#from = running ?? from;
      yield* this.#inOrder();
      if (page.length < PAGE) return;
    }
  }

  *#inOrder(): Generator<TrialEnd> {
    for (;;) {
      const next = this.#early.get(this.#sequence);
      if (!next) return;
      this.#early.delete(this.#sequence++);
      yield next;
    }
  }
}

function endOf(trial: EndedTrial): TrialEnd {
  const { number, state, params, sequence, best_value } = trial;
  return {
    number,
    state,
    params,
    sequence,
    best_value,
    value: trial.state === 'complete' ? trial.value : null,
    violation: trial.state === 'complete' ? (trial.violation ?? 0) : null,
  };
}
