import type { MinAssignments } from '../registry/release-policy.ts';
import { DEFAULT_RELEASE_RULES } from '../registry/release-rules.ts';
import { MIN_TRADES } from '../values/challenge-limits.ts';
import { SERVICES, SIMULATED } from '../values/names.ts';
import { CanaryEnv } from './canary.ts';
import {
  digits,
  type EnvDeclaration,
  type EnvOf,
  flag,
  httpUrl,
  integer,
  list,
  matching,
  type OptionalVariable,
  oneOf,
  optional,
  secret,
  text,
  url,
  withDefault,
} from './env-fields.ts';
import { originTokens } from './origin-token.ts';
import { releasePolicy } from './release-policy-env.ts';
import { retentionEnv } from './retention.ts';
import { slots } from './slots-env.ts';

/**
 * The environment of each entry point: read by src/runtime/env.ts, and the type of the CDK `environment` prop
 * (`EnvInput`), so that a stack that forgets a variable does not compile.
 */

const LOG_LEVEL = oneOf('DEBUG', 'INFO', 'WARN', 'ERROR');

const common = {
  /** `production` enforces authentication; anything else makes it optional. */
  ENVIRONMENT: withDefault(oneOf('development', 'test', 'production'), 'development'),
  LOG_LEVEL: withDefault(LOG_LEVEL, 'INFO'),
  /** Name of the deployment where an account and region has several of one stage: a dimension of its metrics. */
  TOUCHSTONE_INSTANCE: optional(text),
};

/** What the metrics of every entry point need. */
export const MetricsEnv = { variables: { TOUCHSTONE_INSTANCE: common.TOUCHSTONE_INSTANCE } };

const database = {
  /** DynamoDB endpoint; absent: AWS. */
  DYNAMODB_ENDPOINT: optional(url),
};

const objects = {
  RESULTS_BUCKET: text,
  CANDLES_BUCKET: text,
  /** When set, object storage is this folder and each bucket a folder in it. */
  OBJECTS_DIRECTORY: optional(text),
};

const exchange = {
  /** Serves imports, queries and jobs that name no exchange. */
  DEFAULT_EXCHANGE: withDefault(text, 'binanceusdm'),
};

const collecting = {
  /** Scheme and host at which every exchange is called instead of its own: a relay, or a server for tests. */
  EXCHANGE_URL: optional(httpUrl),
  /** Minimum interval between requests to one exchange, ms. Default: the ccxt `rateLimit`. */
  EXCHANGE_INTERVAL_MS: optional(digits({ min: 1, max: 60_000 })),
};

const strategies = {
  /** Users' strategy files; default the project's `strategies/`. Bundles hold their own and ignore it. */
  STRATEGIES_DIRECTORY: optional(text),
};

const images = {
  /** Registries from which images of versions may come, comma separated; default any. */
  ALLOWED_REGISTRIES: optional(list),
};

/** Requirements of a promotion. */
const promotions = {
  /** Promote only what passed its validation. Default: in production. */
  STAGING_DRY_RUN_REQUIRED: optional(flag),
  /** The user who registered a version cannot promote it (four-eyes principle). */
  REQUIRE_FOUR_EYES: withDefault(flag, DEFAULT_RELEASE_RULES.fourEyesRequired),
  ...releasePolicy,
};

const assignments = digits({ min: 0, max: 1_000_000 });

const challenges = {
  /** Minimum closed trades of each variant before a promotion, regardless of the challenge's own minimum. */
  CHALLENGE_MIN_TRADES: integer(DEFAULT_RELEASE_RULES.challengeMinTrades, { min: 100, max: 1_000_000 }),
  /** Hours that a challenge must have lasted before its verdict. */
  CHALLENGE_MIN_HOURS: integer(DEFAULT_RELEASE_RULES.challengeMinHours, { min: 0, max: 8760 }),
  /** Minimum assignments of each variant before the verdict; `min_trades`: as many as closed trades. */
  CHALLENGE_MIN_ASSIGNMENTS: withDefault<MinAssignments, string>(
    { parse: (value) => (value === MIN_TRADES ? MIN_TRADES : assignments.parse(value)) },
    DEFAULT_RELEASE_RULES.challengeMinAssignments,
  ),
  /** Default of a challenge's `require_assignment`. */
  CHALLENGE_REQUIRE_ASSIGNMENT: withDefault(flag, DEFAULT_RELEASE_RULES.challengeRequireAssignment),
};

