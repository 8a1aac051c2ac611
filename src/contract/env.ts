import * as z from 'zod';
import { CanaryEnv } from './canary.ts';
import { decimal, digits, flag, integer, list, text } from './env-fields.ts';
import { SERVICES } from './names.ts';
import { MIN_TRADES, type MinAssignments, ReleasePolicy } from './release-policy.ts';
import { retentionEnv } from './retention.ts';

/**
 * The environment of each entry point: read by src/runtime/env.ts, and the type of the CDK `environment` prop
 * (`z.input`), so that a stack that forgets a variable does not compile.
 */

const common = {
  /** `production` enforces authentication; anything else makes it optional. */
  ENVIRONMENT: z.enum(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO'),
};

const database = {
  /** DynamoDB endpoint; absent: AWS. */
  DYNAMODB_ENDPOINT: z.url().optional(),
};

const objects = {
  RESULTS_BUCKET: text,
  CANDLES_BUCKET: text,
  /** When set, object storage is this folder and each bucket a folder in it. */
  OBJECTS_DIRECTORY: text.optional(),
};

const exchange = {
  /** Serves imports, queries and jobs that name no exchange. */
  DEFAULT_EXCHANGE: text.default('binanceusdm'),
};

const collecting = {
  /** Scheme and host at which every exchange is called instead of its own: a relay, or a server for tests. */
  EXCHANGE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Minimum interval between requests to one exchange, ms. Default: the ccxt `rateLimit`. */
  EXCHANGE_INTERVAL_MS: digits({ min: 1, max: 60_000 }).optional(),
};

const strategies = {
  /** Users' strategy files; default the project's `strategies/`. Bundles hold their own and ignore it. */
  STRATEGIES_DIRECTORY: text.optional(),
};

const images = {
  /** Registries from which images of versions may come, comma separated; default any. */
  ALLOWED_REGISTRIES: list.optional(),
};

const { shape: requirement } = ReleasePolicy;

/** The release policy: requirements for staging and promoting a version. An absent one is not required. */
export const releasePolicy = {
  POLICY_MIN_TRADES: decimal(requirement.minTrades.unwrap()),
  POLICY_MIN_DAYS: decimal(requirement.minDays.unwrap()),
  POLICY_MAX_EVIDENCE_AGE_DAYS: decimal(requirement.maxEvidenceAgeDays.unwrap()),
  POLICY_MIN_SHARPE: decimal(requirement.minSharpe.unwrap()),
  POLICY_MIN_PROFIT_FACTOR: decimal(requirement.minProfitFactor.unwrap()),
  /** Percent, of either sign. */
  POLICY_MAX_DRAWDOWN: decimal(requirement.maxDrawdown.unwrap()),
  /** Deflated Sharpe ratio of the hyperopt job that found the parameters, 0 to 1. */
  POLICY_MIN_DEFLATED_SHARPE: decimal(requirement.minDeflatedSharpe.unwrap()),
  /** Promote only what passed the staging check `look_ahead`. */
  POLICY_LOOK_AHEAD_CERTIFICATE: flag.default(false),
};

/** Requirements of a promotion. */
const promotions = {
  /** Promote only what passed its validation. Default: in production. */
  STAGING_DRY_RUN_REQUIRED: flag.optional(),
  /** The user who registered a version cannot promote it (four-eyes principle). */
  REQUIRE_FOUR_EYES: flag.default(false),
  ...releasePolicy,
};

const challenges = {
  /** Minimum closed trades of each variant before a promotion, regardless of the challenge's own minimum. */
  CHALLENGE_MIN_TRADES: integer(100, { min: 100, max: 1_000_000 }),
  /** Hours that a challenge must have lasted before its verdict. */
  CHALLENGE_MIN_HOURS: integer(0, { min: 0, max: 8760 }),
  /** Minimum assignments of each variant before the verdict; `min_trades`: as many as closed trades. */
  CHALLENGE_MIN_ASSIGNMENTS: z
    .union([z.literal(MIN_TRADES), digits({ min: 0, max: 1_000_000 })])
    .default(0 satisfies MinAssignments),
};

const gates = {
  ...promotions,
  /** A rollback requires a reason: pass reason. */
  REQUIRE_ROLLBACK_REASON: flag.default(false),
};

const dataCollection = {
  /** Base URL of data collection; no discovery when set. */
  DATA_COLLECTION_URL: z.url().optional(),
  /**
   * Namespace of service discovery. Without `DATA_COLLECTION_URL` the service is
   * `http://data-collection.{namespace}:8002`.
   */
  SERVICE_DISCOVERY_NAMESPACE: text.optional(),
};

const serviceToken = {
  /** Secret of the platform's services: the proxy sends it, data collection accepts it as an alternative to JWTs. */
  SERVICE_TOKEN: z.string().min(16).optional(),
};

type ServicePrefix = 'BACKEND' | 'STRATEGY' | 'DATA_COLLECTION';

const USER_POOL_ID = /^[a-z]{2}(-gov)?-[a-z]+-\d_[a-zA-Z0-9]+$/;

/** The identity provider of a service: `{SERVICE}_IDP_*`. */
function identityProvider<S extends ServicePrefix>(service: S) {
  return {
    [`${service}_IDP_USER_POOL_ID`]: text.regex(USER_POOL_ID, 'must be like us-east-1_AbCdEf123').optional(),
    [`${service}_IDP_CLIENT_ID`]: text.optional(),
    /** Clients of programs, comma separated: their tokens have a role as a scope. */
    [`${service}_IDP_MACHINE_CLIENT_IDS`]: list.optional(),
    [`${service}_IDP_REGION`]: text.default('us-east-1'),
  } as Record<`${S}_IDP_USER_POOL_ID` | `${S}_IDP_CLIENT_ID`, z.ZodOptional<z.ZodString>> &
    Record<`${S}_IDP_MACHINE_CLIENT_IDS`, z.ZodOptional<typeof list>> &
    Record<`${S}_IDP_REGION`, z.ZodDefault<z.ZodString>>;
}

/** Production has an identity provider, half of one is a mistake, and it is in the region that is named. */
function checkIdentityProvider(service: ServicePrefix) {
  const [pool, client, region] = ['USER_POOL_ID', 'CLIENT_ID', 'REGION'].map(
    (name) => `${service}_IDP_${name}`,
  );
  return ({ value, issues }: z.core.ParsePayload<Readonly<Record<string, unknown>>>): void => {
    const reject = (name: string, message: string) =>
      issues.push({ code: 'custom', path: [name], message, input: value });
    const wanted = value.ENVIRONMENT === 'production' || value[pool!] || value[client!];
    if (wanted && !value[pool!]) reject(pool!, 'must be set');
    if (wanted && !value[client!]) reject(client!, 'must be set');
    if (value[pool!] && !String(value[pool!]).startsWith(`${value[region!]}_`)) {
      reject(region!, `must be the region with which ${pool} begins; it is ${value[region!]}`);
    }
  };
}

/** Slots of each lane of the job queue. */
const slots = {
  /** Maximum number of concurrent backtests and validations. */
  MAX_RUNNING_BACKTESTS: digits({ min: 1, max: 10_000 }),
  /** Maximum number of concurrent backtests in functions; 0: none. */
  MAX_RUNNING_FAST: digits({ min: 0, max: 10_000 }),
  /** Maximum number of concurrent hyperopt jobs. */
  MAX_RUNNING_HYPEROPTS: digits({ min: 1, max: 1_000 }),
};

/** Registered images may not run: the network of the stage is public. */
const rejectImages = flag.default(false);

/** Runs of registered images: the bucket of their inputs and outputs, and the ID of their role. */
export const imageRuns = { RUNS_BUCKET: text, IMAGE_ROLE_ID: text };

export const BackendEnv = z
  .object({
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
    ...z.object(imageRuns).partial().shape,
    REJECT_IMAGES: rejectImages,
    DATA_PROXY_FUNCTION: text,
    /** Base address of the strategy service; without one it is reported as not configured. */
    STRATEGY_SERVICE_URL: z.url().optional(),
    CANARY_TOKEN: CanaryEnv.shape.CANARY_TOKEN.optional(),
    CANARY_TOKEN_2: CanaryEnv.shape.CANARY_TOKEN.optional(),
    ...retentionEnv,
    ...gates,
  })
  .check(checkIdentityProvider('BACKEND'));

export type BackendEnv = z.output<typeof BackendEnv>;

export const StrategyEnv = z
  .object({
    ...common,
    ...database,
    ...slots,
    ...objects,
    ...exchange,
    ...identityProvider('STRATEGY'),
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
  })
  .check(checkIdentityProvider('STRATEGY'));
export type StrategyEnv = z.output<typeof StrategyEnv>;

/** Environment of an entry point that promotes. */
export type PromotingEnv = Pick<StrategyEnv, keyof typeof promotions | 'ENVIRONMENT'>;

/** The function that streams events of the strategy service: it reads jobs and nothing else. */
export const StrategyEventsEnv = z
  .object({
    ...common,
    ...database,
    ...identityProvider('STRATEGY'),
    ...retentionEnv,
    JOBS_TABLE: text,
  })
  .check(checkIdentityProvider('STRATEGY'));

export const DataProxyEnv = z.object({
  ...common,
  ...dataCollection,
  /** Any string: the function reports an invalid URL as SVC004 instead of failing to start. */
  DATA_COLLECTION_URL: text.optional(),
  /** Retries after a 5xx response. */
  MAX_RETRIES: integer(2, { min: 0, max: 10 }),
  /** Seconds of one call of the service. */
  REQUEST_TIMEOUT: integer(30, { min: 1, max: 60 }),
  ...serviceToken,
});

export const ReconcileEnv = z.object({
  ...common,
  ...database,
  ...slots,
  ...promotions,
  ...retentionEnv,
  /** Absent: nothing expires. */
  RESULTS_BUCKET: text.optional(),
  JOBS_TABLE: text,
  REGISTRY_TABLE: text,
  BACKTEST_STATE_MACHINE_ARN: text,
  HYPEROPT_STATE_MACHINE_ARN: text,
});

export type ReconcileEnv = z.output<typeof ReconcileEnv>;

export const TaskImageEnv = z.object({
  ...common,
  ...images,
  REJECT_IMAGES: rejectImages,
  /** Task definition that is copied for each registered image, with its revision. */
  IMAGE_TASK_DEFINITION: text,
});

/** Variables that the state machine or the process runner adds to the environment of a task. */
const task = {
  JOB_ID: text,
  CORRELATION_ID: text.default('none'),
  /** Identity of the process in local mode; in AWS the ARN of the container metadata. */
  TASK_ID: text.optional(),
  /** Set where the process is watched: by it its memory is known, see src/adapters/local/process-watch.ts. */
  WATCH_MARK: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  /** Set by ECS: where the container reads its task's ARN. */
  ECS_CONTAINER_METADATA_URI_V4: z.url().optional(),
};

export const BacktestTaskEnv = z.object({
  ...common,
  ...database,
  ...objects,
  ...strategies,
  ...task,
  JOBS_TABLE: text,
  SERIES_TABLE: text,
});

export const HyperoptTaskEnv = BacktestTaskEnv.extend({
  /** Number of this worker in its job. */
  WORKER: digits({ min: 0, max: 1_000 }),
  /** Maximum duration of a trial, after which it fails. Default: the maximum run time of a worker in AWS. */
  TRIAL_LIMIT_SECONDS: integer(86_400, { min: 1, max: 86_400 }),
  /** Time without progress after which the job reports a stalled trial. */
  TRIAL_STALL_SECONDS: integer(60, { min: 1, max: 86_400 }),
});

export const CollectTaskEnv = z.object({
  ...common,
  ...database,
  ...collecting,
  ...task,
  ...dataCollection,
  CANDLES_BUCKET: objects.CANDLES_BUCKET,
  OBJECTS_DIRECTORY: objects.OBJECTS_DIRECTORY,
  JOBS_TABLE: text,
  SERIES_TABLE: text,
});

export const DataCollectionEnv = z
  .object({
    ...common,
    ...database,
    ...exchange,
    ...collecting,
    ...identityProvider('DATA_COLLECTION'),
    CANDLES_BUCKET: objects.CANDLES_BUCKET,
    OBJECTS_DIRECTORY: objects.OBJECTS_DIRECTORY,
    SERIES_TABLE: text,
    /** For the audit trail. */
    REGISTRY_TABLE: text,
    RETENTION_AUDIT_DAYS: retentionEnv.RETENTION_AUDIT_DAYS,
    ...serviceToken,
    /** Accepted in addition to SERVICE_TOKEN, so that the proxy can change from one to the other. */
    SERVICE_TOKEN_2: serviceToken.SERVICE_TOKEN,
    PORT: integer(SERVICES.data_collection.port, { min: 0, max: 65_535 }),
  })
  .check(checkIdentityProvider('DATA_COLLECTION'));

/** The local platform. Port 0 selects a free port. */
export const LocalEnv = z.object({
  ...common,
  ...database,
  ...collecting,
  ...strategies,
  /** Default WARN: requests are not logged, since a person reads this terminal. */
  LOG_LEVEL: common.LOG_LEVEL.removeDefault().default('WARN'),
  TOUCHSTONE_HOME: text.default('.touchstone'),
  /** Minutes that a backtest, or a trial of a hyperopt job, may take; then it has failed. */
  JOB_LIMIT_MINUTES: integer(30, { min: 1, max: 1_440 }),
  DEFAULT_EXCHANGE: text.default('sim'),
  /** Free space on the disk of the data folder below which new work is rejected, MB. */
  MIN_FREE_DISK_MB: integer(256, { min: 0, max: 1_000_000_000 }),
  BACKEND_PORT: integer(SERVICES.backend.port, { min: 0, max: 65_535 }),
  STRATEGY_PORT: integer(SERVICES.strategy.port, { min: 0, max: 65_535 }),
  ...gates,
  ...challenges,
  ...retentionEnv,
  /** Promote only what passed its validation. */
  STAGING_DRY_RUN_REQUIRED: flag.default(false),
  DATA_COLLECTION_PORT: integer(SERVICES.data_collection.port, { min: 0, max: 65_535 }),
});
export type LocalEnv = z.output<typeof LocalEnv>;

type PolicyEnv = z.output<z.ZodObject<typeof releasePolicy>>;

/** The release policy that an environment sets. */
export function releasePolicyOf(env: PolicyEnv): ReleasePolicy {
  return {
    minTrades: env.POLICY_MIN_TRADES,
    minDays: env.POLICY_MIN_DAYS,
    maxEvidenceAgeDays: env.POLICY_MAX_EVIDENCE_AGE_DAYS,
    minSharpe: env.POLICY_MIN_SHARPE,
    minProfitFactor: env.POLICY_MIN_PROFIT_FACTOR,
    maxDrawdown: env.POLICY_MAX_DRAWDOWN,
    minDeflatedSharpe: env.POLICY_MIN_DEFLATED_SHARPE,
    lookAheadCertificate: env.POLICY_LOOK_AHEAD_CERTIFICATE,
  };
}

/** Variables that set a release policy; {@link releasePolicyOf} reads them. */
export function releasePolicyVariables(policy: ReleasePolicy) {
  const variables = {
    POLICY_MIN_TRADES: policy.minTrades,
    POLICY_MIN_DAYS: policy.minDays,
    POLICY_MAX_EVIDENCE_AGE_DAYS: policy.maxEvidenceAgeDays,
    POLICY_MIN_SHARPE: policy.minSharpe,
    POLICY_MIN_PROFIT_FACTOR: policy.minProfitFactor,
    POLICY_MAX_DRAWDOWN: policy.maxDrawdown,
    POLICY_MIN_DEFLATED_SHARPE: policy.minDeflatedSharpe,
  } satisfies Partial<Record<keyof typeof releasePolicy, number | undefined>>;
  const set = Object.entries(variables).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set.map(([name, value]) => [name, String(value)])) as Partial<
      Record<keyof typeof variables, string>
    >),
    POLICY_LOOK_AHEAD_CERTIFICATE: policy.lookAheadCertificate ? 'true' : 'false',
  } as const;
}
