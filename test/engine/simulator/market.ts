import type { Candles } from '#engine/candles.ts';
import type { FundingEvents, PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import type { Signals } from '#engine/strategy.ts';

export const HOUR = 3_600_000;

/** 2024-01-01T00:00:00Z. */
export const START = 1_704_067_200_000;

/** One candle as open/high/low/close. */
export type Row = readonly [open: number, high: number, low: number, close: number];

export interface PairScript {
  readonly pair?: string;
  readonly rows: readonly Row[];
  /** Rows of each signal. */
  readonly enterLong?: readonly number[];
  readonly exitLong?: readonly number[];
  readonly enterShort?: readonly number[];
  readonly exitShort?: readonly number[];
  readonly enterTags?: Readonly<Record<number, string>>;
  readonly exitTags?: Readonly<Record<number, string>>;
  /** Candles after START at which the pair begins. */
  readonly startsAt?: number;
  readonly timeframeMs?: number;
  readonly detail?: Candles;
  readonly funding?: FundingEvents;
}

/** Candles from `START + startsAt * timeframeMs` on. */
export function candlesOf(rows: readonly Row[], timeframeMs = HOUR, startsAt = 0): Candles {
  return {
    timestamp: Float64Array.from(rows, (_, row) => START + (startsAt + row) * timeframeMs),
    open: Float64Array.from(rows, ([open]) => open),
    high: Float64Array.from(rows, ([, high]) => high),
    low: Float64Array.from(rows, ([, , low]) => low),
    close: Float64Array.from(rows, ([, , , close]) => close),
    volume: new Float64Array(rows.length).fill(1),
  };
}

export function pairOf(script: PairScript): PairInput {
  const { rows, pair = 'A', timeframeMs = HOUR, startsAt = 0, detail, funding } = script;
  return {
    pair,
    candles: candlesOf(rows, timeframeMs, startsAt),
    signals: signalsOf(script, rows.length),
    ...(detail && { detail }),
    ...(funding && { funding }),
  };
}

function signalsOf(script: PairScript, length: number): Signals {
  const flags = (rows: readonly number[] = []) => {
    const column = new Uint8Array(length);
    for (const row of rows) column[row] = 1;
    return column;
  };
  const tags = [''];
  const tagColumn = (texts: Readonly<Record<number, string>> = {}) => {
    const column = new Uint8Array(length);
    for (const [row, text] of Object.entries(texts)) column[Number(row)] = tags.push(text) - 1;
    return column;
  };
  return {
    enterLong: flags(script.enterLong),
    exitLong: flags(script.exitLong),
    enterShort: flags(script.enterShort),
    exitShort: flags(script.exitShort),
    enterTag: tagColumn(script.enterTags),
    exitTag: tagColumn(script.exitTags),
    tags,
  };
}

/** Events `hour` hours after START. */
export function fundingOf(
  events: readonly { hour: number; rate: number; markPrice: number }[],
): FundingEvents {
  return {
    timestamp: Float64Array.from(events, ({ hour }) => START + hour * HOUR),
    rate: Float64Array.from(events, ({ rate }) => rate),
    markPrice: Float64Array.from(events, ({ markPrice }) => markPrice),
  };
}

/** 1h, wallet 1000, stake 100, no costs, stop -10 %, shorts allowed, the freqtrade fill model. */
export function settingsOf(changes: Partial<SimulationSettings> = {}): SimulationSettings {
  return {
    timeframeMs: HOUR,
    startingBalance: 1000,
    stake: { kind: 'fixed', amount: 100 },
    maxOpenTrades: 1,
    fee: 0,
    slippage: 0,
    leverage: 1,
    canShort: true,
    stoploss: -0.1,
    useExitSignal: true,
    exitProfitOnly: false,
    exitProfitOffset: 0,
    ignoreRoiIfEntrySignal: false,
    fillModel: 'freqtrade',
    liquidation: { maintenanceMarginRate: 0.005, buffer: 0.05 },
    ...changes,
  };
}

/** Candle with all prices at `price`. */
export function flat(price: number): Row {
  return [price, price, price, price];
}

/** Hours after START. */
export function hourOf(time: number): number {
  return (time - START) / HOUR;
}

/** The trades of a run as `pair side entryHour@entryPrice exitHour@exitPrice reason`, prices at 6 decimals. */
export function summary({ trades }: Pick<Simulation, 'trades'>): string[] {
  const price = (value: number) => String(Math.round(value * 1e6) / 1e6);
  return trades.map(
    ({ pair, side, openedAt, entryPrice, closedAt, exitPrice, exitReason }) =>
      `${pair} ${side} ${hourOf(openedAt)}@${price(entryPrice)} ${hourOf(closedAt)}@${price(exitPrice)} ${exitReason}`,
  );
}
