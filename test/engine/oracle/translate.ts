import { type Candles, createCandles } from '#engine/candles.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks, TrailingStop } from '#engine/strategy.ts';
import type { Bar, Market, Rules, Signals, Trailing } from './types.ts';

/** From the oracle's objects to what the engine takes. */

const MINUTE = 60_000;

export function candlesOf(bars: readonly Bar[]): Candles {
  const candles = createCandles(bars.length);
  for (const [row, bar] of bars.entries()) {
    candles.timestamp[row] = bar.time;
    candles.open[row] = bar.open;
    candles.high[row] = bar.high;
    candles.low[row] = bar.low;
    candles.close[row] = bar.close;
  }
  return candles;
}

const column = (signals: readonly Signals[], pick: (said: Signals) => number): Uint8Array =>
  Uint8Array.from(signals, pick);

function signalColumns(signals: readonly Signals[]): PairInput['signals'] {
  const tags = new Set(signals.flatMap(({ enterTag, exitTag }) => [enterTag, exitTag]));
  tags.delete(undefined);
  const texts = ['', ...(tags as Set<string>)];
  const indexOf = (tag: string | undefined) => (tag === undefined ? 0 : texts.indexOf(tag));
  return {
    enterLong: column(signals, ({ enterLong }) => Number(enterLong)),
    exitLong: column(signals, ({ exitLong }) => Number(exitLong)),
    enterShort: column(signals, ({ enterShort }) => Number(enterShort)),
    exitShort: column(signals, ({ exitShort }) => Number(exitShort)),
    enterTag: column(signals, ({ enterTag }) => indexOf(enterTag)),
    exitTag: column(signals, ({ exitTag }) => indexOf(exitTag)),
    tags: texts,
  };
}

export function pairInputOf({ pair, bars, signals, funding, detail }: Market): PairInput {
  return {
    pair,
    candles: candlesOf(bars),
    signals: signalColumns(signals),
    funding: {
      timestamp: Float64Array.from(funding, ({ time }) => time),
      rate: Float64Array.from(funding, ({ rate }) => rate),
      markPrice: Float64Array.from(funding, ({ mark }) => mark),
    },
    ...(detail.length > 0 && { detail: candlesOf(detail) }),
  };
}

function trailingOf({ positive, offset, onlyOffset }: Trailing): TrailingStop {
  return { ...(positive !== undefined && { positive }), offset, only_offset_is_reached: onlyOffset };
}

/** The callback that answers from the tables of the markets. */
function callbacksOf(markets: readonly Market[]): StrategyCallbacks {
  const tables = new Map(markets.map(({ pair, customStop }) => [pair, customStop]));
  return { customStoploss: ({ pair, index }) => tables.get(pair)?.[index] ?? null };
}

/** `markets` are needed for callbacks alone. */
export function settingsOf(rules: Rules, markets: readonly Market[] = []): SimulationSettings {
  return {
    ...(rules.hasCustomStop && { callbacks: callbacksOf(markets) }),
    timeframeMs: rules.timeframeMinutes * MINUTE,
    ...(rules.detailMinutes !== undefined && { detailTimeframeMs: rules.detailMinutes * MINUTE }),
    startingBalance: rules.wallet,
    stake: rules.stake === 'unlimited' ? { kind: 'unlimited' } : { kind: 'fixed', amount: rules.stake },
    tradableBalanceRatio: rules.tradableBalanceRatio,
    maxOpenTrades: rules.maxOpenTrades,
    fee: rules.fee,
    slippage: rules.slippage,
    leverage: rules.leverage,
    canShort: rules.canShort,
    stoploss: -rules.stoploss,
    ...(rules.trailing && { trailing: trailingOf(rules.trailing) }),
    minimalRoi: Object.fromEntries(rules.roi),
    useExitSignal: rules.useExitSignal,
    exitProfitOnly: rules.exitProfitOnly,
    exitProfitOffset: rules.exitProfitOffset,
    ignoreRoiIfEntrySignal: rules.ignoreRoiIfEntrySignal,
    fillModel: rules.conservative ? 'conservative' : 'freqtrade',
    liquidation: { maintenanceMarginRate: rules.maintenanceRate, buffer: rules.liquidationBuffer },
  };
}
