import * as z from 'zod';
import {
  BacktestResult,
  ResolvedBacktestConfig,
  ResultsLocation,
  UndefinedMetrics,
} from '../backtests/backtest.ts';
import { Grant } from '../common/sharing-schemas.ts';
import { Timestamp } from '../common/time.ts';
import { ValidationCheck } from '../common/validation-check.ts';
import { LOOK_AHEAD_STATES } from '../config/look-ahead.ts';
import { TrialRecord } from '../jobs/trial-ledger.ts';
import { APPROVAL_ACTIONS } from '../values/approval-limits.ts';

/** Shapes of the registry table. A stored shape carries `schema_version`; test/contract pins its hash. */

export const STAGES = ['None', 'Staging', 'Production', 'Archived'] as const;
export type Stage = (typeof STAGES)[number];

/** A request for approval in the list of its model: one per action and version. */
const OpenApproval = z.object({
  approval_id: z.string(),
  action: z.enum(APPROVAL_ACTIONS),
  version: z.string().nullable().meta({ description: 'null for `stop`' }),
  due_at: Timestamp,
});

/** A model: one per strategy, of the same name. Its versions are items of their own. */
export const StoredModel = z.object({
  schema_version: z.literal(2),
  model_name: z.string(),
  owner: z.string().meta({ description: 'Principal of the first registration' }),
  shared_with: z.array(Grant),
  production_version: z
    .string()
    .nullable()
    .meta({ description: 'Version in Production: routers read it here' }),
  stopped_version: z.string().nullable().default(null).meta({
    description:
      'Version whose stop left Production empty; null while a version is in Production, and before the first',
  }),
  has_ended_versions: z.boolean().nullable().default(null).meta({
    description:
      'True once a version was rolled back or stopped; null: unknown, of a model from before this field',
  }),
  aliases: z
    .array(z.object({ alias: z.string(), version: z.string() }))
    .default([])
    .meta({ description: 'Names that users gave to versions, in alphabetical order' }),
  latest_version: z.int().meta({ description: 'Highest number given; numbers are never reused' }),
  active_challenge_id: z.string().nullable(),
  open_approvals: z
    .array(OpenApproval)
    .default([])
    .meta({ description: 'Requests for approval that nobody has decided; some may have expired' }),
  revision: z
    .int()
    .meta({ description: 'Incremented by each change of production_version or active_challenge_id' }),
  events: z.int().meta({
    description: 'Number of events. Each transition increments it: the transitions of a model are ordered',
  }),
  last_event_id: z.string().meta({ description: 'Event of the transition that made this state' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type StoredModel = z.infer<typeof StoredModel>;

export const Thresholds = z.object({
  min_sharpe: z.number().optional(),
  min_profit_factor: z.number().optional(),
  max_drawdown: z.number().optional().meta({ description: 'Percent, of either sign' }),
});
export type Thresholds = z.infer<typeof Thresholds>;

const VALIDATION_STATUSES = ['pending', 'passed', 'failed', 'skipped'] as const;

export const Validation = z.object({
  status: z.enum(VALIDATION_STATUSES),
  checks: z.array(ValidationCheck),
  job_id: z.string().nullable().meta({ description: 'Job of the checks that need a task; null without one' }),
});
export type Validation = z.infer<typeof Validation>;

/** Range of the candles behind a version, and the hyperopt job that found its parameters. */
export const Evidence = z.object({
  from: Timestamp.meta({ description: 'Open time of the first traded candle' }),
  to: Timestamp.meta({ description: 'End of the candles, of the pair whose candles end first' }),
  hyperopt_job_id: z
    .string()
    .nullable()
    .meta({ description: 'Hyperopt job that found the parameters; null without one' }),
  deflated_sharpe_ratio: z.number().nullable().meta({
    description:
      "The lower of the deflated Sharpe ratios of the hyperopt job and of the backtest's `trials`, 0 to 1; null without both or when undefined",
  }),
  trial_record: TrialRecord.optional().meta({
    description: '`trials` of the backtest; absent for backtests of earlier versions',
  }),
});
export type Evidence = z.infer<typeof Evidence>;

/** Content of a version. Written once at registration, never changed. */
export const VersionContent = z.object({
  backtest_run_id: z.string(),
  config: ResolvedBacktestConfig,
  container_image_uri: z.string().meta({ description: 'As registered' }),
  image_digest: z.string().nullable().meta({ description: '`sha256:…`; null where images are not resolved' }),
  metrics: BacktestResult,
  results: ResultsLocation.meta({ description: 'Trades and report of the backtest' }),
  thresholds: Thresholds.nullable(),
  candle_digest: z.string().meta({ description: 'Digest of all candles that the backtest read' }),
  strategy_digest: z.string(),
  engine_version: z.string(),
  trials: z.int().meta({
    description:
      'Trials to find this configuration: of its hyperopt job, or of the owner of the backtest if they are more',
  }),
  evidence: Evidence.optional().meta({ description: 'Absent: registered before it was kept' }),
});
export type VersionContent = z.infer<typeof VersionContent>;

/** Checks that an admin waived for one transition of a version: of the release policy, or `look_ahead` of a registration. */
export const Waiver = z
  .object({
    action: z.enum(['register', 'stage', 'promote']),
    checks: z.array(z.string()),
    reason: z.string(),
    actor: z.string(),
    at: Timestamp,
  })
  .meta({ id: 'Waiver' });
export type Waiver = z.infer<typeof Waiver>;

const waivers = z.array(Waiver).default([]).meta({ description: 'Checks that admins waived, oldest first' });

/** A stored version of a model: its content, and the state that transitions change. */
export const StoredVersion = VersionContent.extend({
  schema_version: z.literal(1),
  model_name: z.string(),
  version: z.string().meta({ description: 'Decimal number from 1' }),
  content_hash: z.string().meta({ description: 'sha-256 of the content as canonical JSON, hex' }),
  description: z.string(),
  tags: z.array(z.string()),
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  stage: z.enum(STAGES),
  validation: Validation,
  staged_at: Timestamp.nullable(),
  promoted_at: Timestamp.nullable(),
  archived_at: Timestamp.nullable(),
  rolled_back: z.boolean().meta({ description: 'A rollback took it out of Production' }),
  rolled_back_reason: z.string().nullable(),
  stopped: z.boolean().default(false).meta({ description: 'A stop took it out of Production' }),
  stopped_reason: z.string().nullable().default(null),
  waivers,
});
export type StoredVersion = z.infer<typeof StoredVersion>;

const REGISTRY_ACTIONS = ['register', 'stage', 'promote', 'rollback', 'stop', 'validate', 'label'] as const;
export type RegistryAction = (typeof REGISTRY_ACTIONS)[number];

/** One line of a model's history: insert-only, written in the transaction of the change. */
export const RegistryEvent = z.object({
  schema_version: z.literal(1),
  model_name: z.string(),
  event_id: z.string().meta({ description: 'A ULID' }),
  sequence: z.int().meta({ description: 'From 1 without gaps: the order of the transitions' }),
  at: Timestamp.meta({ description: 'Never before the event that came before' }),
  actor: z.string(),
  action: z.enum(REGISTRY_ACTIONS),
  version: z.string(),
  from: z.enum(STAGES).nullable(),
  to: z.enum(STAGES),
  previous_production: z.string().nullable().meta({ description: 'Before the change' }),
  production: z.string().nullable().meta({ description: 'After the change' }),
  archived_versions: z.array(z.string()),
  reason: z.string().nullable(),
  notes: z.array(z.string()).meta({ description: 'For example that validation was skipped, or forced' }),
  waiver: Waiver.pick({ checks: true, reason: true })
    .nullable()
    .default(null)
    .meta({ description: 'Checks that the actor waived for this change' }),
  challenge_id: z.string().nullable(),
  correlation_id: z.string(),
});
export type RegistryEvent = z.infer<typeof RegistryEvent>;

/** Response of a call, repeated for its Idempotency-Key. */
export const StoredIdempotencyRecord = z.object({
  schema_version: z.literal(1),
  principal: z.string(),
  key: z.string(),
  request_digest: z.string(),
  body: z.string().meta({ description: 'JSON' }),
  stored_at: z.int().meta({ description: 'Unix seconds' }),
  expires_at: z.int().meta({ description: 'Unix seconds' }),
});
export type StoredIdempotencyRecord = z.infer<typeof StoredIdempotencyRecord>;

/** A catalog row: of a version in Production or Staging. About 1 KB; more with many pairs or a long description. */
export const CatalogRow = z.object({
  name: z.string(),
  model_name: z.string(),
  version: z.string(),
  stage: z.enum(['Production', 'Staging']),
  description: z.string(),
  exchange: z.string(),
  pairs: z.array(z.string()),
  timeframe: z.string(),
  ml_engine: z.object({ enabled: z.boolean(), model_type: z.string() }),
  metrics: z.object({
    total_trades: z.int(),
    total_profit_pct: z.number(),
    sharpe_ratio: z.number(),
    profit_factor: z.number(),
    win_rate: z.number(),
    max_drawdown_pct: z.number(),
    undefined_metrics: UndefinedMetrics.optional().meta({
      description: 'Absent in rows of earlier versions',
    }),
  }),
  backtest_run_id: z.string(),
  owner: z.string(),
  tags: z.array(z.string()),
  validation_status: z.enum(VALIDATION_STATUSES),
  /** Rows of versions before have none. */
  look_ahead: z
    .enum(LOOK_AHEAD_STATES)
    .default('not_checked')
    .meta({ description: 'Result of the look-ahead bias check' }),
  waivers,
  created_at: Timestamp,
  updated_at: Timestamp,
  promoted_at: Timestamp.nullable(),
});
export type CatalogRow = z.infer<typeof CatalogRow>;
