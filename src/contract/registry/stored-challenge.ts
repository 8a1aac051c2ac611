import * as z from 'zod';
import { Timestamp } from '../common/time.ts';

/** Stored shapes of champion/challenger tests, in the registry table. */

/** Traffic share of the challenger by canary stage. */
export const CANARY_STAGES = [
  { name: 'stage_1', share: 0.05 },
  { name: 'stage_2', share: 0.1 },
  { name: 'stage_3', share: 0.25 },
  { name: 'stage_4', share: 0.5 },
] as const;
export const CANARY_STAGE_NAMES = ['stage_1', 'stage_2', 'stage_3', 'stage_4'] as const;
export type CanaryStage = (typeof CANARY_STAGE_NAMES)[number];

export const CHALLENGE_STATUSES = ['active', 'completed', 'rolled_back', 'expired'] as const;
export const OUTCOMES = ['challenger_wins', 'champion_wins', 'champion_kept', 'promoted_manually'] as const;
const ROLLBACK_REASONS = [
  'harm',
  'max_drawdown',
  'errors',
  'manual',
  'champion_replaced',
  'champion_stopped',
] as const;
/** Handling of the challenger's open positions after a rollback. */
export const ON_ROLLBACK = ['finish', 'close'] as const;
export const VARIANTS = ['champion', 'challenger'] as const;
export type Variant = (typeof VARIANTS)[number];

export const ANALYSIS_UNITS = ['trade', 'assignment_key'] as const;

/**
 * A number to about 32 digits as the unevaluated sum of two: the nearest double and the remainder. Sums of many values lose
 * nothing that shows in a variance. The order in which values are added and removed does not matter.
 */
const DoubleDouble = z.tuple([z.number(), z.number()]).readonly();
export type DoubleDouble = z.infer<typeof DoubleDouble>;

/** Totals over clusters: the n trades of one assignment key with the sum S of their profits. A trade without a key is a cluster. */
const ClusterTotals = z.object({
  count: z.int().meta({ description: 'Number of clusters' }),
  squares: DoubleDouble.meta({ description: 'Sum of S^2' }),
  products: DoubleDouble.meta({ description: 'Sum of S n' }),
  sizes: z.int().meta({ description: 'Sum of n^2' }),
});
export type ClusterTotals = Readonly<z.infer<typeof ClusterTotals>>;

/** Totals of one variant's trades entered in one stage: sufficient for every statistic but the permutation test. */
const VariantTotals = z.object({
  assigned: z.int().meta({ description: 'Assignment keys of this variant' }),
  open: z.int(),
  closed: z.int(),
  errors: z.int(),
  sum: DoubleDouble.meta({ description: 'Sum of profit_pct of the closed trades' }),
  sum_of_squares: DoubleDouble,
  clusters: ClusterTotals.nullable().meta({
    description:
      'Clusters of the closed trades; null when the unit of analysis is the trade, and before the first trade',
  }),
  marked: z
    .object({
      count: z.int(),
      sum: DoubleDouble,
      sum_of_squares: DoubleDouble,
      clusters: ClusterTotals.nullable().meta({
        description: 'Clusters of the closed trades and the open trades with an unrealized profit',
      }),
    })
    .nullable()
    .meta({ description: 'Open trades with an unrealized profit; null without one' }),
});
export type VariantTotals = z.infer<typeof VariantTotals>;

const StageTotals = z.object({
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  since: Timestamp,
  champion: VariantTotals,
  challenger: VariantTotals,
});
export type StageTotals = z.infer<typeof StageTotals>;

export const Hold = z.object({
  reason: z.enum(['manual', 'approval', 'sample_ratio_mismatch', 'open_trades', 'no_traffic']),
  since: Timestamp,
  note: z.string().nullable(),
});
export type Hold = z.infer<typeof Hold>;

export const PValueMethod = z.enum(['welch', 'permutation', 'always_valid']);

export const PlannedLook = z.object({
  at: Timestamp,
  champion_trades: z.int(),
  challenger_trades: z.int(),
  p_value: z.number(),
  p_value_method: PValueMethod,
  improvement_pct: z.number(),
});

/** Reason why a winner was not promoted automatically. */
export const PromotionRejection = z.object({ at: Timestamp, code: z.string(), message: z.string() });

