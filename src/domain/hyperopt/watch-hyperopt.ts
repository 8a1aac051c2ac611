import { isTerminal } from '#contract/backtest.ts';
import type { StoredStudy } from '#contract/hyperopt.ts';
import { type Caller, mayAccess } from '../access.ts';
import type { Clock, Log } from '../ports.ts';
import { EndedInOrder, endedOf, type TrialEnd } from './ended-in-order.ts';
import { getHyperopt } from './get-hyperopt.ts';
import type { StudyStore, TrialLedger } from './study-ports.ts';

/** What whoever follows a study is told. The ids only grow: the last one says what is known. */
export type StudyEvent =
  | { readonly kind: 'snapshot' | 'status'; readonly id: number; readonly study: StoredStudy }
  | { readonly kind: 'trial'; readonly id: number; readonly trial: TrialEnd; readonly total: number }
  | { readonly kind: 'reconnect' | 'heartbeat' };

export interface WatchHyperoptDeps {
  readonly studies: Pick<StudyStore, 'get'>;
  readonly ledger: Pick<TrialLedger, 'read'>;
  readonly clock: Clock;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** Who follows which study, from the event `after` on. */
export interface Watched {
  readonly study: StoredStudy;
  readonly after: number;
  readonly caller: Caller;
}

/** The study is looked at this often while trials end, less often while none do. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_000;
const SLOWER = 1.5;
/** API Gateway ends a stream on which nothing comes for five minutes, proxies on the way much earlier. */
const HEARTBEAT_MS = 15_000;
/** A function ends after 15 minutes. */
const LIFETIME_MS = 14 * 60_000;

/** Whether nothing comes after the event of that id any more. */
export function isOver(study: StoredStudy, after: number): boolean {
  return isTerminal(study.status) && after > endedOf(study.trials);
}

/**
 * Follows a study from the event `after` on: the study as it is, each trial as it ends, and the study when it is
 * terminal. The same events come with the same ids whenever one begins, and none is left out or repeated. `reconnect`
 * ends it before that: its time is over, it is no longer shared with the caller, storage cannot be read, or the signal was
 * aborted.
 */
export async function* watchHyperopt(
  deps: WatchHyperoptDeps,
  watched: Watched,
  signal: AbortSignal,
): AsyncGenerator<StudyEvent> {
  try {
    yield* follow(deps, watched, signal);
  } catch (error) {
    deps.log.error('failed to stream hyperopt job', { job_id: watched.study.job_id, error });
    yield { kind: 'reconnect' };
  }
}

async function* follow(
  deps: WatchHyperoptDeps,
  { study: begun, after, caller }: Watched,
  signal: AbortSignal,
): AsyncGenerator<StudyEvent> {
  const { clock } = deps;
  const times = { end: clock.now() + LIFETIME_MS, heartbeat: clock.now() + HEARTBEAT_MS };
  const ended = new EndedInOrder(deps.ledger, begun, after);
  let study = begun;
  let pause = 0;
  yield { kind: 'snapshot', id: after, study };
  for (;;) {
    pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pause * SLOWER));
    for await (const trial of ended.upTo(endedOf(study.trials))) {
      pause = SHORTEST_PAUSE_MS;
      yield { kind: 'trial', id: trial.sequence, trial, total: study.trials.total };
    }
    if (isTerminal(study.status)) {
      yield { kind: 'status', id: endedOf(study.trials) + 1, study };
      return;
    }
    yield* wait(deps, pause, times, signal);
    const ends = signal.aborted || clock.now() >= times.end;
    if (!ends) study = await getHyperopt(deps, study.job_id);
    if (ends || !mayAccess(caller, study, 'read')) {
      yield { kind: 'reconnect' };
      return;
    }
  }
}

async function* wait(
  { clock, pause }: WatchHyperoptDeps,
  ms: number,
  times: { heartbeat: number },
  signal: AbortSignal,
): AsyncGenerator<StudyEvent> {
  const until = clock.now() + ms;
  for (;;) {
    const now = clock.now();
    if (now >= times.heartbeat) {
      yield { kind: 'heartbeat' };
      times.heartbeat = clock.now() + HEARTBEAT_MS;
    }
    if (signal.aborted || now >= until) return;
    await pause(Math.min(until, times.heartbeat) - now, signal);
  }
}