const gates = {
  ...promotions,
  /** A rollback requires a reason: pass reason. */
  REQUIRE_ROLLBACK_REASON: withDefault(flag, DEFAULT_RELEASE_RULES.rollbackReasonRequired),
};

const dataCollection = {
  /** Base URL of data collection; no discovery when set. */
  DATA_COLLECTION_URL: optional(url),
  /**
   * Namespace of service discovery. Without `DATA_COLLECTION_URL` the service is
   * `http://data-collection.{namespace}:8002`.
   */
  SERVICE_DISCOVERY_NAMESPACE: optional(text),
};

const serviceToken = {
  /** Secret of the platform's services: the proxy sends it, data collection accepts it as an alternative to JWTs. */
  SERVICE_TOKEN: optional(secret),
};

type ServicePrefix = 'BACKEND' | 'STRATEGY' | 'DATA_COLLECTION';

const USER_POOL_ID = /^[a-z]{2}(-gov)?-[a-z]+-\d_[a-zA-Z0-9]+$/;

/** The identity provider of a service: `{SERVICE}_IDP_*`. */
function identityProvider<S extends ServicePrefix>(service: S) {
  return {
    [`${service}_IDP_USER_POOL_ID`]: optional(matching(USER_POOL_ID, 'must be like us-east-1_AbCdEf123')),
    [`${service}_IDP_CLIENT_ID`]: optional(text),
    /** Clients of programs, comma separated: their tokens have a role as a scope. */
    [`${service}_IDP_MACHINE_CLIENT_IDS`]: optional(list),
    [`${service}_IDP_REGION`]: withDefault(text, 'us-east-1'),
  } as Record<`${S}_IDP_USER_POOL_ID` | `${S}_IDP_CLIENT_ID`, OptionalVariable<string | undefined>> &
    Record<`${S}_IDP_MACHINE_CLIENT_IDS`, OptionalVariable<string[] | undefined>> &
    Record<`${S}_IDP_REGION`, OptionalVariable<string>>;
}

/** Production has an identity provider, half of one is a mistake, and it is in the region that is named. */
function checkIdentityProvider(service: ServicePrefix): NonNullable<EnvDeclaration['check']> {
  const [pool, client, region] = [
    `${service}_IDP_USER_POOL_ID`,
    `${service}_IDP_CLIENT_ID`,
    `${service}_IDP_REGION`,
  ] as const;
  return (values) => {
    const wanted = values.ENVIRONMENT === 'production' || values[pool] || values[client];
    const required = wanted ? [pool, client] : [];
    const isElsewhere = values[pool] && !String(values[pool]).startsWith(`${values[region]}_`);
    const message = `must be the region with which ${pool} begins; it is ${values[region]}`;
    return [
      ...required.filter((name) => !values[name]).map((name) => ({ name, message: 'must be set' })),
      ...(isElsewhere ? [{ name: region, message }] : []),
    ];
  };
}

/** Registered images may not run: the network of the stage is public. */
const rejectImages = withDefault(flag, false);

/** Runs of registered images: the bucket of their inputs and outputs, and the ID of their role. */
export const imageRuns = { RUNS_BUCKET: text, IMAGE_ROLE_ID: text };

