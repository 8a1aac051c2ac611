import { type Candles, createCandles } from '#engine/candles.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import type { CallbackContext, StrategyCallbacks, TrailingStop } from '#engine/strategy.ts';
import type { Bar, Market, Rules, Signals, Trailing } from './types.ts';

// Converts between the objects of the reference implementation and the input of the engine.

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

/** A callback that returns the values of the markets' tables. */
function callbacksOf(markets: readonly Market[]): StrategyCallbacks {
  const tables = new Map(markets.map((market) => [market.pair, market]));
  return { customStoploss: ({ pair, index }) => tables.get(pair)?.customStop?.[index] ?? null };
}

const adjusts = ({ orders = [] }: Market) => orders.some(({ addStake }) => addStake !== undefined);

/** Callbacks for limit orders that return the values of the markets' tables. */
function orderCallbacksOf(markets: readonly Market[]): StrategyCallbacks {
  const tables = new Map(markets.map((market) => [market.pair, market]));
  const at = ({ pair, index }: CallbackContext) => tables.get(pair)!.orders![index]!;
  const adjusted = (factor: number | null | undefined, price: number) =>
    factor === null ? null : price * (factor ?? 1);
  return {
    customEntryPrice: (context, _side, open) => open * at(context).entry,
    customExitPrice: (context, _trade, open) => open * at(context).exit,
    ...(markets.some(adjusts) && {
      adjustPosition: (context, { stake }) => (at(context).addStake ?? 0) * stake,
    }),
    checkEntryTimeout: (context) => at(context).cancelEntry,
    checkExitTimeout: (context) => at(context).cancelExit,
    adjustEntryPrice: (context, _trade, price) => adjusted(at(context).adjustEntry, price),
    adjustExitPrice: (context, _trade, price) => adjusted(at(context).adjustExit, price),
  };
}

/** `markets` are needed only for callbacks. */
export function settingsOf(rules: Rules, markets: readonly Market[] = []): SimulationSettings {
  return {
    callbacks: {
      ...(rules.hasCustomStop && callbacksOf(markets)),
      ...(markets[0]?.orders && orderCallbacksOf(markets)),
    },
    ...(rules.maxAdjustments !== undefined && { maxAdjustments: rules.maxAdjustments }),
    unfilledTimeout: {
      ...(rules.entryTimeout !== undefined && { entry: rules.entryTimeout }),
      ...(rules.exitTimeout !== undefined && { exit: rules.exitTimeout }),
    },
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
    fillModel: 'freqtrade',
    liquidation: { maintenanceMarginRate: rules.maintenanceRate, buffer: rules.liquidationBuffer },
  };
}

/** Inverse of {@link pairInputOf}: a pair of the engine as objects of the reference implementation. */
export function marketOf({ pair, candles, signals, funding }: PairInput): Market {
  const { timestamp, open, high, low, close } = candles;
  const isSet = (flags: Uint8Array | undefined, row: number) => flags?.[row] === 1;
  return {
    pair,
    bars: Array.from(timestamp, (time, row) => ({
      time,
      open: open[row]!,
      high: high[row]!,
      low: low[row]!,
      close: close[row]!,
    })),
    signals: Array.from(timestamp, (_, row) => ({
      enterLong: isSet(signals.enterLong, row),
      exitLong: isSet(signals.exitLong, row),
      enterShort: isSet(signals.enterShort, row),
      exitShort: isSet(signals.exitShort, row),
    })),
    funding: Array.from(funding?.timestamp ?? [], (time, event) => ({
      time,
      rate: funding!.rate[event]!,
      mark: funding!.markPrice[event]!,
    })),
    detail: [],
  };
}

/** Settings of the engine, without callbacks and detail candles, as the rules of the reference implementation. */
export function rulesOf(settings: SimulationSettings): Rules {
  const { trailing, stake, liquidation } = settings;
  return {
    timeframeMinutes: settings.timeframeMs / MINUTE,
    detailMinutes: undefined,
    wallet: settings.startingBalance,
    stake: stake.kind === 'fixed' ? stake.amount : 'unlimited',
    tradableBalanceRatio: settings.tradableBalanceRatio ?? 0.99,
    maxOpenTrades: settings.maxOpenTrades,
    fee: settings.fee,
    slippage: settings.slippage,
    leverage: settings.leverage,
    canShort: settings.canShort,
    maintenanceRate: liquidation.maintenanceMarginRate,
    liquidationBuffer: liquidation.buffer,
    stoploss: -settings.stoploss,
    trailing: trailing && {
      positive: trailing.positive,
      offset: trailing.offset ?? 0,
      onlyOffset: trailing.only_offset_is_reached ?? false,
    },
    roi: Object.entries(settings.minimalRoi ?? {}).map(([minutes, ratio]) => [Number(minutes), ratio]),
    useExitSignal: settings.useExitSignal,
    exitProfitOnly: settings.exitProfitOnly,
    exitProfitOffset: settings.exitProfitOffset,
    ignoreRoiIfEntrySignal: settings.ignoreRoiIfEntrySignal,
    hasCustomStop: false,
  };
}
