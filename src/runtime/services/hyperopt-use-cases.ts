import { setTimeout as sleep } from 'node:timers/promises';
import { type CancelHyperoptDeps, cancelHyperopt } from '#domain/hyperopt/cancel-hyperopt.ts';
import { getHyperopt, getHyperoptResult } from '#domain/hyperopt/get-hyperopt.ts';
import { listHyperopts, listHyperoptTrials } from '#domain/hyperopt/list-hyperopts.ts';
import { resumeHyperopt } from '#domain/hyperopt/resume-hyperopt.ts';
import { type StartHyperoptDeps, startHyperopt } from '#domain/hyperopt/start-hyperopt.ts';
import type { TrialLedger } from '#domain/hyperopt/study-ports.ts';
import { type WatchHyperoptDeps, watchHyperopt } from '#domain/hyperopt/watch-hyperopt.ts';
import type { Log } from '../log.ts';
import type { HyperoptUseCases } from './hyperopt.ts';

export interface HyperoptDeps
  extends Omit<StartHyperoptDeps, 'onStartFailure'>,
    Omit<CancelHyperoptDeps, 'onStopFailure'> {
  readonly ledger: TrialLedger;
}

const warn = (log: Log, message: string) => (jobId: string, error: unknown) =>
  log.error(message, { job_id: jobId, error: error as Error });

/** The use cases of hyperopt with their dependencies filled in, for any host. */
export function hyperoptUseCases(deps: HyperoptDeps, log: Log): Omit<HyperoptUseCases, 'ownership'> {
  const onStartFailure = warn(log, 'execution not started');
  const onStopFailure = warn(log, 'hyperopt job not stopped');
  return {
    startHyperopt: (input) => startHyperopt({ ...deps, onStartFailure }, input),
    resumeHyperopt: (input) => resumeHyperopt({ ...deps, onStartFailure }, input),
    listHyperopts: (input) => listHyperopts(deps, input),
    getHyperopt: (jobId) => getHyperopt(deps, jobId),
    getHyperoptResult: (jobId) => getHyperoptResult(deps, jobId),
    listHyperoptTrials: (input) => listHyperoptTrials(deps, input),
    watchHyperopt: watching(deps, log),
    cancelHyperopt: (jobId) => cancelHyperopt({ ...deps, onStopFailure }, jobId),
  };
}

/** Following a hyperopt job in real time. */
export function watching(
  deps: Pick<WatchHyperoptDeps, 'studies' | 'ledger' | 'clock'>,
  log: Log,
): HyperoptUseCases['watchHyperopt'] {
  const inRealTime: WatchHyperoptDeps['pause'] = (ms, signal) =>
    sleep(ms, undefined, { signal }).catch(() => undefined);
  const watched = { ...deps, pause: inRealTime, onFault: warn(log, 'hyperopt job not followed') };
  return (each, signal) => watchHyperopt(watched, each, signal);
}