export const BackendEnv = {
  variables: {
    ...common,
    ...database,
    ...slots,
    ...objects,
    ...exchange,
    ...identityProvider('BACKEND'),
    JOBS_TABLE: text,
    SERIES_TABLE: text,
    REGISTRY_TABLE: text,
    BACKTEST_STATE_MACHINE_ARN: text,
    /** Longest estimated duration of a backtest in the fast lane. */
    FAST_LANE_SECONDS: digits({ min: 10, max: 200 }),
    /** For the progress of registered images; absent where none run. */
    RUNS_BUCKET: optional(imageRuns.RUNS_BUCKET),
    IMAGE_ROLE_ID: optional(imageRuns.IMAGE_ROLE_ID),
    REJECT_IMAGES: rejectImages,
    ...images,
    DATA_PROXY_FUNCTION: text,
    /** Queue of the function that delivers events to webhooks. */
    WEBHOOK_QUEUE_URL: url,
    /** CloudEvents' `source` of the events. */
    EVENT_SOURCE: text,
    /** Base address of the strategy service; without one it is reported as not configured. */
    STRATEGY_SERVICE_URL: optional(url),
    CANARY_TOKEN: optional(CanaryEnv.variables.CANARY_TOKEN),
    CANARY_TOKEN_2: optional(CanaryEnv.variables.CANARY_TOKEN),
    ...originTokens,
    ...retentionEnv,
    ...gates,
  },
  check: checkIdentityProvider('BACKEND'),
};

export type BackendEnv = EnvOf<typeof BackendEnv>;

export const StrategyEnv = {
  variables: {
    ...common,
    ...database,
    ...slots,
    ...objects,
    ...exchange,
    ...identityProvider('STRATEGY'),
    ...originTokens,
    JOBS_TABLE: text,
    SERIES_TABLE: text,
    HYPEROPT_STATE_MACHINE_ARN: text,
    REGISTRY_TABLE: text,
    /** Challenges' timers: the group of their schedules, the function that they invoke and the role that may. */
    SCHEDULE_GROUP: text,
    SCHEDULE_FUNCTION_ARN: text,
    SCHEDULE_ROLE_ARN: text,
    ...images,
    ...promotions,
    ...retentionEnv,
    ...challenges,
  },
  check: checkIdentityProvider('STRATEGY'),
};
export type StrategyEnv = EnvOf<typeof StrategyEnv>;

/** Environment of an entry point that promotes. */
export type PromotingEnv = Pick<StrategyEnv, keyof typeof promotions | 'ENVIRONMENT'>;
export type ChallengingEnv = Pick<StrategyEnv, keyof typeof challenges>;

/** The function that streams events of the strategy service: it reads jobs and nothing else. */
export const StrategyEventsEnv = {
  variables: {
    ...common,
    ...database,
    ...identityProvider('STRATEGY'),
    ...retentionEnv,
    JOBS_TABLE: text,
  },
  check: checkIdentityProvider('STRATEGY'),
};

/** The data proxy; the API of data collection reads where the service is. */
export const DataProxyEnv = {
  variables: {
    ...common,
    ...dataCollection,
    /** Any string: the function reports an invalid URL as SVC004 instead of failing to start. */
    DATA_COLLECTION_URL: optional(text),
    /** Retries after a 5xx response. */
    MAX_RETRIES: integer(2, { min: 0, max: 10 }),
    /** Seconds of one call of the service. */
    REQUEST_TIMEOUT: integer(30, { min: 1, max: 60 }),
    ...serviceToken,
  },
};

/** The function that CloudFormation calls to upload the dashboard's files. */
export const WebFilesEnv = { variables: common };

export const RepairEnv = {
  variables: {
    ...common,
    ...database,
    ...slots,
    ...promotions,
    ...retentionEnv,
    /** Absent: nothing expires. */
    RESULTS_BUCKET: optional(text),
    JOBS_TABLE: text,
    REGISTRY_TABLE: text,
    BACKTEST_STATE_MACHINE_ARN: text,
    HYPEROPT_STATE_MACHINE_ARN: text,
  },
};

export type RepairEnv = EnvOf<typeof RepairEnv>;

export const TaskImageEnv = {
  variables: {
    ...common,
    ...images,
    REJECT_IMAGES: rejectImages,
    /** Task definition that is copied for each registered image, with its revision. */
    IMAGE_TASK_DEFINITION: text,
  },
};

