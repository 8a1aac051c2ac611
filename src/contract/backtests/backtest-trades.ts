import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { integerParameter, listParameter, stringParameter } from '../common/parameters.ts';
import { NO_TAG, TRADES_LIMITS } from '../values/backtest-limits.ts';
import { MAX_SYMBOL_LENGTH } from '../values/market-data-limits.ts';
import { Trade } from './report.ts';

/** Requests and responses of the list of a backtest's trades. */

/** Fields by which trades are sorted. */
const TRADE_SORT_FIELDS = [
  'id',
  'pair',
  'side',
  'opened_at',
  'closed_at',
  'duration_minutes',
  'entry_price',
  'exit_price',
  'amount',
  'stake',
  'leverage',
  'enter_tag',
  'exit_reason',
  'fees',
  'slippage_cost',
  'funding',
  'profit',
  'profit_pct',
] satisfies (keyof Trade)[];
export type TradeSortField = (typeof TRADE_SORT_FIELDS)[number];
export type TradeSort = TradeSortField | `-${TradeSortField}`;

const TRADE_SORTS = TRADE_SORT_FIELDS.flatMap((field): TradeSort[] => [field, `-${field}`]);

export const BacktestTradesQuery = z.object({
  page: integerParameter({ min: 1, max: 1_000_000, description: 'Page, from 1' }).default(1),
  limit: integerParameter({ ...TRADES_LIMITS, description: 'Trades on a page' }).default(
    TRADES_LIMITS.default,
  ),
  sort: z.enum(TRADE_SORTS).default('id').meta({
    description:
      'Field to sort by; with `-` the largest value first. Equal values are in the order of `id`, trades without a value are last',
  }),
  pair: listParameter({
    maxItems: 200,
    maxLength: MAX_SYMBOL_LENGTH,
    description: 'Only trades of these pairs',
  }).optional(),
  side: z.enum(['long', 'short']).optional().meta({ description: 'Only trades of this side' }),
  exit_reason: stringParameter(1_000, 'Only trades with exactly this exit reason').optional(),
  enter_tag: stringParameter(
    1_000,
    `Only trades with exactly this enter tag; \`${NO_TAG}\`: trades without one`,
  ).optional(),
  group: stringParameter(1_000, 'Only trades of this group: the enter tag up to its first colon').optional(),
  from: stringParameter(40, 'ISO 8601, inclusive: earliest `time`; without an offset it is UTC').optional(),
  to: stringParameter(40, 'ISO 8601, exclusive: latest `time`; without an offset it is UTC').optional(),
  time: z.enum(['closed_at', 'opened_at', 'held']).default('closed_at').meta({
    description:
      'Time of a trade that `from` and `to` bound: its exit, as in the periods of the report; its entry; or `held`: any time from entry to exit',
  }),
  format: z.enum(['items', 'columns']).default('items').meta({
    description:
      '`items`: an object for each trade. `columns`: an array for each field, less than half the size',
  }),
});
export type BacktestTradesQuery = Immutable<z.output<typeof BacktestTradesQuery>>;

const { orders: Orders, ...FIELDS } = Trade.shape;
type TradeShape = typeof FIELDS;
const seconds = z.array(z.int());

/** An array of each field of a trade, aligned. */
const TradeColumns = z
  .object({
    ...(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, z.array(field)])) as {
      [Name in keyof TradeShape]: z.ZodArray<TradeShape[Name]>;
    }),
    opened_at: seconds.meta({
      description: 'Open time of the candle in which the entry was ordered, Unix seconds',
    }),
    closed_at: seconds.meta({ description: 'Open time of the exit candle, Unix seconds' }),
    orders: z.array(Orders.unwrap().nullable()).optional().meta({
      description:
        'Orders of each trade, with ISO times; null for a trade of one entry and one exit. Absent when all are',
    }),
  })
  .meta({ id: 'TradeColumns', description: 'Arrays of equal length; times are Unix seconds' });
export type TradeColumns = z.infer<typeof TradeColumns>;

const page = {
  page: z.int(),
  pages: z.int().meta({ description: 'Pages of this limit; 0 without matching trades' }),
  total: z.int().meta({ description: 'Trades, or positions, that match the filters' }),
};

export const BacktestTrades = z
  .union([z.object({ items: z.array(Trade), ...page }), z.object({ columns: TradeColumns, ...page })])
  .meta({ id: 'BacktestTrades', description: '`items` or `columns`, as `format` asks' });
export type BacktestTrades = Immutable<z.infer<typeof BacktestTrades>>;

export const BacktestPositionsQuery = z.object({
  page: integerParameter({ min: 1, max: 1_000_000, description: 'Page, from 1' }).default(1),
  limit: integerParameter({ ...TRADES_LIMITS, description: 'Positions on a page' }).default(
    TRADES_LIMITS.default,
  ),
  group: stringParameter(1_000, 'Only positions of this group').optional(),
});
export type BacktestPositionsQuery = Immutable<z.output<typeof BacktestPositionsQuery>>;

const quoteAmount = { 'x-unit': 'quote' } as const;

const BacktestPosition = z
  .object({
    position: z
      .int()
      .meta({ description: 'Its number in the run, in the order of opening; that of its trades' }),
    group: z.string(),
    pairs: z.array(z.string()).meta({ description: 'Of its trades, in the order of opening' }),
    opened_at: z.string().meta({ format: 'date-time', description: 'Of the trade that was opened first' }),
    closed_at: z.string().meta({ format: 'date-time', description: 'Of the trade that was closed last' }),
    legs: z.int().meta({ description: 'Number of its trades' }),
    trades: z.array(z.int()).meta({ description: 'Their ids, in the order of closing' }),
    stake: z.number().meta({ ...quoteAmount, description: 'Sum of the stakes' }),
    profit: z.number().meta({ ...quoteAmount, description: 'Sum of the profits' }),
    profit_pct: z.number().meta({ 'x-unit': 'percent', description: 'Profit in percent of the stake' }),
  })
  .meta({ id: 'BacktestPosition' });
export type BacktestPosition = z.infer<typeof BacktestPosition>;

export const BacktestPositions = z
  .object({ items: z.array(BacktestPosition).meta({ description: 'In the order of opening' }), ...page })
  .meta({ id: 'BacktestPositions' });
export type BacktestPositions = Immutable<z.infer<typeof BacktestPositions>>;
