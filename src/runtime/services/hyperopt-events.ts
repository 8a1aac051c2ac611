import type * as z from 'zod';
import type { RetentionDays } from '#contract/env/retention.ts';
import type { StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import {
  HyperoptEventsQuery,
  type HyperoptPermutedSearchEvent,
  type HyperoptTrialEvent,
} from '#contract/hyperopt/hyperopt-api.ts';
import { foundParams } from '#domain/hyperopt/found-params.ts';
import { getHyperopt } from '#domain/hyperopt/get-hyperopt.ts';
import { endedTrials } from '#domain/hyperopt/trial-counts.ts';
import {
  type HyperoptEvent,
  isOver,
  type WatchHyperoptDeps,
  watchHyperopt,
} from '#domain/hyperopt/watch-hyperopt.ts';
import { type QueueStateDeps, queueStates } from '#domain/queue/queue-state.ts';
import { callerOf } from '../authenticate.ts';
import { EventStreams, lastEventId, realTime, type ServerSentEvent } from '../event-streams.ts';
import type { GroupHandlers } from '../handler.ts';
import { jobView, progressOf } from './hyperopt-views.ts';

/** Handler of the event stream of a hyperopt job; `pause` defaults to real time. */
export function watchHandler(
  deps: Omit<WatchHyperoptDeps, 'pause'> & Partial<Pick<WatchHyperoptDeps, 'pause'>> & EventViewDeps,
  streams = new EventStreams(),
): GroupHandlers<'hyperopt'>['watchHyperopt'] {
  return async ({ params, query, headers, principal, signal, closing }) => {
    const after = lastEventId(headers, HyperoptEventsQuery.shape.after) ?? query.after ?? 0;
    const job = await getHyperopt(deps, params.job_id);
    if (isOver(job, after)) return { status: 204, body: '' };
    // A client that received its time-out reads no stream.
    signal.throwIfAborted();
    const watched = { job, after, caller: callerOf(principal) };
    const body = streams.open(
      principal.id,
      (stop) => sent(deps, watchHyperopt({ pause: realTime, ...deps }, watched, stop)),
      closing,
    );
    // Disables response buffering in proxies.
    return { status: 200, body, headers: { 'X-Accel-Buffering': 'no' } };
  };
}

interface EventViewDeps extends QueueStateDeps {
  readonly retention: RetentionDays;
}

async function* sent(
  deps: EventViewDeps,
  events: AsyncGenerator<HyperoptEvent>,
): AsyncGenerator<ServerSentEvent> {
  for await (const each of events) yield await eventView(deps, each);
}

async function eventView(deps: EventViewDeps, event: HyperoptEvent): Promise<ServerSentEvent> {
  switch (event.kind) {
    case 'heartbeat':
      return {};
    case 'reconnect':
      return { event: event.kind };
    case 'trial':
      return { event: event.kind, id: event.id, data: trialEventView(event) };
    case 'permuted_search':
      return { event: event.kind, id: event.id, data: permutedSearchEventView(event) };
    default: {
      const states = await queueStates(deps, 'hyperopt', [event.job]);
      const data = jobView(event.job, states.get(event.job.job_id) ?? null, deps.retention);
      return { event: event.kind, id: event.id, data };
    }
  }
}

function trialEventView({
  trial,
  job,
}: Extract<HyperoptEvent, { kind: 'trial' }>): z.input<typeof HyperoptTrialEvent> {
  const { number, state, value, violation, params, best_value, sequence } = trial;
  return {
    number,
    state,
    value,
    violation,
    params: foundParams(params),
    best_value,
    progress: progressAt(job, sequence, 0),
  };
}

function permutedSearchEventView({
  ended,
  job,
}: Extract<HyperoptEvent, { kind: 'permuted_search' }>): z.input<typeof HyperoptPermutedSearchEvent> {
  const { trials, config } = job;
  const progress = progressAt(job, endedTrials(trials), ended);
  return { ended, total: config.permutations ?? ended, best_value: trials.best_value, progress };
}

function progressAt({ trials, config }: StoredHyperoptJob, ended: number, permuted_searches: number): number {
  const counts = { complete: ended, pruned: 0, failed: 0 };
  return progressOf({ ...config, trials: { ...trials, ...counts }, permuted_searches });
}
