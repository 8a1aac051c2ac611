import { CodedError } from '#contract/errors.ts';
import type { StoredStudy } from '#contract/hyperopt.ts';
import type { TaskControl } from '../execution-ports.ts';
import type { Clock, Log } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { executionName } from './execution-name.ts';
import { unknownHyperopt } from './get-hyperopt.ts';
import type { StudyExecutions, StudyStore } from './study-ports.ts';

export interface CancelHyperoptDeps {
  readonly studies: StudyStore;
  readonly studyExecutions: StudyExecutions;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Cancels a pending or running hyperopt job; the trials that have ended stay. The conditional write comes first: no worker
 * can record anything after it.
 * Throws OPT001, or RES005 when the job is already terminal.
 */
export async function cancelHyperopt(deps: CancelHyperoptDeps, jobId: string): Promise<StoredStudy> {
  const { cancelled, study } = await deps.studies.cancel(jobId, isoTime(deps.clock.now()));
  if (!study) throw unknownHyperopt(jobId);
  if (!cancelled) {
    throw new CodedError('RES005', {
      message: `The hyperopt job is already ${study.status}`,
      field: 'job_id',
      context: { job_id: jobId, status: study.status },
    });
  }
  await stopStudy(deps, study, 'Cancelled by the user');
  return study;
}

/** Stops the execution of a study and every task that it names. */
async function stopStudy(
  deps: Pick<CancelHyperoptDeps, 'studyExecutions' | 'tasks' | 'log'>,
  study: StoredStudy,
  cause: string,
): Promise<void> {
  const stops = [
    deps.studyExecutions.stop(executionName(study), cause),
    ...Object.values(study.tasks).map((task) => deps.tasks.stop(task, cause)),
  ];
  for (const stopped of await Promise.allSettled(stops)) {
    // The job is cancelled: its workers see that within seconds.
    if (stopped.status === 'rejected') {
      deps.log.error('failed to stop hyperopt job', { job_id: study.job_id, error: stopped.reason });
    }
  }
}
