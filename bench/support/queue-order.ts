import type { JobIn } from '#contract/backtests/backtest.ts';

type Job = JobIn<'pending'>;

/**
 * Order in which jobs start, per lane and owner, once all jobs are submitted. A job that was deferred has another order, so it
 * is left out.
 */
export class QueueOrder {
  readonly #jobs = new Map<string, Job>();
  /** Jobs of a lane and owner that wait. */
  readonly #waiting = new Map<string, Map<string, Job>>();
  readonly #starts = new Map<string, number>();
  /** Time at which a less urgent job of the same owner started first, Unix ms. */
  readonly #overtakenAt = new Map<string, number>();
  readonly #total: number;
  #overtaken = 0;
  #spread = 0;

  /** @param total number of jobs that will be submitted */
  constructor(total: number) {
    this.#total = total;
  }

  /** Jobs that started later than a less urgent job of their owner. Starts at the same time have no order. */
  get overtaken(): number {
    return this.#overtaken;
  }

  /** Largest difference between the starts of two owners, while all owners of the lane wait. */
  get spread(): number {
    return this.#spread;
  }

  submitted(job: Job): void {
    this.#jobs.set(job.job_id, job);
    const own = this.#waiting.get(turnOf(job)) ?? new Map();
    this.#waiting.set(turnOf(job), own.set(job.job_id, job));
  }

  /** @param at Unix ms */
  started(jobId: string, at: number): void {
    const job = this.#jobs.get(jobId)!;
    const own = this.#waiting.get(turnOf(job))!;
    if (!own.delete(jobId) || this.#jobs.size < this.#total) return;
    this.#starts.set(turnOf(job), (this.#starts.get(turnOf(job)) ?? 0) + 1);
    if (at > (this.#overtakenAt.get(jobId) ?? at)) this.#overtaken++;
    for (const other of own.values()) {
      if (comesBefore(other, job) && !this.#overtakenAt.has(other.job_id)) {
        this.#overtakenAt.set(other.job_id, at);
      }
    }
    this.#measureSpread(job);
  }

  deferred(jobId: string): void {
    this.#waiting.get(turnOf(this.#jobs.get(jobId)!))!.delete(jobId);
  }

  #measureSpread({ queue }: Job): void {
    const inLane = [...this.#waiting].filter(([turn]) => turn.startsWith(`${queue.lane}#`));
    if (inLane.some(([, { size }]) => size === 0)) return;
    const starts = inLane.map(([turn]) => this.#starts.get(turn) ?? 0);
    this.#spread = Math.max(this.#spread, Math.max(...starts) - Math.min(...starts));
  }
}

/** Owners take turns in each lane. */
const turnOf = ({ queue, owner }: Job) => `${queue.lane}#${owner}`;

function comesBefore(a: Job, b: Job): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.created_at < b.created_at);
}
