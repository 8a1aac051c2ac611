import type { METRICS } from '#contract/values/names.ts';
import { HOURS } from './prices.ts';

/** Assumptions of the cost report: durations and volumes, which templates do not contain. docs/cost.md lists them. */

/** Use of an idle stage, per month unless another unit is given. */
export const IDLE = {
  /** GB of logs of one service in ECS. */
  serviceLogGb: 0.1,
  /** GB of rejected connections of a network with one public address. */
  flowLogGb: 0.1,
  /** Duration of a scheduled function, seconds. */
  scheduledSeconds: 0.2,
  /** GB of logs of one invocation of a scheduled function. */
  scheduledLogGb: 1e-6,
  /** Read units of one invocation of a scheduled function: queries of open jobs and challenges. */
  scheduledReads: 10,
  /** Requests of one message: sent, received, deleted. */
  queueRequests: 3,
  /** Requests of one queue per month: Lambda polls with five connections, each waiting up to 20 s. */
  queuePolls: 5 * 3 * 60 * HOURS,
  /** Container Insights of a cluster, of each service and of each task family that runs all the time. */
  insights: { cluster: 8, service: 11, family: 6 },
} as const;

/** When each metric of Touchstone's code is published: without any use by scheduled functions, or by a request or job. */
export const METRIC_USE: Readonly<Record<keyof typeof METRICS, 'idle' | 'in use'>> = {
  proxyRequests: 'in use',
  proxyLatency: 'in use',
  proxyErrors: 'in use',
  proxyUpstreamErrors: 'in use',
  requestFaults: 'in use',
  oldestPendingSeconds: 'idle',
  queueIdleSeconds: 'idle',
  waitingJobs: 'idle',
  runningJobs: 'idle',
  longestStallSeconds: 'idle',
  canarySuccess: 'in use',
  canaryDuration: 'in use',
  canaryDashboard: 'in use',
  challengesRolledBack: 'in use',
  challengesHeld: 'in use',
  challengesEnded: 'in use',
  challengeProcessingErrors: 'idle',
};

/** Use of one backtest that a client submits, polls and reads. */
export const BACKTEST = {
  /** One submission, six polls, one read of the result. */
  apiRequests: 8,
  /** Duration of a request in its function, seconds. */
  requestSeconds: 0.1,
  /** Duration of the freshness check in the data proxy, seconds. */
  proxySeconds: 0.3,
  /**
   * Write units, as `bench job-cost` counts them: submitted with a slot 16, claimed 4, trial counted 2, completed 8, slot freed 1,
   * progress of a run of a minute 22; audit 4.
   */
  tableWrites: 57,
  tableReads: 20,
  /** One message: sent, received, deleted. */
  queueRequests: 3,
  /** Report files, curve and trades. */
  objectWrites: 9,
  /** Months of candles, and the report. */
  objectReads: 30,
  /** GB of logs: executions, task, functions, access. */
  logGb: 100e-6,
  /** Traces of its requests and its execution, as if each were recorded. */
  traces: 10,
} as const;

/**
 * Billed durations of the functions of an execution, seconds. In the fast lane: start of a process, and a million candles or
 * 5,000 missing ones. For a registered image: look-up of its task definition; its input, or check and copy of its output.
 */
export const FUNCTION_SECONDS: Readonly<Record<string, number>> = {
  BacktestFunction: 1.5,
  CollectFunction: 10,
  TaskImage: 1,
  ImageRun: 3,
};

/** Use of one backtest of a registered image, where it differs. */
export const IMAGE_BACKTEST = {
  /** Its input, what its task writes, and the checked copies of that. */
  objectWrites: 19,
} as const;

/** Use of one backtest in the fast lane, where it differs. */
export const FAST_BACKTEST = {
  /** Write units without the progress of a run of a minute. */
  tableWrites: 36,
} as const;

/** Use of one trial of a hyperopt job. */
export const TRIAL = {
  /** Duration on one vCPU, seconds. */
  seconds: 1,
  /** Write units: begun 2, and in one transaction its end, its daily returns and the job's counters 18. */
  tableWrites: 20,
  tableReads: 10,
  objectReads: 0.1,
  logGb: 1e-6,
} as const;

/**
 * Use of one visit of the dashboard: six pages, of which one stays open for ten minutes. Files and calls are counted in a browser
 * without a cache.
 */
export const VISIT = {
  fileRequests: 60,
  /** Requests of the services: 30 by the pages that open, and a poll every 20 s. */
  calls: 60,
  /** GB that CloudFront sends, compressed. */
  sentGb: 1e-3,
  readsPerCall: 5,
  logGbPerCall: 1e-6,
  /** Time for which a stream follows jobs that move: it replaces faster polls. */
  streamSeconds: 600,
  /** Four queries every two to five seconds. */
  streamReadsPerSecond: 1,
} as const;

/** Start of a worker before its first trial, seconds: billed from the pull of the image. */
export const WORKER_START_SECONDS = 60;

/** Minimum that Fargate bills for a task, seconds. */
export const MIN_TASK_SECONDS = 60;
