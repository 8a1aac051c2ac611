import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { integerParameter, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { bounds } from '../values/bounds.ts';
import { CHALLENGE_DEFAULTS, CHALLENGE_LIMITS, EVALUATION_PAGE_LIMITS } from '../values/challenge-limits.ts';
import { MAX_ASSIGNMENT_KEY_LENGTH, MAX_NOTE_LENGTH } from '../values/registry-limits.ts';
import { VersionReference, waive } from './registry-api.ts';
import {
  ANALYSIS_UNITS,
  CANARY_STAGE_NAMES,
  CHALLENGE_STATUSES,
  ChallengeEvent,
  Hold,
  ON_ROLLBACK,
  OUTCOMES,
  PlannedLook,
  PromotionRejection,
  PValueMethod,
  StoredChallenge,
  StoredEvaluation,
  StoredTrade,
  VARIANTS,
} from './stored-challenge.ts';

/** Requests and responses of champion/challenger tests; trades have a file of their own. */

export const ChallengeRequest = z
  .looseObject({
    champion_version: VersionReference,
    challenger_version: VersionReference,
    min_trades: z
      .int()
      .optional()
      .meta({
        description:
          'Closed trades of each variant before the planned look. The minimum of the environment (100 or more) applies too',
        default: CHALLENGE_DEFAULTS.min_trades,
        ...bounds(CHALLENGE_LIMITS.min_trades),
      }),
    max_duration_hours: z
      .int()
      .optional()
      .meta({
        description: 'Maximum duration. Without a verdict by then the champion stays',
        default: CHALLENGE_DEFAULTS.max_duration_hours,
        ...bounds(CHALLENGE_LIMITS.max_duration_hours),
      }),
    enable_canary: z.boolean().optional().meta({
      description: 'Start with 5 % of the traffic for the challenger; without a canary with 50 %',
      default: CHALLENGE_DEFAULTS.enable_canary,
    }),
    max_drawdown_pct: z
      .number()
      .optional()
      .meta({
        description: 'Roll back when the challenger has lost this many percentage points since its peak',
        ...bounds(CHALLENGE_LIMITS.max_drawdown_pct),
      }),
    max_errors: z
      .int()
      .optional()
      .meta({
        description: 'Roll back when the challenger has more errors than this',
        ...bounds(CHALLENGE_LIMITS.max_errors),
      }),
    analysis_unit: z
      .string()
      .optional()
      .meta({
        description:
          'Unit of analysis: `trade`, or `assignment_key` when trades of one key (a client, a pair, a day) are correlated; they are then compared as one cluster',
        enum: [...ANALYSIS_UNITS],
        default: CHALLENGE_DEFAULTS.analysis_unit,
      }),
    approval_stages: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'Stages that the challenger enters only when an approver advances it. When one is due, the challenge is held',
        items: { type: 'string', enum: CANARY_STAGE_NAMES.slice(1) },
        uniqueItems: true,
        default: [],
      }),
    on_rollback: z
      .string()
      .optional()
      .meta({
        description:
          "The challenger's open positions after a rollback. `finish`: the challenger manages them to their end. `close`: `should_close` of their keys is true",
        enum: [...ON_ROLLBACK],
        default: CHALLENGE_DEFAULTS.on_rollback,
      }),
    auto_promote: z.boolean().optional().meta({
      description: 'Promote the challenger when it has won, subject to every rule of the registry',
      default: CHALLENGE_DEFAULTS.auto_promote,
    }),
    require_assignment: z.boolean().optional().meta({
      description:
        'Count only trades whose key was assigned before the trade was logged. Default: the setting of the platform, which is on in production',
    }),
  })
  .meta({
    id: 'ChallengeRequest',
    examples: [{ champion_version: '1', challenger_version: '2', min_trades: 100, max_duration_hours: 168 }],
  });

const split = z
  .array(z.number())
  .length(2)
  .meta({ description: 'Traffic share of the champion, then of the challenger; the sum is 1' });