export const StoredChallenge = z.object({
  schema_version: z.literal(2),
  challenge_id: z.string(),
  model_name: z.string(),
  champion_version: z.string(),
  challenger_version: z.string(),
  status: z.enum(CHALLENGE_STATUSES),
  outcome: z.enum(OUTCOMES).nullable(),
  reason: z.enum(ROLLBACK_REASONS).nullable().meta({
    description:
      'Reason of a rollback, and of a winner that was abandoned because another version entered Production',
  }),
  enable_canary: z.boolean(),
  min_trades: z.int(),
  effective_min_trades: z
    .int()
    .meta({ description: 'Closed trades of each variant before the planned look' }),
  min_hours: z.int().default(0).meta({ description: 'Minimum hours before the verdict' }),
  min_assignments: z
    .int()
    .default(0)
    .meta({ description: 'Assignments that each variant must have before the verdict' }),
  max_duration_hours: z.int(),
  max_drawdown_pct: z.number().nullable(),
  max_errors: z.int().nullable(),
  approval_stages: z
    .array(z.enum(CANARY_STAGE_NAMES))
    .meta({ description: 'Stages that an approver must advance' }),
  on_rollback: z
    .enum(ON_ROLLBACK)
    .meta({ description: "Handling of the challenger's positions after a rollback" }),
  auto_promote: z.boolean().meta({ description: 'The platform promotes the challenger when it has won' }),
  require_assignment: z
    .boolean()
    .default(false)
    .meta({ description: 'Only trades count whose key was assigned before' }),
  stages: z.array(StageTotals).meta({ description: 'Stages reached so far, the current one last' }),
  hold: Hold.nullable(),
  acknowledged_holds: z
    .array(Hold.shape.reason)
    .meta({ description: 'Resumed although the cause was there' }),
  planned_look: PlannedLook.nullable(),
  equity: z.object({ profit: z.number(), peak: z.number(), drawdown: z.number() }).meta({
    description: "Equity of the challenger's closed trades in the order of logging, percentage points",
  }),
  analysis_unit: z
    .enum(ANALYSIS_UNITS)
    .meta({ description: 'Unit of analysis: trades, or keys with all their trades' }),
  keys_with_several_trades: z.int().meta({ description: 'Closed ones that count' }),
  trades: z.int().meta({ description: 'Number of logged trades, excluded ones too' }),
  misassigned: z.int(),
  unassigned: z.int().default(0),
  late: z.int(),
  evaluations: z.int().default(0).meta({ description: 'Number of stored evaluations' }),
  evaluated_trades: z
    .int()
    .default(0)
    .meta({ description: 'Closed trades of both variants at the last stored evaluation' }),
  warnings: z.array(z.string()).meta({ description: 'Warnings at the creation' }),
  revision: z.int().meta({ description: 'Increases with every write; used for optimistic concurrency' }),
  events: z.int(),
  created_by: z.string(),
  creator: z
    .object({ groups: z.array(z.string()), is_admin: z.boolean() })
    .nullable()
    .default(null)
    .meta({
      description: 'What gave its creator access to the model; null for a challenge from before this field',
    }),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_traffic_at: Timestamp,
  ends_at: Timestamp,
  ended_at: Timestamp.nullable(),
  promoted_at: Timestamp.nullable(),
  promotion_rejected: PromotionRejection.nullable(),
});
export type StoredChallenge = z.infer<typeof StoredChallenge>;

/** `error`: the strategy failed to decide or to trade; not counted as a trade. Final, like `closed`. */
export const TRADE_STATUSES = ['open', 'closed', 'error'] as const;

/** Details of a trade as posted. */
export const TradeDetails = z.object({
  profit_pct: z.number().nullable().meta({
    description: 'Profit after fees, percent of the stake; for an open trade the unrealized profit',
  }),
  profit_abs: z.number().nullable(),
  stake_amount: z.number().nullable(),
  fee_abs: z.number().nullable(),
  leverage: z.number().nullable(),
  pair: z.string().nullable(),
  side: z.enum(['long', 'short']).nullable(),
  opened_at: Timestamp.nullable(),
  closed_at: Timestamp.nullable(),
  exit_reason: z.string().nullable(),
  exchange: z.string().nullable(),
  mode: z.enum(['live', 'paper']).nullable(),
  assignment_key: z.string().nullable(),
  error_message: z.string().nullable(),
});
export type TradeDetails = z.infer<typeof TradeDetails>;

