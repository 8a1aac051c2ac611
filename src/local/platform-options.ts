import type { TaskLimits } from '#adapters/local/task-runner.ts';
import { type LocalEnv, releasePolicyOf } from '#contract/env.ts';
import type { MinAssignments, ReleasePolicy } from '#contract/release-policy.ts';
import type { LogLevel } from '#runtime/log.ts';

/** Of tasks that run strategies: a job of 30 minutes, a file of 10 s, a minute of silence before anybody is told. */
export const TASK_LIMITS: TaskLimits = { taskMs: 30 * 60_000, loadMs: 10_000, stallMs: 60_000 };

export interface PlatformOptions {
  /** Data folder; see {@link startPlatform}. */
  readonly home: string;
  /** Port 0 takes a free one. */
  readonly ports: { readonly backend: number; readonly strategy: number; readonly dataCollection: number };
  /** Serves imports, queries and jobs that name no exchange. Default `sim`. */
  readonly exchange?: string;
  /** Scheme and host at which every exchange is called instead of its own. */
  readonly exchangeUrl?: string | undefined;
  /** Minimum interval between requests to one exchange, ms. Default: the ccxt `rateLimit`. */
  readonly exchangeIntervalMs?: number | undefined;
  /** A DynamoDB-compatible server instead of the embedded engine. */
  readonly dynamodbEndpoint?: string | undefined;
  /** Users' strategy files; default the project's `strategies/`. */
  readonly strategiesDirectory?: string | undefined;
  /** Tasks that run at once. Default: the machine's cores. */
  readonly concurrency?: number;
  /** Heap limit of a task, MB. Default: Node's own. */
  readonly taskMemoryMb?: number;
  /** Limits of tasks that run strategies. Default: {@link TASK_LIMITS}. */
  readonly taskLimits?: Partial<TaskLimits>;
  /** Free space below which no new work is accepted, MB. Default 256. */
  readonly minFreeDiskMb?: number;
  readonly logLevel?: LogLevel;
  /** Promote only what passed its validation. Default false. */
  readonly stagingDryRunRequired?: boolean;
  /** Whoever registered a version may not promote it. Default false. */
  readonly fourEyesRequired?: boolean;
  /** Closed trades of each variant below which no challenger is promoted. Default 100. */
  readonly challengeMinTrades?: number;
  /** Hours that a challenge must have lasted before its verdict. Default 0. */
  readonly challengeMinHours?: number;
  /** Assignments that each variant must have before the verdict. Default 0. */
  readonly challengeMinAssignments?: MinAssignments;
  /** What every version must reach to be staged and promoted. Default: nothing. */
  readonly releasePolicy?: ReleasePolicy;
  /** A rollback requires a reason: pass reason. Default false. */
  readonly rollbackReasonRequired?: boolean;
  /** Every call needs a token of this folder's key. Default false: callers are anonymous with all roles. */
  readonly auth?: boolean;
  /** Answers 500 for responses that do not fit the contract. */
  readonly checkResponses?: boolean;
}

/** What the environment says of a platform. */
export function platformOptions(env: LocalEnv): PlatformOptions {
  return {
    home: env.TOUCHSTONE_HOME,
    ports: {
      backend: env.BACKEND_PORT,
      strategy: env.STRATEGY_PORT,
      dataCollection: env.DATA_COLLECTION_PORT,
    },
    exchange: env.DEFAULT_EXCHANGE,
    exchangeUrl: env.EXCHANGE_URL,
    exchangeIntervalMs: env.EXCHANGE_INTERVAL_MS,
    dynamodbEndpoint: env.DYNAMODB_ENDPOINT,
    strategiesDirectory: env.STRATEGIES_DIRECTORY,
    taskLimits: { taskMs: env.JOB_LIMIT_MINUTES * 60_000 },
    minFreeDiskMb: env.MIN_FREE_DISK_MB,
    logLevel: env.LOG_LEVEL,
    stagingDryRunRequired: env.STAGING_DRY_RUN_REQUIRED,
    fourEyesRequired: env.REQUIRE_FOUR_EYES,
    challengeMinTrades: env.CHALLENGE_MIN_TRADES,
    challengeMinHours: env.CHALLENGE_MIN_HOURS,
    challengeMinAssignments: env.CHALLENGE_MIN_ASSIGNMENTS,
    releasePolicy: releasePolicyOf(env),
    rollbackReasonRequired: env.REQUIRE_ROLLBACK_REASON,
    auth: env.ENVIRONMENT === 'production',
    checkResponses: env.ENVIRONMENT !== 'production',
  };
}
