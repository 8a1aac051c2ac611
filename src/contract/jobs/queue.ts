import * as z from 'zod';
import { Timestamp } from '../common/time.ts';

/**
 * The queue of jobs. A job waits in a lane until the dispatcher gives it one of the lane's slots; a slot is the right to
 * one execution at a time.
 */

/**
 * Lanes. Backtests run on Fargate (`backtest`, with validations) or, if they are short, in a function (`fast`); hyperopt jobs
 * have a lane of their own. The canary has one too, with one slot: it neither waits for users' jobs nor delays them.
 */
const LANES = ['backtest', 'fast', 'hyperopt', 'canary'] as const;
export type LaneName = (typeof LANES)[number];
/** Lanes whose number of slots is a setting. */
export type SizedLane = Exclude<LaneName, 'canary'>;

/** Bounds of each lane. */
export const QUEUE_LIMITS = {
  /** Jobs that may wait in one lane. */
  max_pending: 50_000,
  /** Jobs of one owner that may wait in one lane. */
  max_pending_per_owner: 20_000,
  /** Pause after which a rejected submission may be repeated, s. */
  retry_after_s: 60,
  /** Highest exact position; beyond it the position is `1,000+`. */
  max_position: 1_000,
  /** A job that lacks capacity is tried again for this long, ms. */
  max_shortage_ms: 24 * 60 * 60_000,
  /** Shortest and longest pause before a job that lacked capacity is tried again, ms. */
  shortage_pause_ms: { min: 15_000, max: 5 * 60_000 },
} as const;

/** Latest wait of a job in its lane. */
export const QueueEntry = z.object({
  lane: z
    .enum(LANES)
    .optional()
    .meta({ description: 'Chosen at the submission; absent: `backtest`, or `hyperopt` for a hyperopt job' }),
  since: Timestamp.meta({ description: 'Start of the wait' }),
  left_at: Timestamp.optional().meta({
    description: 'Time at which the job was given a slot; absent until then',
  }),
  deferrals: z.int().meta({ description: 'Starts in a row that lacked capacity' }),
  shortage_since: Timestamp.optional().meta({ description: 'First of these starts; absent without one' }),
  not_before: Timestamp.optional().meta({ description: 'Next start at the earliest; absent: at any time' }),
  reason: z.string().optional().meta({ description: 'Capacity that was lacking; absent: none was' }),
});
export type QueueEntry = z.infer<typeof QueueEntry>;

/** Capacity that an execution lacked before its task had claimed the job; the state machine writes it. */
export const Shortage = z.object({ execution: z.string(), reason: z.string() });
export type Shortage = z.infer<typeof Shortage>;

/** Fields of every stored job that the queue reads and writes. */
export const queuedJobFields = {
  /** Number of runs, each with a slot: `<job_id>-<runs>` is the execution of the latest. */
  runs: z.int(),
  /** Slot of the latest run; absent before the first. */
  slot: z.int().optional(),
  queue: QueueEntry,
  /** Latest shortage; absent when no execution lacked capacity. */
  shortage: Shortage.optional(),
};

/** Lane of a backtest as clients see it. */
export const BacktestLane = z.enum(LANES).exclude(['hyperopt', 'canary']).meta({
  description:
    '`backtest`: runs as a Fargate task, in local mode as a process; `fast`: a short backtest that runs in a function, and on Fargate if that fails',
});

const ms = (description: string) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description}, ms; null until it has ended` });

/** Durations of the parts of a job. */
export const JobDurations = z
  .object({
    queue_ms: ms('Time in the queue, from the submission to the latest slot'),
    start_ms: ms('Time from there to the claim by its latest task: freshness check, collection, start'),
    run_ms: ms('Time from there to the end of the job'),
  })
  .meta({ id: 'JobDurations' });

const WAITING_FOR = ['slot', 'capacity', 'start'] as const;

/** The queue as clients see it. */
export const QueueState = z
  .object({
    position: z
      .union([z.int(), z.literal('1,000+')])
      .nullable()
      .meta({
        description: 'Estimated number of jobs that start before this one, plus one; null while it starts',
      }),
    waiting_for: z.enum(WAITING_FOR).meta({
      description:
        '`slot`: as many jobs run as the platform allows; `capacity`: AWS had no capacity or the registry did not deliver the image, and the start is repeated; `start`: the job has a slot, and its task is starting',
    }),
    reason: z.string().nullable().meta({ description: 'Capacity that was lacking; null otherwise' }),
    next_start: Timestamp.nullable().meta({ description: 'Next start at the earliest; null: at any time' }),
  })
  .meta({ id: 'QueueState' });
export type QueueState = z.infer<typeof QueueState>;
