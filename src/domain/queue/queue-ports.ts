import type { LaneName, QueueEntry, Shortage } from '#contract/jobs/queue.ts';
import type { Executions } from '../jobs/execution-ports.ts';

/** Ports of the job queue. Every method may throw CodedError DATA005 when storage is down. */

/** Fields of a job that the queue needs, whatever the job's kind. */
export interface QueueJob {
  readonly job_id: string;
  readonly owner: string;
  readonly status: string;
  readonly created_at: string;
  /** 1 to 10; absent: the default priority. */
  readonly priority?: number;
  readonly runs: number;
  readonly slot?: number | undefined;
  readonly queue: QueueEntry;
  readonly shortage?: Shortage | undefined;
  /** The latest run that made progress; absent in jobs that never continue in another run. */
  readonly progress_run?: number | undefined;
  readonly execution_input: { readonly job_id: string };
}

/** True while the job is in the queue. */
export function isWaiting({ status, queue }: Pick<QueueJob, 'status' | 'queue'>): boolean {
  return (status === 'pending' || status === 'running') && queue.left_at === undefined;
}

/** Entry of the index of waiting jobs. It may be seconds old: {@link JobQueue.take} decides. */
export interface WaitingJob {
  readonly job_id: string;
  readonly priority: number;
  readonly created_at: string;
  readonly runs: number;
}

/** An owner who has, or had lately, jobs that wait in a lane. */
export interface WaitingOwner {
  readonly owner: string;
  /** Jobs that wait. A crash may leave it too high until the owner's last job has left the queue. */
  readonly waiting: number;
  /** Number of announcements; the owner is removed only while it and `announced_at` are unchanged. */
  readonly announced: number;
  /** Latest announcement, Unix ms. */
  readonly announced_at: number;
  /** Latest time at which a job of the owner was given a slot, Unix ms; 0 before the first. */
  readonly last_turn: number;
}

/** A slot of a lane that is taken: the right to one execution. */
export interface Slot {
  readonly lane: LaneName;
  /** From 0. */
  readonly number: number;
  readonly job_id: string;
  /** The job's `runs` when it took the slot. */
  readonly run: number;
  readonly owner: string;
  /** Unix ms. */
  readonly since: number;
}

/** Waiting jobs and slots. */
export interface JobQueue {
  /** Records that a job of the owner is about to wait. Comes before the job is stored, so that no waiting job is overlooked. */
  announce(lane: LaneName, owner: string, at: number): Promise<void>;
  /** Records that a job of the owner waits no longer; `turn`: since it was given a slot then. */
  leave(lane: LaneName, owner: string, turn?: number): Promise<void>;
  owners(lane: LaneName): Promise<readonly WaitingOwner[]>;
  /** Removes an owner unless a job was announced since it was read. */
  removeOwner(lane: LaneName, owner: WaitingOwner): Promise<void>;
  /** Jobs of an owner that may start at `now`, the first first; at most `limit`. */
  next(lane: LaneName, owner: string, now: number, limit: number): Promise<readonly WaitingJob[]>;
  /** True when the index has no job of the owner, deferred ones included. */
  isEmpty(lane: LaneName, owner: string): Promise<boolean>;
  /** Ids of the first `limit` waiting jobs of an owner, in order. */
  order(lane: LaneName, owner: string, limit: number): Promise<readonly string[]>;
  slots(lane: LaneName): Promise<readonly Slot[]>;
  /**
   * Gives a slot to a waiting job in one transaction, which counts another run of the job and takes it out of the queue.
   * `slot_taken`: by another job. `not_waiting`: the job has left the queue since it was read.
   */
  take(slot: Slot): Promise<'taken' | 'slot_taken' | 'not_waiting'>;
  /** Frees a slot that still belongs to that job and run; returns whether it did. */
  free(slot: Slot): Promise<boolean>;
  /**
   * Puts a job whose run has ended back into the queue, with further attributes in `set`. False: the job has ended, waits already or
   * has another run.
   */
  requeue(
    lane: LaneName,
    job: QueueJob,
    entry: QueueEntry,
    set?: Readonly<Record<string, unknown>>,
  ): Promise<boolean>;
}

/** A lane with the jobs and executions that use it. */
export interface Lane {
  readonly name: LaneName;
  /** Maximum number of concurrent executions. */
  readonly maxRunning: number;
  readonly jobs: { get(jobId: string): Promise<QueueJob | undefined> };
  readonly executions: Pick<Executions<never>, 'start' | 'state' | 'running'>;
}
