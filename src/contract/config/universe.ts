import * as z from 'zod';
import { bounds } from '../values/bounds.ts';
import { REBALANCES, UNIVERSE_DEFAULTS, UNIVERSE_LIMITS, UNIVERSE_RULES } from '../values/universe-limits.ts';

/** Pairs of a run that change over time, each choice from candles that were known then. */
export const Universe = z
  .object({
    rule: z.enum(UNIVERSE_RULES),
    n: z.int().meta({ description: 'Pairs at a time' }),
    lookback_days: z.int().meta({ description: 'Days before a choice whose volumes are added up' }),
    rebalance: z.enum(REBALANCES).meta({ description: 'When the pairs are chosen again, at 00:00 UTC' }),
    min_age_days: z.int().meta({ description: 'Days since the first stored candle of a pair' }),
    delisting_haircut: z.number().default(0).meta({
      description:
        'Ratio of the last close by which positions in a delisted pair are closed below it, or above it for shorts; 0 in jobs of engines before 1.8.0, which closed them at the last open',
    }),
    candidates: z.array(z.string()).meta({ description: 'Pairs to choose from, in the order of the run' }),
  })
  .meta({ id: 'Universe' });
export type Universe = z.infer<typeof Universe>;

/** The universe of a request. Its keys are checked when it is resolved. */
export const UniverseRequest = z.looseObject({
  rule: z
    .string()
    .optional()
    .meta({
      description: '`top_volume`: the pairs with the largest volume in quote currency',
      enum: [...UNIVERSE_RULES],
      default: UNIVERSE_RULES[0],
    }),
  n: z
    .int()
    .optional()
    .meta({ description: 'Required. Pairs at a time', ...bounds(UNIVERSE_LIMITS.n) }),
  lookback_days: z
    .int()
    .optional()
    .meta({
      description: 'Days before a choice whose volumes are added up; a day without candles counts 0',
      default: UNIVERSE_DEFAULTS.lookback_days,
      ...bounds(UNIVERSE_LIMITS.lookback_days),
    }),
  rebalance: z
    .string()
    .optional()
    .meta({
      description:
        'When the pairs are chosen again, at 00:00 UTC: every day, on Mondays, or on the first of a month',
      enum: [...REBALANCES],
      default: UNIVERSE_DEFAULTS.rebalance,
    }),
  min_age_days: z
    .int()
    .optional()
    .meta({
      description: 'Days since the first stored candle from which a pair may be chosen',
      default: UNIVERSE_DEFAULTS.min_age_days,
      ...bounds(UNIVERSE_LIMITS.min_age_days),
    }),
  delisting_haircut: z
    .number()
    .optional()
    .meta({
      description:
        'Ratio of the last close by which positions in a pair that was delisted within the run are closed below it, or above it for shorts; 1: a long loses everything',
      default: UNIVERSE_DEFAULTS.delisting_haircut,
      ...bounds(UNIVERSE_LIMITS.delisting_haircut),
    }),
  candidates: z.array(z.string()).optional().meta({
    description:
      'Pairs to choose from, in place of `pairs`: the configuration of a job names them, so that a repeated run chooses from all of them',
  }),
});
