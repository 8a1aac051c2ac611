import type { ServiceName } from './operation.ts';

/**
 * How texts name the command line. npx downloads a package that is not installed, and on the registry this name belongs to others:
 * `--no-install` prevents that.
 */
export const TOUCHSTONE = 'npx --no-install touchstone';

/** Response header of every response, and request header that a caller may set. */
export const CORRELATION_HEADER = 'X-Correlation-ID';

/** Pattern of valid correlation ids; others are replaced, so that ids are safe in logs and headers. */
export const CORRELATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Request header of a client that continues an event stream. */
export const LAST_EVENT_ID = 'Last-Event-ID';

/** Request header that names the session of a submission: runs that were tried together. */
export const SESSION_HEADER = 'Touchstone-Session';

/** Pattern of valid names of sessions. They are parts of keys. */
export const SESSION_NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Exchange of simulated candles. */
export const SIMULATED = 'sim';

export const METRICS_NAMESPACE = 'Touchstone';

/** Actor of automatic actions. */
export const PLATFORM = 'platform';
/** The same in what was stored before 2026-11-29. */
export const EARLIER_PLATFORM = 'touchstone';
/** Actor of what is done to the tables without a call. */
export const OPERATOR = 'operator';
/** Start of the names that replace erased users. */
export const ERASED_PREFIX = 'erased-';
/** Owner of the canary's backtests. */
export const CANARY_OWNER = 'canary';

/** Names of the metrics that Touchstone emits. */
export const METRICS = {
  /** Calls of the data proxy, per operation. */
  proxyRequests: 'ProxyRequests',
  /** Milliseconds of a call of the data proxy. */
  proxyLatency: 'ProxyLatency',
  /** Failed calls of the data proxy, per operation: the only signal, because the envelope's status stays 200. */
  proxyErrors: 'ProxyErrors',
  /** Failed calls of the data proxy that the caller did not cause: data collection failed or is not configured. */
  proxyUpstreamErrors: 'ProxyUpstreamErrors',
  /** Responses 5xx of an HTTP service, per operation; 0 is published too, so that the series exists. */
  requestFaults: 'RequestFaults',
  /** Age of the oldest pending job in seconds, as repair finds it. */
  oldestPendingSeconds: 'OldestPendingSeconds',
  /** Longest time for which a lane of the queue had jobs and slots and started none, s, as repair finds it. */
  queueIdleSeconds: 'QueueIdleSeconds',
  /** Jobs that wait for a slot or for capacity. */
  waitingJobs: 'WaitingJobs',
  /** Jobs that hold a slot. */
  runningJobs: 'RunningJobs',
  /** Longest time since a running hyperopt job last changed, s, as repair finds it. */
  longestStallSeconds: 'LongestStallSeconds',
  /** 1 when the canary's latest backtest completed, 0 when it or its submission failed. */
  canarySuccess: 'CanarySuccess',
  /** Time from the submission of the canary's backtest to its end, s. */
  canaryDuration: 'CanaryDuration',
  /** 1 when the canary could load the dashboard, its script and a service behind it, 0 when not. */
  canaryDashboard: 'CanaryDashboard',
  /** Challenges that the platform rolled back automatically. */
  challengesRolledBack: 'ChallengesRolledBack',
  /** Challenges that the platform held automatically. */
  challengesHeld: 'ChallengesHeld',
  /** Challenges that ended with a verdict, expired, or whose winner's promotion lapsed. */
  challengesEnded: 'ChallengesEnded',
  /** Challenges that one repair run failed to process. */
  challengeProcessingErrors: 'ChallengeProcessingErrors',
} as const;

/** End of the log message of a failed audit write; a metric filter searches for it. */
export const AUDIT_WRITE_FAILURE = 'not in the audit trail';

export interface Service {
  /** Title of its OpenAPI document. */
  readonly title: string;
  readonly description: string;
  /** Port in local mode and in a container. */
  readonly port: number;
  /** File name of its committed OpenAPI document. */
  readonly document: string;
}

/** Path prefix of each service at the dashboard's address, where the paths of the services would collide. */
export const SERVICE_PREFIXES = {
  backend: '/services/backend',
  strategy: '/services/strategy',
  data_collection: '/services/data-collection',
} as const satisfies Readonly<Record<ServiceName, string>>;

export const SERVICES: Readonly<Record<ServiceName, Service>> = {
  backend: {
    title: 'Touchstone backend',
    description: 'Central gateway: backtests, strategy configurations and market data.',
    port: 8000,
    document: 'backend',
  },
  strategy: {
    title: 'Touchstone strategy service',
    description: 'Registration of strategy versions.',
    port: 8003,
    document: 'strategy',
  },
  data_collection: {
    title: 'Touchstone data collection',
    description: 'Market data: collecting, storing and serving candles.',
    port: 8002,
    document: 'data-collection',
  },
};

/** Identifier of the resource server in a user pool: a program's token has the scope `touchstone/{role}`. */
export const RESOURCE_SERVER = 'touchstone';
