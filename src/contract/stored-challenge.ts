import * as z from 'zod';
import { Timestamp } from './common.ts';

/** Stored shapes of champion/challenger tests, in the registry table. */

/** The share of assignments that go to the challenger, by stage: the ladder of a canary. */
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
const ROLLBACK_REASONS = ['harm', 'max_drawdown', 'errors', 'manual', 'champion_replaced'] as const;
/** What a trader does with the challenger's open positions when it was rolled back. */
export const ON_ROLLBACK = ['finish', 'close'] as const;
export const VARIANTS = ['champion', 'challenger'] as const;
export type Variant = (typeof VARIANTS)[number];

export const ANALYSIS_UNITS = ['trade', 'assignment_key'] as const;

/** A sum to about 32 digits: the nearest double, and what it leaves out. */
const DoubleDouble = z.tuple([z.number(), z.number()]).readonly();

/** Of the trades of one assignment key each (a trade without a key is alone), n of them with the sum S of their profits. */
const ClusterTotals = z.object({
  count: z.int().meta({ description: 'Keys with such a trade' }),
  squares: DoubleDouble.meta({ description: 'Sum of S^2' }),
  products: DoubleDouble.meta({ description: 'Sum of S n' }),
  sizes: z.int().meta({ description: 'Sum of n^2' }),
});

/** What is known of one variant's trades that were entered in one stage: enough for every statistic but the permutation test. */
const VariantTotals = z.object({
  assigned: z.int().meta({ description: 'Assignment keys that got this variant' }),
  open: z.int(),
  closed: z.int(),
  errors: z.int(),
  sum: DoubleDouble.meta({ description: 'Of profit_pct of the closed trades' }),
  sum_of_squares: DoubleDouble,
  clusters: ClusterTotals.nullable().meta({
    description: 'Of the closed trades; null where trades are compared one by one, and before the first',
  }),
  marked: z
    .object({
      count: z.int(),
      sum: DoubleDouble,
      sum_of_squares: DoubleDouble,
      clusters: ClusterTotals.nullable().meta({ description: 'Of the closed and the marked trades' }),
    })
    .nullable()
    .meta({ description: 'Open trades with an unrealised result; null when there are none' }),
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

/** Why the platform did not promote a winner by itself. */
export const PromotionRejection = z.object({ at: Timestamp, code: z.string(), message: z.string() });

export const StoredChallenge = z.object({
  schema_version: z.literal(2),
  challenge_id: z.string(),
  model_name: z.string(),
  champion_version: z.string(),
  challenger_version: z.string(),
  status: z.enum(CHALLENGE_STATUSES),
  outcome: z.enum(OUTCOMES).nullable(),
  reason: z
    .enum(ROLLBACK_REASONS)
    .nullable()
    .meta({ description: 'Of a rollback, and of a winner given up as another version came into Production' }),
  enable_canary: z.boolean(),
  min_trades: z.int(),
  effective_min_trades: z
    .int()
    .meta({ description: 'Closed trades of each variant before the planned look' }),
  min_hours: z.int().default(0).meta({ description: 'Hours that it must have lasted before the verdict' }),
  min_assignments: z
    .int()
    .default(0)
    .meta({ description: 'Assignments that each variant must have before the verdict' }),
  max_duration_hours: z.int(),
  max_drawdown_pct: z.number().nullable(),
  max_errors: z.int().nullable(),
  approval_stages: z
    .array(z.enum(CANARY_STAGE_NAMES))
    .meta({ description: 'Entered only when somebody advances' }),
  on_rollback: z.enum(ON_ROLLBACK).meta({ description: "What becomes of the challenger's positions" }),
  auto_promote: z.boolean().meta({ description: 'The platform promotes the challenger when it has won' }),
  stages: z.array(StageTotals).meta({ description: 'Those that were reached, the current one last' }),
  hold: Hold.nullable(),
  acknowledged_holds: z
    .array(Hold.shape.reason)
    .meta({ description: 'Resumed although the cause was there' }),
  planned_look: PlannedLook.nullable(),
  equity: z.object({ profit: z.number(), peak: z.number(), drawdown: z.number() }).meta({
    description: "Of the challenger's closed trades as they came, percent points",
  }),
  analysis_unit: z
    .enum(ANALYSIS_UNITS)
    .meta({ description: 'What is independent of each other: trades, or keys with all their trades' }),
  keys_with_several_trades: z.int().meta({ description: 'Closed ones that count' }),
  trades: z.int().meta({ description: 'Trades logged, whatever became of them' }),
  misassigned: z.int(),
  late: z.int(),
  warnings: z.array(z.string()).meta({ description: 'Of its creation' }),
  revision: z
    .int()
    .meta({ description: 'Rises with every write: whoever read an older one must read again' }),
  events: z.int(),
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_traffic_at: Timestamp,
  ends_at: Timestamp,
  ended_at: Timestamp.nullable(),
  promoted_at: Timestamp.nullable(),
  promotion_rejected: PromotionRejection.nullable(),
});
export type StoredChallenge = z.infer<typeof StoredChallenge>;

/** An error is no trade: the strategy failed to decide or to trade. It changes no more, like a closed one. */
export const TRADE_STATUSES = ['open', 'closed', 'error'] as const;

/** What a caller tells of a trade beyond which variant it was of. */
export const TradeDetails = z.object({
  profit_pct: z
    .number()
    .nullable()
    .meta({ description: 'Net of fees, percent of the stake; of an open trade its unrealised result' }),
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
  late: z.boolean().meta({ description: 'It came or closed after the end: it does not count' }),
  open_digest: z.string().nullable().meta({ description: 'Of the request that opened it, without its mark' }),
  closed_digest: z
    .string()
    .nullable()
    .meta({ description: 'Of the request that closed it, or told its error' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type StoredTrade = z.infer<typeof StoredTrade>;

/** What of a trade the permutation test looks at. */
export const TradeResult = StoredTrade.pick({
  trade_id: true,
  variant: true,
  canary_stage: true,
  status: true,
  profit_pct: true,
  assignment_key: true,
  misassigned: true,
  late: true,
});
export type TradeResult = z.infer<typeof TradeResult>;

/** The first answer for a key, which every later one repeats, and what its trades came to. */
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
  sum: DoubleDouble.meta({ description: 'Of their profit_pct' }),
  marked: z.int().meta({ description: 'Open ones with an unrealised result' }),
  marked_sum: DoubleDouble,
});
export type StoredAssignment = z.infer<typeof StoredAssignment>;

const CHALLENGE_ACTIONS = [
  ...(['create', 'advance', 'hold', 'resume', 'planned_look'] as const),
  ...(['complete', 'expire', 'roll_back', 'promote', 'promotion_rejected', 'keep_champion'] as const),
] as const;
export type ChallengeAction = (typeof CHALLENGE_ACTIONS)[number];

/** One line of a challenge's history: insert-only, written in the transaction of the change that it tells. */
export const ChallengeEvent = z.object({
  schema_version: z.literal(2),
  challenge_id: z.string(),
  sequence: z.int(),
  at: Timestamp,
  actor: z.string().meta({ description: '`platform` for what nobody asked for' }),
  action: z.enum(CHALLENGE_ACTIONS),
  status: z.enum(CHALLENGE_STATUSES).meta({ description: 'After it' }),
  outcome: z.enum(OUTCOMES).nullable(),
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  reason: z.string().nullable(),
  warnings: z
    .array(z.string())
    .default([])
    .meta({ description: 'Of a promotion: what spoke against it when the challenge was created' }),
  correlation_id: z.string().nullable(),
});
export type ChallengeEvent = z.infer<typeof ChallengeEvent>;
