import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { integerParameter, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { COLUMNS_LIMITS } from '../values/columns-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { BacktestParams } from './backtest-api.ts';
import { ChangedCandles } from './backtest-columns.ts';
import { Trade } from './report.ts';

/** Requests, responses and stored shapes of why a trade did what it did. */

export const TradeParams = BacktestParams.extend({
  trade_id: z
    .string()
    .regex(/^\d{1,9}$/)
    .meta({ description: '`id` of the trade' }),
});

const RULES = [
  'enter_signal',
  'given_signal',
  'addition',
  'partial_exit',
  'stop_loss',
  'trailing_stop_loss',
  'liquidation',
  'roi',
  'exit_signal',
  'custom_exit',
  'force_exit',
  'delisted',
] as const;
export type TradeRule = (typeof RULES)[number];

export const TradeReason = z
  .object({
    candle: Timestamp.meta({ description: 'Open time of the candle of the fill' }),
    rule: z.enum(RULES),
    price: z.number().meta({ description: 'Price of the fill, quote currency', 'x-unit': 'quote' }),
    reason: z.string().nullable().meta({ description: 'Tag of an entry, reason of an exit' }),
    values: z.record(z.string(), z.union([z.number(), z.string()]).nullable()).meta({
      description:
        'Values that decided. Of a rule with a signal: `signal_candle` and every column of that row. Of a callback: `returned` and the columns of the row before. Prices are in quote currency, `distance` and `ratio` are ratios of the stake',
    }),
    text: z.string().meta({ description: 'The same in words. Tags and reasons are texts of the strategy' }),
  })
  .meta({ id: 'TradeReason' });
export type TradeReason = z.infer<typeof TradeReason>;

export const TradeWhy = z
  .object({
    trade: Trade,
    entry: TradeReason,
    exit: TradeReason,
    additions: z.array(TradeReason).optional().meta({ description: 'Absent without any' }),
    partial_exits: z.array(TradeReason).optional().meta({ description: 'Absent without any' }),
    changed_candles: z.array(ChangedCandles).optional().meta({
      description:
        'Candles that changed since the backtest: `values` are of the present ones. Absent without any',
    }),
  })
  .meta({ id: 'TradeWhy' });
export type TradeWhy = Immutable<z.infer<typeof TradeWhy>>;

export const TradePathQuery = z.object({
  limit: integerParameter({ ...COLUMNS_LIMITS.rows, description: 'Candles of a page' }).default(
    COLUMNS_LIMITS.rows.max,
  ),
  cursor: stringParameter(4_096, '`next_cursor` of the previous page').optional(),
});
export type TradePathQuery = Immutable<z.output<typeof TradePathQuery>>;

const level = (description: string) => z.number().nullable().meta({ description, 'x-unit': 'quote' });

export const TradePath = z
  .object({
    trade_id: z.int(),
    pair: z.string(),
    timeframe: z.enum(ALL_TIMEFRAMES),
    items: z.array(
      z.object({
        time: z.int().meta({ description: 'Open time of the candle, Unix seconds' }),
        stop: level('Stop at the end of the candle; at the end of the trade its `stop_price`'),
        trailing: level('The same stop once it has moved; null before'),
        target: level('Price at which the profit reaches what the ROI requires; null without one'),
        liquidation: level('null without one'),
      }),
    ),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'TradePath', description: 'Levels of a trade, a row for each of its candles' });
export type TradePath = Immutable<z.infer<typeof TradePath>>;

const nullable = z.number().nullable();

/** A trade of a columns job: what its rules depended on. Times are Unix ms; null is NaN. */
const StoredTradeReasons = z.object({
  pair: z.string(),
  side: z.enum(['long', 'short']),
  opened_at: z.number(),
  closed_at: z.number(),
  exit_reason: z.string(),
  /** See `PathStep`: time, stop, 1 if moved, distance, from, liquidation, open value, amount, funding. */
  steps: z.array(
    z.tuple([nullable, nullable, nullable, nullable, nullable, nullable, nullable, nullable, nullable]),
  ),
  /** The last result of `customExit`. */
  exit: z.tuple([z.number(), z.string()]).nullable(),
  adjustments: z.array(z.tuple([z.number(), nullable, z.string().nullable()])),
  /** Results of `customRoi`. */
  targets: z.array(z.tuple([z.number(), nullable])),
});
export type StoredTradeReasons = z.infer<typeof StoredTradeReasons>;

/** File of consecutive trades. */
export const StoredReasons = z.object({ schema_version: z.literal(1), trades: z.array(StoredTradeReasons) });
export type StoredReasons = z.infer<typeof StoredReasons>;
