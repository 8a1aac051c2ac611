import { BacktestParams } from '../backtests/backtest-api.ts';
import { BacktestColumns, BacktestColumnsQuery, ColumnsStatus } from '../backtests/backtest-columns.ts';
import { BacktestCurve, BacktestCurveQuery } from '../backtests/backtest-curve.ts';
import { BacktestExportQuery, ExportLink } from '../backtests/backtest-export.ts';
import {
  BacktestPositions,
  BacktestPositionsQuery,
  BacktestTrades,
  BacktestTradesQuery,
} from '../backtests/backtest-trades.ts';
import { TradeParams, TradePath, TradePathQuery, TradeWhy } from '../backtests/trade-reasons.ts';
import type { Operation } from '../values/operation.ts';

const OF_RESULTS = {
  service: 'backend',
  tag: 'Backtests',
  params: BacktestParams,
  access: 'viewer',
  resource: { kind: 'backtest', id: 'job_id', level: 'read' },
} as const;

/** Readers of a model may read these of the runs of its versions; not what a task computes from strategy code. */
const OF_EVIDENCE = { ...OF_RESULTS, resource: { ...OF_RESULTS.resource, evidence: true } } as const;

const COMPUTING = {
  description: 'A task computes the columns: repeat the request after `Retry-After`',
  schema: ColumnsStatus,
};

/** Rows that read parts of a completed backtest's results. */
export const BACKTEST_RESULT_OPERATIONS = [
  {
    id: 'listBacktestTrades',
    ...OF_EVIDENCE,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/trades',
    summary: 'Trades of a completed backtest, filtered and sorted',
    agent: 'read',
    description:
      'The `id` of a trade is its number in the order of closing. It is the same with every filter, so it can be linked to.',
    query: BacktestTradesQuery,
    success: { 200: { description: 'One page', schema: BacktestTrades } },
    errors: ['RES001', 'RES005', 'RES006', 'VAL001', 'DATA005'],
  },
  {
    id: 'listBacktestPositions',
    ...OF_EVIDENCE,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/positions',
    summary: 'Positions of a completed backtest: trades of a group that overlap in time',
    description:
      'The group of a trade is its enter tag up to the first colon, such as `spread-1` of `spread-1:long`. Trades without a colon are in no position.',
    query: BacktestPositionsQuery,
    success: { 200: { description: 'One page', schema: BacktestPositions } },
    errors: ['RES001', 'RES005', 'RES006', 'DATA005'],
  },
  {
    id: 'getBacktestCurve',
    ...OF_EVIDENCE,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/curve',
    summary: 'Equity, drawdown and market of a completed backtest, by day or candle, for charts',
    description:
      'Returns at most `points` points and keeps the smallest and largest values of what it leaves out.',
    query: BacktestCurveQuery,
    success: { 200: { description: 'Aligned columns', schema: BacktestCurve } },
    errors: ['RES001', 'RES005', 'RES006', 'VAL001', 'DATA005'],
  },
  {
    id: 'getBacktestColumns',
    ...OF_RESULTS,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/columns',
    summary: 'Candles, indicators and signals of a completed backtest',
    description: `A task computes them at the first call, from the inputs of the backtest: 202 until it has ended. They are kept for an hour. Names are those of the candles and of \`indicators\`, \`4h:rsi\` of informative series, \`signal:enter_long\` of signals, and \`ml_probability\` and \`do_predict\`; an indicator with the name of another column begins with \`columns:\`.`,
    query: BacktestColumnsQuery,
    success: {
      200: { description: 'One page', schema: BacktestColumns },
      201: { description: 'Address of the file', schema: ExportLink },
      202: COMPUTING,
    },
    errors: ['RES001', 'RES005', 'RES006', 'VAL001', 'VAL004', 'VAL005', 'VAL006', 'HTTP429', 'DATA005'],
  },
  {
    id: 'explainTrade',
    ...OF_RESULTS,
    params: TradeParams,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/trades/{trade_id}/why',
    summary:
      'Why a trade of a completed backtest was entered and closed: the rules, with the values that decided',
    agent: 'read',
    description:
      'Computed with the columns of the backtest, by the same task: 202 until it has ended. 409 RES005 if the trade is another one on the present candles.',
    success: {
      200: { description: 'Entry and exit, with additions and partial exits', schema: TradeWhy },
      202: COMPUTING,
    },
    errors: ['RES001', 'RES005', 'RES006', 'VAL005', 'HTTP429', 'DATA005'],
  },
  {
    id: 'getTradePath',
    ...OF_RESULTS,
    params: TradeParams,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/trades/{trade_id}/path',
    summary: 'Stop, trailing stop, target and liquidation price of a trade in each of its candles',
    description: 'Computed with the columns of the backtest, by the same task: 202 until it has ended.',
    query: TradePathQuery,
    success: { 200: { description: 'One page', schema: TradePath }, 202: COMPUTING },
    errors: ['RES001', 'RES005', 'RES006', 'VAL005', 'VAL006', 'HTTP429', 'DATA005'],
  },
  {
    id: 'exportBacktest',
    ...OF_EVIDENCE,
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/export',
    summary: 'A completed backtest as a file',
    description:
      'A file of up to 5 MB is in the response, with its name in `Content-Disposition`. A larger one, and any `parquet`, is offered at an address for some minutes. Text of a strategy that begins like a formula begins with an apostrophe in `csv`.',
    query: BacktestExportQuery,
    success: {
      200: { description: 'The file', contentType: '*/*' },
      201: { description: 'Address of the file', schema: ExportLink },
    },
    errors: ['RES001', 'RES005', 'RES006', 'VAL005', 'SVC002', 'SVC004', 'DATA004', 'DATA005', 'HTTP503'],
  },
] as const satisfies readonly Operation[];
