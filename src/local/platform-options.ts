import type { TaskHost, TaskLimits, TaskRunnerOptions } from '#adapters/processes/task-runner.ts';
import type { LocalEnv } from '#contract/env/env.ts';
import { challengeRules, promotionRules } from '#contract/env/release-rules-env.ts';
import { type RetentionDays, retentionDays } from '#contract/env/retention.ts';
import { DEFAULT_RELEASE_RULES, type ReleaseRules } from '#contract/registry/release-rules.ts';
import type { LogLevel } from '#runtime/log.ts';
import type { DashboardState } from './dashboard.ts';

/** Default limits of tasks that run strategies: 30 minutes per job, 10 s to load a file, a stall after 1 minute. */
export const TASK_LIMITS: TaskLimits = { taskMs: 30 * 60_000, loadMs: 10_000, stallMs: 60_000 };

export interface PlatformOptions {
  /** Data folder; see {@link startPlatform}. */
  readonly home: string;
  /** Port 0 selects a free port. */
  readonly ports: { readonly backend: number; readonly strategy: number; readonly dataCollection: number };
  /** Exchange of imports, queries and jobs without an exchange. Default `sim`. */
  readonly exchange?: string;
  /** Scheme and host that replace those of every exchange. */
  readonly exchangeUrl?: string | undefined;
  /** Minimum interval between requests to one exchange, ms. Default: the ccxt `rateLimit`. */
  readonly exchangeIntervalMs?: number | undefined;
  /** DynamoDB-compatible server to use instead of the embedded engine. */
  readonly dynamodbEndpoint?: string | undefined;
  /** Users' strategy files; default the project's `strategies/`. */
  readonly strategiesDirectory?: string | undefined;
  /** Maximum number of concurrent tasks. Default: number of cores. */
  readonly concurrency?: number;
  /** Heap limit of a task, MB. Default: Node's own. */
  readonly taskMemoryMb?: number;
  /** Limits of tasks that run strategies; default {@link TASK_LIMITS}. `loadMs` applies to the list of strategies too; default 5 s. */
  readonly taskLimits?: Partial<TaskLimits>;
  /** Free disk space below which new work is rejected, MB. Default 256. */
  readonly minFreeDiskMb?: number;
  readonly logLevel?: LogLevel;
  /** Requirements of releases that differ from the defaults. */
  readonly rules?: Partial<ReleaseRules>;
  /** Days after which jobs that nobody keeps are deleted. Default: forever. */
  readonly retention?: RetentionDays;
  /** Days for which entries of the audit trail are kept. Default: forever. */
  readonly auditDays?: number | undefined;
  /** Calls need a token of this folder's key. Default false: callers are anonymous with all roles. */
  readonly auth?: boolean;
  /** Dashboard at the backend's address, asked for each page. Default: none. */
  readonly dashboard?: () => DashboardState;
  /** Path of the bundled backtest task, asked for each task; undefined: from its sources. Default: none. */
  readonly bundledTask?: () => string | undefined;
  /** What runs the tasks. Default: each is a child process. */
  readonly tasks?: (options: TaskRunnerOptions) => TaskHost;
  /** Webhooks may have http URLs and addresses of this machine. Default false. */
  readonly webhooksAllowLoopback?: boolean;
  /** Responds with 500 if a response violates the contract. */
  readonly checkResponses?: boolean;
}

/** Options from the environment. */
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
    rules: {
      ...promotionRules(env),
      ...challengeRules(env),
      stagingDryRunRequired: env.STAGING_DRY_RUN_REQUIRED ?? DEFAULT_RELEASE_RULES.stagingDryRunRequired,
      rollbackReasonRequired: env.REQUIRE_ROLLBACK_REASON,
    },
    retention: retentionDays(env),
    auditDays: env.RETENTION_AUDIT_DAYS,
    webhooksAllowLoopback: env.WEBHOOKS_ALLOW_LOOPBACK,
    auth: env.ENVIRONMENT === 'production',
    checkResponses: env.ENVIRONMENT !== 'production',
  };
}
