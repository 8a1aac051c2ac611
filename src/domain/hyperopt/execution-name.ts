import type { StoredHyperoptJob } from '#contract/hyperopt.ts';

/** Name of a hyperopt job's execution: its id, and from the second on their number. Step Functions takes a name once in 90 days. */
export function executionName({ job_id, runs }: Pick<StoredHyperoptJob, 'job_id' | 'runs'>): string {
  return runs === 1 ? job_id : `${job_id}-${runs}`;
}

/** The job that an execution is of. */
export function jobOfExecution(name: string): string {
  return name.split('-').slice(0, 2).join('-');
}