/** A trade of a challenge. It may be open first; once closed it never changes. */
export const StoredTrade = TradeDetails.extend({
  schema_version: z.literal(1),
  challenge_id: z.string(),
  trade_id: z.string(),
  sequence: z.int().meta({ description: 'From 1, as they were logged' }),
  variant: z.enum(VARIANTS),
  canary_stage: z
    .enum(CANARY_STAGE_NAMES)
    .meta({ description: 'When it was entered: what it is compared in' }),
  status: z.enum(TRADE_STATUSES),
  misassigned: z.boolean().meta({ description: 'Its key belongs to the other variant: it does not count' }),
  unassigned: z.boolean().default(false).meta({
    description: 'The challenge requires assignments, and its key had none: it does not count',
  }),
  late: z.boolean().meta({
    description:
      'True outside of the challenge, when it was opened before the start, or logged or closed after the end: it does not count',
  }),
  open_digest: z
    .string()
    .nullable()
    .meta({ description: 'Digest of the request that opened it, without the unrealized profit' }),
  closed_digest: z
    .string()
    .nullable()
    .meta({ description: 'Digest of the request that closed it or reported its error' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type StoredTrade = z.infer<typeof StoredTrade>;

/** Input of the permutation test. */
export const TradeResult = StoredTrade.pick({
  trade_id: true,
  variant: true,
  canary_stage: true,
  status: true,
  profit_pct: true,
  assignment_key: true,
  misassigned: true,
  unassigned: true,
  late: true,
});
export type TradeResult = z.infer<typeof TradeResult>;

/** Assignment of a key, which later requests repeat, and the totals of its trades. */
export const StoredAssignment = z.object({
  schema_version: z.literal(1),
  challenge_id: z.string(),
  assignment_key: z.string(),
  variant: z.enum(VARIANTS),
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  bucket: z.number(),
  at: Timestamp,
  revision: z.int().meta({ description: 'Rises with every write' }),
  closed: z.int().meta({ description: 'Closed trades of this key that count' }),
  sum: DoubleDouble.meta({ description: 'Sum of profit_pct' }),
  marked: z.int().meta({ description: 'Open trades with an unrealized profit' }),
  marked_sum: DoubleDouble,
});
export type StoredAssignment = z.infer<typeof StoredAssignment>;

const perVariant = z.object({ champion: z.number(), challenger: z.number() });

/** How the variants compared after a change, written in the transaction of the change. */
export const StoredEvaluation = z.object({
  schema_version: z.literal(1),
  challenge_id: z.string(),
  sequence: z.int().meta({ description: 'From 1, in the order of time' }),
  evaluated_at: Timestamp,
  status: z.enum(CHALLENGE_STATUSES),
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  traffic_split: z
    .array(z.number())
    .length(2)
    .meta({ description: 'Traffic share of the champion, then of the challenger; the sum is 1' }),
  champion_trades: z.int().meta({ description: 'Closed trades that are analyzed' }),
  challenger_trades: z.int(),
  difference: z.number().meta({
    description:
      'Mean profit of a trade of the challenger minus that of the champion, percentage points, weighted over the stages',
  }),
  confidence_interval: z.array(z.number()).length(2).nullable().meta({
    description: '95 % confidence sequence of `difference`; null without data',
  }),
  improvement_pct: z.number().meta({ description: '`difference` in percent of the mean of the champion' }),
  p_value: z.number().meta({ description: 'Two-sided' }),
  p_value_method: PValueMethod,
  equity: perVariant.meta({
    description:
      'Sum of the profits of the closed trades of each variant, percentage points, without compounding',
  }),
});
export type StoredEvaluation = z.infer<typeof StoredEvaluation>;

const CHALLENGE_ACTIONS = [
  'create',
  'advance',
  'hold',
  'resume',
  'planned_look',
  'complete',
  'expire',
  'roll_back',
  'promote',
  'promotion_rejected',
  'keep_champion',
] as const;
export type ChallengeAction = (typeof CHALLENGE_ACTIONS)[number];

/** One line of a challenge's history: insert-only, written in the transaction of the change. */
export const ChallengeEvent = z.object({
  schema_version: z.literal(2),
  challenge_id: z.string(),
  sequence: z.int(),
  at: Timestamp,
  actor: z.string().meta({ description: 'User ID; `platform` for automatic actions' }),
  action: z.enum(CHALLENGE_ACTIONS),
  status: z.enum(CHALLENGE_STATUSES).meta({ description: 'After it' }),
  outcome: z.enum(OUTCOMES).nullable(),
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  reason: z.string().nullable(),
  warnings: z
    .array(z.string())
    .default([])
    .meta({ description: 'Warnings of a promotion, from the creation of the challenge' }),
  correlation_id: z.string().nullable(),
  /** Time of the write, where the event has that of a deadline before it. */
  written_at: Timestamp.optional(),
});
export type ChallengeEvent = z.infer<typeof ChallengeEvent>;
