import { DAY_MS } from '#contract/values/durations.ts';
import { type RunLength, type TradeColumns, tradeColumns } from '#engine/metrics/trade-metrics.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import {
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeTable,
} from '#engine/simulator/trade-table.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';

/** A Monday. */
export const START = Date.UTC(2024, 0, 1);

/** Trade with this profit, closed `day` days after the start; other fields are given or defaults. */
export function trade(profit: number, day: number, values: Partial<SimulatedTrade> = {}): SimulatedTrade {
  return {
    pair: 'BTC/USDT:USDT',
    side: 'long',
    openedAt: START + day * DAY_MS - 3_600_000,
    closedAt: START + day * DAY_MS,
    entryPrice: 100,
    exitPrice: 100 + profit,
    amount: 1,
    stake: 100,
    leverage: 1,
    enterTag: null,
    exitReason: 'exit_signal',
    fees: 0,
    slippageCost: 0,
    funding: 0,
    profit,
    profitRatio: profit / 100,
    initialStopPrice: 90,
    stopPrice: 90,
    liquidationPrice: null,
    lowestPrice: 95,
    highestPrice: 110,
    leftOpen: false,
    ...values,
  };
}

/** Trades as a column table. */
export function tableOf(trades: readonly SimulatedTrade[]): TradeTable {
  const numbers = TRADE_NUMBERS.map((name) => [
    name,
    Float64Array.from(trades, (each) => each[name] ?? Number.NaN),
  ]);
  const texts = <T extends string | null>(all: readonly T[]): TextColumn<T> => {
    const different = [...new Set(all)];
    return { texts: different, index: Uint32Array.from(all, (text) => different.indexOf(text)) };
  };
  return {
    ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
    length: trades.length,
    pair: texts(trades.map(({ pair }) => pair)),
    side: texts(trades.map(({ side }) => side)),
    enterTag: texts(trades.map(({ enterTag }) => enterTag)),
    orders: new Map(trades.flatMap(({ orders }, row) => (orders ? [[row, orders] as const] : []))),
    exitReason: texts(trades.map(({ exitReason }) => exitReason)),
    leftOpen: Uint8Array.from(trades, ({ leftOpen }) => (leftOpen ? 1 : 0)),
  };
}

/** Trades as input of the metrics. */
export function columnsOf(trades: readonly SimulatedTrade[]): TradeColumns {
  return tradeColumns(tableOf(trades));
}

/** Length of a run of whole days. */
export const lengthOf = (days: number): RunLength => ({ days, wholeDays: days });

/** Equity curve with one value per candle of `stepMs` from `from`, after a wallet of 1000. */
export function curve(
  equity: readonly number[],
  stepMs = DAY_MS,
  from = START,
  openTrades: readonly number[] = [],
): EquityCurve {
  return {
    timestamp: Float64Array.from(equity, (_, row) => from + row * stepMs),
    equity: Float64Array.from(equity),
    drawdown: drawdownOf(1000, equity),
    balance: Float64Array.from(equity),
    openTrades: Uint16Array.from(equity, (_, row) => openTrades[row] ?? 0),
  };
}

/** Example that was computed independently: wallet 1000, ten days. */
export const EXAMPLE_TRADES = [20, -10, 30, -25, 15].map((profit, i) => trade(profit, i + 1));
export const EXAMPLE_EQUITY = [1004, 1020, 1012, 1010, 1040, 1052, 1031, 1015, 1030, 1030];
