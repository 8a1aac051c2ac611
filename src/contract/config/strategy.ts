import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { ORDER_TYPES } from '../values/account-limits.ts';
import { Plot } from './plot.ts';
import { Protection } from './protections.ts';

const Choice = z.union([z.string(), z.number(), z.boolean()]);

/** One tunable parameter of a strategy. */
const StrategyParameter = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.enum(['integer', 'number']),
      default: z.number(),
      min: z.number(),
      max: z.number(),
      description: z.string(),
    }),
    z.object({
      kind: z.literal('choice'),
      default: Choice,
      choices: z.array(Choice),
      description: z.string(),
    }),
  ])
  .meta({ id: 'StrategyParameter' });

/** Exit rules of a strategy, which the report of a run states as well. */
export const EXIT_RULES = {
  use_exit_signal: z.boolean(),
  exit_profit_only: z.boolean(),
  exit_profit_offset: z.number(),
  ignore_roi_if_entry_signal: z.boolean(),
};

export const StrategyConfiguration = z
  .object({
    strategy: z.string().meta({ description: 'The name that `config.strategy` of a backtest takes' }),
    pairs: z.array(z.string()).meta({ description: 'Default pairs, `BASE/QUOTE:SETTLE`' }),
    timeframe: z.string(),
    stake_amount: z.number().meta({ description: 'Default stake per trade, quote currency' }),
    ml_engine: z.object({
      enabled: z.boolean().meta({
        description:
          'True when the strategy trades on predictions; with `config.ml_engine` any strategy can run with models',
      }),
      model_type: z.string().meta({ description: '`none` for a strategy without machine learning' }),
    }),
    description: z.string(),
    startup_candles: z.int().meta({
      description:
        'Candles needed before the first signal with the default parameters, training data included',
    }),
    can_short: z.boolean(),
    leverage: z.number(),
    stoploss: z.number().meta({ description: 'Negative ratio of the stake' }),
    minimal_roi: z
      .record(z.string(), z.number())
      .meta({ description: 'Minutes since entry -> required profit ratio' }),
    trailing: z
      .object({
        positive: z.number().optional(),
        offset: z.number().optional(),
        only_offset_is_reached: z.boolean().optional(),
      })
      .nullable(),
    protections: z.array(Protection),
    ...EXIT_RULES,
    order_types: z.object({ entry: z.enum(ORDER_TYPES), exit: z.enum(ORDER_TYPES) }),
    unfilled_timeout: z
      .object({ entry: z.number(), exit: z.number() })
      .meta({ description: 'Minutes after which an order that is not filled is cancelled' }),
    ignore_entry_after_candles: z
      .int()
      .nullable()
      .meta({ description: 'Detail candles of a candle in which its entry signal acts; null: all of them' }),
    max_adjustments: z
      .int()
      .nullable()
      .meta({ description: 'Additions to a position; null without a maximum' }),
    callbacks: z.array(z.string()).meta({ description: 'Callbacks that the strategy defines' }),
    informative_timeframes: z
      .array(z.string())
      .meta({ description: 'Higher timeframes of the same pair that it reads' }),
    informative: z
      .array(z.object({ pair: z.string(), timeframe: z.string() }))
      .meta({ description: 'Other pairs that it reads' }),
    parameters: z.record(z.string(), StrategyParameter),
    plot: Plot.nullable().meta({ description: 'null: a chart draws the columns as it chooses' }),
  })
  .meta({ id: 'StrategyConfiguration' });
export type StrategyConfiguration = Immutable<z.infer<typeof StrategyConfiguration>>;

export const BrokenStrategyFile = z
  .object({
    file: z.string().meta({ description: 'Name in the strategy folder' }),
    line: z.int().nullable().meta({ description: 'Line in that file, from 1; null without a position' }),
    error: z.string(),
    strategy: z.string().nullable().meta({
      description: 'Strategy that the file defined before or probably defines; null when unknown',
    }),
  })
  .meta({ id: 'BrokenStrategyFile', description: 'Invalid strategy file' });
export type BrokenStrategyFile = Immutable<z.infer<typeof BrokenStrategyFile>>;