const NextStage = z.object({
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  not_before: Timestamp.meta({ description: 'Earliest time: the minimum duration of the current stage' }),
  challenger_trades: z.int().meta({ description: 'Trades that the challenger closed in the current stage' }),
  trades_needed: z.int().meta({ description: 'Trades that the challenger must close in the current stage' }),
  needs_approval: z.boolean().meta({ description: 'True when an approver must advance the challenge' }),
});

export const Challenge = z
  .object({
    challenge_id: z.string(),
    model_name: z.string(),
    champion_version: z.string(),
    challenger_version: z.string(),
    status: z.enum(CHALLENGE_STATUSES),
    canary_stage: z.enum(CANARY_STAGE_NAMES),
    traffic_split: split,
    next_stage: NextStage.nullable().meta({
      description: 'Conditions of the next canary stage; null in the last stage',
    }),
    outcome: z.enum(OUTCOMES).nullable(),
    reason: StoredChallenge.shape.reason,
    hold: Hold.nullable().meta({ description: 'Reason why the challenge does not advance automatically' }),
    enable_canary: z.boolean(),
    min_trades: z.int(),
    effective_min_trades: z.int(),
    min_hours: z.int().meta({ description: 'Minimum hours before the verdict' }),
    min_assignments: z.int().meta({ description: 'Assignments of each variant before the verdict' }),
    max_duration_hours: z.int(),
    max_drawdown_pct: z.number().nullable(),
    max_errors: z.int().nullable(),
    approval_stages: z.array(z.enum(CANARY_STAGE_NAMES)),
    analysis_unit: z.enum(ANALYSIS_UNITS),
    on_rollback: z.enum(ON_ROLLBACK),
    auto_promote: z.boolean(),
    require_assignment: z.boolean(),
    champion_trades: z.int().meta({ description: 'Closed trades that are analyzed' }),
    challenger_trades: z.int(),
    champion_errors: z.int(),
    challenger_errors: z.int(),
    challenger_drawdown_pct: z.number().meta({
      description: 'Maximum loss of the closed trades since a peak, percentage points',
    }),
    misassigned_trades: z.int(),
    unassigned_trades: z.int().meta({ description: 'Without an assigned key, where one is required' }),
    late_trades: z.int().meta({ description: 'Opened before the start, or logged after the end' }),
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    ends_at: Timestamp,
    ended_at: Timestamp.nullable(),
    promoted_at: Timestamp.nullable(),
    promotion_rejected: PromotionRejection.nullable().meta({
      description: 'Reason why the winner was not promoted automatically: an approver must promote it',
    }),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Challenge' });
export type Challenge = z.infer<typeof Challenge>;
export const ChallengeList = paginated(Challenge).meta({ id: 'ChallengeList' });

export const ChallengeParams = z.object({
  challenge_id: z
    .string()
    .regex(/^ch-[0-9A-Za-z]{1,60}$/)
    .meta({ description: '`ch-<id>`' }),
});

export const ChallengesQuery = z.object({
  status: z.enum(CHALLENGE_STATUSES).optional().meta({ description: 'Only challenges in this status' }),
  ...PAGE_FIELDS,
});
export const ChallengePageQuery = z.object(PAGE_FIELDS);

export const ChallengeTradeList = paginated(
  StoredTrade.omit({ schema_version: true, challenge_id: true, open_digest: true, closed_digest: true })
    .extend({ unassigned: StoredTrade.shape.unassigned.removeDefault() })
    .meta({ id: 'ChallengeTrade' }),
).meta({ id: 'ChallengeTradeList' });

export const ChallengeEventList = paginated(
  ChallengeEvent.omit({ schema_version: true, challenge_id: true, written_at: true })
    .extend({ warnings: ChallengeEvent.shape.warnings.removeDefault() })
    .meta({ id: 'ChallengeEvent' }),
).meta({ id: 'ChallengeEventList' });

const MeanProfit = z.number().nullable();

const Evaluation = StoredEvaluation.omit({ schema_version: true, challenge_id: true }).extend({
  mean: z.object({ champion: MeanProfit, challenger: MeanProfit }).meta({
    description:
      'Equity per trade: mean profit of the closed trades of each variant so far, percent; null without trades',
  }),
});

export const ChallengeEvaluationsQuery = z.object({
  ...PAGE_FIELDS,
  limit: integerParameter({
    ...EVALUATION_PAGE_LIMITS,
    description: 'Maximum number of items on a page',
  }).default(EVALUATION_PAGE_LIMITS.default),
});

export const ChallengeEvaluationList = paginated(Evaluation.meta({ id: 'ChallengeEvaluationStep' }))
  .extend({
    current: Evaluation.omit({ sequence: true }).meta({
      id: 'CurrentChallengeEvaluation',
      description: 'Evaluation at the time of the request, on every page; it is not stored',
    }),
  })
  .meta({ id: 'ChallengeEvaluationList' });

const ASSIGNMENT_KEY = 'ID of the entry signal or position. The assignment is decided once, at the entry';

export const AssignmentRequest = z
  .looseObject({
    assignment_key: z
      .string()
      .meta({ description: ASSIGNMENT_KEY, minLength: 1, maxLength: MAX_ASSIGNMENT_KEY_LENGTH }),
  })
  .meta({ id: 'AssignmentRequest', examples: [{ assignment_key: 'order-1' }] });

const decision = {
  assignment_key: z.string(),
  variant: z.enum(VARIANTS),
  version: z.string().nullable().meta({
    description:
      'Version that decides for this key; null when no version is in Production, and for every key of a stopped model',
  }),
  entry_version: z.string().nullable().meta({
    description:
      'Version for new positions of this key: `version` while the challenge routes, afterwards the version in Production; null when there is none',
  }),
  canary_stage: z.enum(CANARY_STAGE_NAMES).meta({ description: 'Canary stage of the assignment' }),
  bucket: z
    .number()
    .meta({ description: '0 to 1: the challenger gets the key when it is below its traffic share' }),
  traffic_split: split,
  should_close: z.boolean().meta({
    description:
      'Close the position: the model was stopped and has no version in Production; or its version was rolled back or stopped since, or rolled back as the challenger of this or the last challenge with `on_rollback: close`. False while its version is in Production',
  }),
};

export const Assignment = z
  .object({
    challenge_id: z.string(),
    ...decision,
    variant: decision.variant.nullable().meta({
      description:
        'null after the end, when a new key gets a version that is neither of the two, and for a new key of a stopped model',
    }),
    repeated: z.boolean().meta({ description: 'True when the key was assigned before' }),
  })
  .meta({ id: 'Assignment' });
export type Assignment = z.infer<typeof Assignment>;

export const RouteQuery = z.object({ key: stringParameter(MAX_ASSIGNMENT_KEY_LENGTH, ASSIGNMENT_KEY) });
const { assignment_key: key, ...routed } = decision;
export const Route = z
  .object({
    model_name: z.string(),
    key,
    version: routed.version,
    entry_version: routed.entry_version,
    challenge_id: z.string().nullable().meta({ description: 'null without a challenge: plain Production' }),
    variant: routed.variant.nullable(),
    canary_stage: routed.canary_stage.nullable(),
    bucket: routed.bucket.nullable(),
    traffic_split: routed.traffic_split.nullable(),
    should_close: routed.should_close,
  })
  .meta({ id: 'Route' });
export type Route = z.infer<typeof Route>;

const note = z
  .string()
  .optional()
  .meta({ description: 'Recorded in the history', maxLength: MAX_NOTE_LENGTH });

export const AdvanceRequest = z
  .looseObject({
    canary_stage: z
      .string()
      .optional()
      .meta({
        description: 'The next stage; the current stage changes nothing. Default: the next stage',
        enum: [...CANARY_STAGE_NAMES],
      }),
    comment: note,
  })
  .meta({ id: 'AdvanceRequest', examples: [{ canary_stage: 'stage_2' }] });
export const HoldRequest = z.looseObject({ reason: note }).meta({ id: 'HoldRequest', examples: [{}] });
export const ResumeRequest = z.looseObject({ comment: note }).meta({ id: 'ResumeRequest', examples: [{}] });
export const ChallengePromoteRequest = z
  .looseObject({ comment: note, waive })
  .meta({ id: 'ChallengePromoteRequest', examples: [{}] });
export const ChallengeRollbackRequest = z
  .looseObject({ reason: note })
  .meta({ id: 'ChallengeRollbackRequest', examples: [{ reason: 'Slippage' }] });

const number = z.number();
const perVariant = z.object({ champion: z.int(), challenger: z.int() });
const unrealised = z.object({
  open: z.int(),
  marked: z.int().meta({ description: 'Open trades with an unrealized profit' }),
  mean_pct: number.nullable(),
});

const condition = z.object({
  value: number.meta({ description: 'Current value' }),
  needed: number,
  met: z.boolean(),
});

export const ChallengeEvaluation = z
  .object({
    challenge_id: z.string(),
    status: z.enum(CHALLENGE_STATUSES),
    recommendation: z
      .enum(['PROMOTE_CHALLENGER', 'KEEP_CHAMPION', 'ROLLBACK', 'CONTINUE'])
      .meta({ description: 'Stored when a trade is logged or the challenge ends, never by a read' }),
    champion_mean: number.meta({ description: 'Profit of a trade in percent, weighted over the stages' }),
    challenger_mean: number,
    improvement_pct: number,
    p_value: number.meta({ description: 'Two-sided; it may be looked at after every trade' }),
    is_significant: z.boolean().meta({ description: '`p_value` is below 0.05' }),
    p_value_method: PValueMethod,
    p_value_fixed: number.meta({ description: 'p-value of the fixed-sample test, valid for a single look' }),
    confidence_interval: z.array(number).length(2).nullable().meta({
      description: '95 % confidence sequence of the difference of the means; null without data',
    }),
    raw: z
      .object({ champion_mean: number, challenger_mean: number })
      .meta({ description: 'Means over all stages as one' }),
    criteria: z
      .array(
        z.object({
          name: z.string(),
          operator: z.enum(['<', '>', '<=', '>=']),
          threshold: number,
          value: number,
          passed: z.boolean(),
        }),
      )
      .meta({
        description: 'All must pass, and all `conditions` be met, before the challenger is recommended',
      }),
    conditions: z.object({ trades: condition, assignments: condition, hours: condition }).meta({
      description:
        'Conditions of the verdict: closed trades and assignments of the variant that has fewer, and hours since the creation. All must be met',
    }),
    champion_version: z.string(),
    challenger_version: z.string(),
    champion_trades: z.int(),
    challenger_trades: z.int(),
    open_trades: perVariant,
    errors: perVariant,
    unrealised: z.object({ champion: unrealised, challenger: unrealised }).meta({
      description:
        'Unrealized profit of the open trades. It is part of the last look at the end of the challenge',
    }),
    analysis_unit: z.enum(ANALYSIS_UNITS),
    clusters: perVariant.nullable().meta({
      description: 'Keys with a closed trade that counts; null when trades are compared one by one',
    }),
    assignments: perVariant,
    min_trades: z.int(),
    effective_min_trades: z.int(),
    srm: z
      .object({ p_value: number, status: z.enum(['healthy', 'mismatch', 'no_assignments']) })
      .meta({ description: 'Sample ratio mismatch check of the assignments' }),
    planned_look: PlannedLook.nullable().meta({ description: 'When both variants first had their trades' }),
    canary_stage: z.enum(CANARY_STAGE_NAMES),
    traffic_split: z.array(number).length(2),
    warnings: z.array(z.string()),
    minimum_detectable_improvement_pct: number
      .nullable()
      .meta({ description: 'Minimum detectable effect with a power of 80 %; null without a baseline' }),
    trades_needed: number
      .nullable()
      .meta({ description: 'Trades of each variant needed to detect an improvement of 10 %' }),
    evaluated_at: Timestamp,
  })
  .meta({ id: 'ChallengeEvaluation' });
export type ChallengeEvaluation = z.infer<typeof ChallengeEvaluation>;
