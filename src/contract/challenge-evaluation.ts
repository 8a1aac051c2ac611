import * as z from 'zod';
import { Timestamp } from './common.ts';
import {
  ANALYSIS_UNITS,
  CANARY_STAGE_NAMES,
  CHALLENGE_STATUSES,
  PlannedLook,
  PValueMethod,
} from './stored-challenge.ts';

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
        'Before all are met there is no verdict: closed trades and assignments of the variant that has fewer, and hours since the creation',
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
