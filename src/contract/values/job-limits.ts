export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BACKTEST_ID_PREFIX = 'bt-';
export const HYPEROPT_ID_PREFIX = 'ho-';

/** Ids of hyperopt jobs. */
export const HYPEROPT_JOB_ID = /^ho-[A-Za-z0-9]{1,64}$/;

/** What a user may write on a job. */
export const ANNOTATION_LIMITS = {
  /** Characters. */
  notes: 2_000,
  /** Number of tags, and characters of one. */
  tags: 20,
  tag: 50,
} as const;

export const JOB_LIST_LIMITS = {
  /** Newest jobs that a sorted or searched list covers. */
  searched: 2_000,
  /** Highest number that a list counts to. */
  counted: 1_000,
  /** Characters of the words to search for. */
  q: { min: 1, max: 200 },
} as const;

/** Event stream of jobs. */
export const WATCH_LIMITS = {
  /** Unfinished jobs that a stream follows, which its event IDs name: 7 KB at most, of the 10 KB of headers of API Gateway. */
  followed: 100,
  /** Newest collections that are looked through for unfinished ones, of which there are 20 at most. */
  collections: 20,
} as const;

/** Items of each part of the overview. */
export const OVERVIEW_LIMITS = {
  /** Unfinished jobs of a kind that are read: each costs a read unit or two. */
  unfinished: 100,
  moving: 50,
  ended: 10,
  collections: 50,
  production: 20,
  challenges: 20,
  waiting: 20,
  worst: 5,
} as const;

/** Number of values of a sparkline. */
export const SPARKLINE_LENGTH = 32;

/** Jobs from this priority on run on on-demand capacity instead of Spot. */
export const ON_DEMAND_PRIORITY = 8;