/** Variables that the state machine or the process runner adds to the environment of a task. */
const task = {
  JOB_ID: text,
  CORRELATION_ID: withDefault(text, 'none'),
  /** Identity of the process in local mode; in AWS the ARN of the container metadata. */
  TASK_ID: optional(text),
  /** Set where the process is watched: by it its memory is known, see src/adapters/processes/process-watch.ts. */
  WATCH_MARK: optional(matching(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits')),
  /** Set by ECS: where the container reads its task's ARN. */
  ECS_CONTAINER_METADATA_URI_V4: optional(url),
};

export const BacktestTaskEnv = {
  variables: {
    ...common,
    ...database,
    ...objects,
    ...strategies,
    ...task,
    JOBS_TABLE: text,
    SERIES_TABLE: text,
  },
};

export const HyperoptTaskEnv = {
  variables: {
    ...BacktestTaskEnv.variables,
    /** Number of this worker in its job. */
    WORKER: digits({ min: 0, max: 1_000 }),
    /** Maximum duration of a trial, after which it fails. Default: the maximum run time of a worker in AWS. */
    TRIAL_LIMIT_SECONDS: integer(86_400, { min: 1, max: 86_400 }),
    /** Time without progress after which the job reports a stalled trial. */
    TRIAL_STALL_SECONDS: integer(60, { min: 1, max: 86_400 }),
  },
};

export const CollectTaskEnv = {
  variables: {
    ...common,
    ...database,
    ...collecting,
    ...task,
    ...dataCollection,
    CANDLES_BUCKET: objects.CANDLES_BUCKET,
    OBJECTS_DIRECTORY: objects.OBJECTS_DIRECTORY,
    JOBS_TABLE: text,
    SERIES_TABLE: text,
  },
};

export const DataCollectionEnv = {
  variables: {
    ...common,
    ...database,
    ...exchange,
    ...collecting,
    ...identityProvider('DATA_COLLECTION'),
    CANDLES_BUCKET: objects.CANDLES_BUCKET,
    OBJECTS_DIRECTORY: objects.OBJECTS_DIRECTORY,
    SERIES_TABLE: text,
    /** Jobs that use a series. */
    JOBS_TABLE: text,
    /** For the audit trail, and the versions that use a series. */
    REGISTRY_TABLE: text,
    RETENTION_AUDIT_DAYS: retentionEnv.RETENTION_AUDIT_DAYS,
    ...serviceToken,
    /** Accepted in addition to SERVICE_TOKEN, so that the proxy can change from one to the other. */
    SERVICE_TOKEN_2: serviceToken.SERVICE_TOKEN,
    ...originTokens,
    PORT: integer(SERVICES.data_collection.port, { min: 0, max: 65_535 }),
  },
  check: checkIdentityProvider('DATA_COLLECTION'),
};

/** The local platform. Port 0 selects a free port. */
export const LocalEnv = {
  variables: {
    ...common,
    ...database,
    ...collecting,
    ...strategies,
    /** Default WARN: requests are not logged, since a person reads this terminal. */
    LOG_LEVEL: withDefault(LOG_LEVEL, 'WARN'),
    TOUCHSTONE_HOME: withDefault(text, '.touchstone'),
    /** Minutes that a backtest, or a trial of a hyperopt job, may take; then it has failed. */
    JOB_LIMIT_MINUTES: integer(30, { min: 1, max: 1_440 }),
    DEFAULT_EXCHANGE: withDefault(text, SIMULATED),
    /** Free space on the disk of the data folder below which new work is rejected, MB. */
    MIN_FREE_DISK_MB: integer(256, { min: 0, max: 1_000_000_000 }),
    BACKEND_PORT: integer(SERVICES.backend.port, { min: 0, max: 65_535 }),
    STRATEGY_PORT: integer(SERVICES.strategy.port, { min: 0, max: 65_535 }),
    /** Webhooks may have http URLs and addresses of this machine, to try receivers. */
    WEBHOOKS_ALLOW_LOOPBACK: withDefault(flag, false),
    ...gates,
    ...challenges,
    ...retentionEnv,
    /** Promote only what passed its validation. */
    STAGING_DRY_RUN_REQUIRED: withDefault(flag, false),
    DATA_COLLECTION_PORT: integer(SERVICES.data_collection.port, { min: 0, max: 65_535 }),
  },
};
export type LocalEnv = EnvOf<typeof LocalEnv>;
