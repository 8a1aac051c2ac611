import * as z from 'zod';
import {
  BACKTEST_DEFAULTS,
  BACKTEST_LIMITS,
  COLLECT_MODES,
  PRECISIONS,
  UNLIMITED_STAKE,
} from '../values/backtest-limits.ts';
import { bounds } from '../values/bounds.ts';
import { EXCHANGE_KEY, MAX_SYMBOL_LENGTH } from '../values/market-data-limits.ts';
import { ALL_TIMEFRAMES, TIMEFRAMES } from '../values/timeframes.ts';
import { SYMBOL, TRADING_MODES } from '../values/trading-modes.ts';
import { ACCOUNT_OPTIONS } from './account.ts';
import { SlippageModelRequest } from './slippage-model.ts';

/** Schemas that several resources share. */

/** When candles are collected before a run. */
export const CollectMode = z.enum(COLLECT_MODES);
export type CollectMode = z.infer<typeof CollectMode>;

/** Market of a request: exchange, trading mode, pairs, timeframe. The same fields in every request. */
export const MARKET_FIELDS = {
  exchange: z.string().optional().meta({
    description: 'Exchange of the candles. Default: the configured exchange',
    pattern: EXCHANGE_KEY.source,
  }),
  trading_mode: z
    .string()
    .optional()
    .meta({
      description:
        '`spot`: pairs are `BASE/QUOTE`; no shorts, no leverage, no funding. `futures`: pairs are perpetuals, `BASE/QUOTE:SETTLE`',
      enum: [...TRADING_MODES],
      default: BACKTEST_DEFAULTS.trading_mode,
    }),
  pairs: z
    .array(z.string().meta({ pattern: SYMBOL.source, maxLength: MAX_SYMBOL_LENGTH }))
    .optional()
    .meta({
      description:
        '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`. Default: the pairs of the strategy, in spot without `:SETTLE`; with a universe all stored ones',
      minItems: BACKTEST_LIMITS.pairs.min,
      maxItems: BACKTEST_LIMITS.pairs.max,
      uniqueItems: true,
    }),
  timeframe: z
    .string()
    .optional()
    .meta({
      description: `Default: the timeframe of the strategy. Others than ${TIMEFRAMES.join(', ')} only where the strategy declares them`,
      enum: [...ALL_TIMEFRAMES],
    }),
  collect: z
    .string()
    .optional()
    .meta({
      description:
        'Collection of candles before the run. `never`: run on the stored candles and report gaps. `if_stale`: collect when the stored candles do not cover the date range. `always`: always fetch from the exchange',
      enum: [...COLLECT_MODES],
      default: BACKTEST_DEFAULTS.collect,
    }),
};

/** Account and costs of a request. The same fields in every request. */
export const ACCOUNT_FIELDS = {
  stake_amount: z
    .union([
      z.number().meta(bounds(BACKTEST_LIMITS.stake_amount)),
      z.string().meta({ enum: [UNLIMITED_STAKE] }),
    ])
    .optional()
    .meta({
      description:
        'Quote currency per trade, at most the wallet; or `unlimited`: the balance divided by max_open_trades. Default: the stake of the strategy',
    }),
  dry_run_wallet: z
    .number()
    .optional()
    .meta({
      description: 'Starting wallet, quote currency',
      default: BACKTEST_DEFAULTS.dry_run_wallet,
      ...bounds(BACKTEST_LIMITS.dry_run_wallet),
    }),
  max_open_trades: z
    .int()
    .optional()
    .meta({
      description: 'Maximum number of open trades. Default: the number of pairs, with a universe its `n`',
      ...bounds(BACKTEST_LIMITS.max_open_trades),
    }),
  fee: z
    .number()
    .optional()
    .meta({ description: 'Ratio per side', default: BACKTEST_DEFAULTS.fee, ...bounds(BACKTEST_LIMITS.fee) }),
  slippage: z
    .number()
    .optional()
    .meta({
      description: 'Adverse price move of every market fill, as a ratio',
      default: BACKTEST_DEFAULTS.slippage,
      ...bounds(BACKTEST_LIMITS.slippage),
    }),
  slippage_model: SlippageModelRequest.optional().meta({
    description:
      'Costs of market fills estimated from candles before the fill, in addition to `slippage`. Without a part: none',
  }),
  leverage: z
    .number()
    .optional()
    .meta({
      description: `Default: the leverage of the strategy, else ${BACKTEST_DEFAULTS.leverage}`,
      ...bounds(BACKTEST_LIMITS.leverage),
    }),
  precision: z
    .string()
    .optional()
    .meta({
      description:
        '`exchange`: prices and amounts follow the steps and limits of the instruments; orders below the minimum are not placed. `none`: no rounding and no minimum order. Default: `exchange` if the instruments of all pairs are stored, else `none`. Exchange `sim` always runs with `none`',
      enum: [...PRECISIONS],
    }),
  ...ACCOUNT_OPTIONS,
};

/** Seed of a run. The requests describe what it seeds. */
export const Seed = z
  .int()
  .optional()
  .meta({ default: BACKTEST_DEFAULTS.seed, ...bounds(BACKTEST_LIMITS.seed) });

/** Experiment of a job: a name for filtering lists. */
export const ExperimentName = z.string().optional().meta({
  description: 'Name for filtering the list',
  minLength: BACKTEST_LIMITS.experiment_name.min,
  maxLength: BACKTEST_LIMITS.experiment_name.max,
});
