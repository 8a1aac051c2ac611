import { isTerminal } from '#contract/backtest.ts';
import type { StoredStudy } from '#contract/hyperopt.ts';
import type { TaskControl } from '../execution-ports.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { executionName, studyOfExecution } from './execution-name.ts';
import { STUDY_PRIORITY, type StudyExecutions, type StudyStore } from './study-ports.ts';

export interface ReconcileHyperoptDeps {
  readonly studies: StudyStore;
  readonly studyExecutions: StudyExecutions;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  /** How long a study may wait without an execution before it is started again, ms. */
  readonly graceMs: number;
}

/**
 * Executions in a row in which no trial of a study ended. Each goes on where the ledger says, so a study that gets on may lose
 * any number of them.
 */
const MAX_IDLE_RUNS = 5;

export type StudyRepair = 'none' | 'started' | 'failed';

/**
 * Brings a study on its way again, or to an end: without an execution it is started with its stored input, after one that
 * ended before it another takes over. What has ended in the ledger stays. Tasks of a study that has ended are stopped.
 */
export async function repairHyperopt(deps: ReconcileHyperoptDeps, study: StoredStudy): Promise<StudyRepair> {
  if (isTerminal(study.status)) {
    await stopStrayTasks(deps, study);
    return 'none';
  }
  const state = await deps.studyExecutions.state(executionName(study));
  if (state?.status === 'running') return 'none';
  if (state) return goOnOrFail(deps, study);
  if (deps.clock.now() - Date.parse(study.updated_at) < deps.graceMs) return 'none';
  await start(deps, study);
  return 'started';
}

/** {@link repairHyperopt} of the study of an execution that has ended. */
export async function repairHyperoptOf(deps: ReconcileHyperoptDeps, execution: string): Promise<StudyRepair> {
  const study = await deps.studies.get(studyOfExecution(execution));
  return study ? repairHyperopt(deps, study) : 'none';
}

async function goOnOrFail(deps: ReconcileHyperoptDeps, study: StoredStudy): Promise<StudyRepair> {
  const { job_id, runs, progress_run = 0, given_up } = study;
  const now = isoTime(deps.clock.now());
  if (runs - progress_run < MAX_IDLE_RUNS) {
    const again = await deps.studies.startAgain(job_id, runs, now);
    if (!again) return 'none';
    await start(deps, again);
    return 'started';
  }
  const error = {
    code: 'SVC001',
    message:
      given_up ??
      `The workflow of the hyperopt job ended ${MAX_IDLE_RUNS} times in a row before a trial had. Resume the job; if that fails too, fewer pairs or a shorter date range may help.`,
  };
  return (await deps.studies.fail(job_id, error, now)) ? 'failed' : 'none';
}

function start({ studyExecutions }: ReconcileHyperoptDeps, study: StoredStudy): Promise<void> {
  return studyExecutions.start(study.execution_input, STUDY_PRIORITY, executionName(study));
}

async function stopStrayTasks({ tasks }: ReconcileHyperoptDeps, study: StoredStudy): Promise<void> {
  // The tasks of a completed study end by themselves.
  if (study.status === 'completed') return;
  const cause = `The hyperopt job is ${study.status}`;
  await Promise.all(Object.values(study.tasks).map((task) => tasks.stop(task, cause)));
}
