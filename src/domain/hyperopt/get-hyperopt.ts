import { CodedError } from '#contract/errors.ts';
import type { StoredStudy, StudyIn } from '#contract/hyperopt.ts';
import type { StudyStore } from './study-ports.ts';

interface Deps {
  readonly studies: Pick<StudyStore, 'get'>;
}

/** The hyperopt job; throws OPT001 when there is none of that id. */
export async function getHyperopt({ studies }: Deps, jobId: string): Promise<StoredStudy> {
  const study = await studies.get(jobId);
  if (!study) throw unknownHyperopt(jobId);
  return study;
}

/** The job if it is completed; throws OPT001, or RES005 with the status. */
export async function getHyperoptResult(deps: Deps, jobId: string): Promise<StudyIn<'completed'>> {
  const study = await getHyperopt(deps, jobId);
  if (study.status === 'completed') return study;
  throw new CodedError('RES005', {
    message:
      study.status === 'failed'
        ? `The hyperopt job failed: ${study.error}`
        : `The hyperopt job is ${study.status}, not completed`,
    field: 'job_id',
    context: { job_id: jobId, status: study.status },
  });
}

/** There is no hyperopt job of that id. */
export function unknownHyperopt(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('OPT001', { field, context: { [field]: jobId } });
}
