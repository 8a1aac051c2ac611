import type { ResponseOf } from '../../api/client.ts';
import type { Tokens } from '../../ui/tokens.ts';

export type Job = ResponseOf<'getBacktest'>;

/** A compared run. */
export interface Run {
  readonly id: string;
  /** Short name on this page: `A` is the first run. */
  readonly letter: string;
  readonly color: keyof Tokens;
  /** Runs from the seventh on share a colour with another one. */
  readonly isDashed: boolean;
  readonly job: Job;
}

const COLORS = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;

export function runOf(job: Job, index: number): Run {
  return {
    id: job.job_id,
    letter: String.fromCharCode('A'.charCodeAt(0) + index),
    color: COLORS[index % COLORS.length]!,
    isDashed: index >= COLORS.length,
    job,
  };
}

/** True if the run has a report. */
export function hasReport({ job }: Run): boolean {
  return job.status === 'completed' && !job.results_deleted;
}
