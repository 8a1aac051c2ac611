/** Name of the execution of a job's run. Step Functions keeps names taken for 90 days, so each run has its own. */
export function executionName({ job_id, run }: { readonly job_id: string; readonly run: number }): string {
  return `${job_id}-${run}`;
}

/** Job and run of an execution. */
export function runOfExecution(name: string): { readonly job_id: string; readonly run: number } {
  const end = name.lastIndexOf('-');
  return { job_id: name.slice(0, end), run: Number(name.slice(end + 1)) };
}
