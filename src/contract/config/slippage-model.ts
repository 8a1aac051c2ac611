import * as z from 'zod';
import { bounds } from '../values/bounds.ts';
import {
  SLIPPAGE_MODEL_DEFAULTS,
  SLIPPAGE_MODEL_LIMITS,
  SPREAD_ESTIMATORS,
} from '../values/slippage-limits.ts';

const { spread_days, impact, participation } = SLIPPAGE_MODEL_LIMITS;

/** Costs of market fills that are estimated from candles, in addition to `slippage`. Each part is optional. */
export const SlippageModel = z
  .object({
    spread: z.enum(SPREAD_ESTIMATORS).optional().meta({
      description: 'Estimator of the bid-ask spread, half of which every market fill pays. Absent: no spread',
    }),
    spread_days: z.int().optional().meta({
      description: 'Days before the fill from which the spread is estimated; only with `spread`',
    }),
    impact: z.number().optional().meta({
      description:
        'Coefficient of the square-root impact: the price moves by it times daily volatility times sqrt(amount / daily volume). Absent: no impact',
    }),
    participation: z.number().optional().meta({
      description:
        'Largest fill as a share of the volume of the candle before it. Absent: orders of any size fill',
    }),
  })
  .meta({ id: 'SlippageModel' });
export type SlippageModel = z.infer<typeof SlippageModel>;

/** The model of a request. Its keys are checked when it is resolved. */
export const SlippageModelRequest = z.looseObject({
  spread: z
    .string()
    .optional()
    .meta({
      description:
        'Estimator of the bid-ask spread, half of which every market fill pays. Default: no spread',
      enum: [...SPREAD_ESTIMATORS],
    }),
  spread_days: z
    .int()
    .optional()
    .meta({
      description: 'Days before the fill from which the spread is estimated',
      default: SLIPPAGE_MODEL_DEFAULTS.spread_days,
      ...bounds(spread_days),
    }),
  impact: z
    .number()
    .optional()
    .meta({
      description:
        'Coefficient of the square-root impact, usually 0.5 to 1.5: the price moves by it times daily volatility times sqrt(amount / daily volume). Default: no impact',
      ...bounds(impact),
    }),
  participation: z
    .number()
    .optional()
    .meta({
      description:
        'Largest fill as a share of the volume of the candle before it, such as 0.025. An entry loses the rest, an exit continues in the next candle. Default: orders of any size fill',
      ...bounds(participation),
    }),
});
