import type { ServiceName } from './operation.ts';

/** Response header of every response, and request header that a caller may set. */
export const CORRELATION_HEADER = 'X-Correlation-ID';

/** What a correlation id may look like; anything else is replaced, so that it is safe in logs and headers. */
export const CORRELATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export const METRICS_NAMESPACE = 'Touchstone';

/** Names of the metrics that Touchstone emits. */
export const METRICS = {
  /** Calls of the data proxy, per operation. */
  proxyRequests: 'ProxyRequests',
  /** Milliseconds of a call of the data proxy. */
  proxyLatency: 'ProxyLatency',
  /** Failed calls of the data proxy, per operation: the only signal, as its envelope stays 200. */
  proxyErrors: 'ProxyErrors',
  /** Responses 5xx of an HTTP service, per operation; 0 is published too, so that the series exists. */
  requestFaults: 'RequestFaults',
  /** Age of the oldest pending job in seconds, as reconcile finds it. */
  oldestPendingSeconds: 'OldestPendingSeconds',
  /** Seconds since a running hyperopt job changed: of the one that has been quiet for longest, as reconcile finds it. */
  longestQuietSeconds: 'LongestQuietSeconds',
  /** Challenges that the platform rolled back by itself. */
  challengesRolledBack: 'ChallengesRolledBack',
  /** Challenges that the platform held by itself. */
  challengesHeld: 'ChallengesHeld',
  /** Challenges that came to a verdict, whose time was up, or whose winner was given up. */
  challengesEnded: 'ChallengesEnded',
  /** Challenges for which time could not be let pass, in one pass of reconcile. */
  challengeFaults: 'ChallengeFaults',
} as const;

/** With these words ends the line of the log that tells what the audit trail lacks: an alarm looks for them. */
export const AUDIT_GAP = 'not in the audit trail';

export interface Service {
  /** Title of its OpenAPI document. */
  readonly title: string;
  readonly description: string;
  /** Port on one machine and in a container. */
  readonly port: number;
  /** File name of its committed OpenAPI document. */
  readonly document: string;
}

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
