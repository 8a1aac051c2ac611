import { readFileSync } from 'node:fs';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { OrderTypes } from '#contract/config/account.ts';
import type { Protection } from '#contract/config/protections.ts';
import type { Candles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import { readHistory } from '#engine/run/history.ts';
import { cutRows } from '#engine/run/prepare-pair.ts';
import type { FundingEvents, PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks, StrategyDefinition, TradeView } from '#engine/strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { candlesOf, type PairScript, pairOf, type Row, START } from './market.ts';
import type { ListedCall } from './vector-calls.ts';

/**
 * Reference vectors: results of freqtrade 2026.9 for tables of signals and callback values on seeded synthetic candles. The
 * first line of the file has the common part, each further line one scenario.
 */

const MINUTE = 60_000;

type Answer =
  | number
  | string
  | boolean
  | null
  | readonly string[]
  | readonly [number, string]
  /** A share of the present stake. */
  | { readonly share: number };
/** By pair or `*`, then by the row of the candle (`row+minutes` for a detail candle) or `*`. */
export type AnswerTable = Readonly<Record<string, Readonly<Record<string, Answer>>>>;

export interface VectorPair {
  readonly candles: string;
  readonly detail?: string;
  readonly funding?: string;
  readonly market: Readonly<Partial<Record<string, number>>>;
  /** In place of those of the scenario. */
  readonly leverage_tiers?: Scenario['leverage_tiers'];
}

type Settings = Readonly<Record<string, unknown>>;

/** Is an entry, price, amount, minutes when placed and filled, fee, funding, tag. */
export type OrderRow = readonly [0 | 1, number, number, number, number, number, number, string | null];

/** What scenarios share. */
export interface Shared {
  readonly default_settings: Settings;
  readonly trade_columns: readonly string[];
  readonly candle_sets: Readonly<Record<string, CandleSet>>;
  readonly funding_sets: Readonly<Record<string, readonly (readonly [number, number, number])[]>>;
}

export interface CandleSet {
  readonly timeframe: Timeframe;
  readonly start_ms: number;
  readonly rows: readonly Row[];
  /** Rows that are not stored: the run fills them. */
  readonly missing?: readonly number[];
}

/** A scenario without its expected outcome. */
export interface Scenario {
  readonly id: string;
  readonly settings: Settings;
  readonly pairs: Readonly<Record<string, VectorPair>>;
  readonly can_short: boolean;
  /** Rows of each pair before its first candle of the run; signals and answers count rows from the first of them. Default 0. */
  readonly startup_candles?: number;
  /** Rows of the columns `enter_long`, `exit_long`, `enter_short` and `exit_short`; with a tag also of `exit_tag`. */
  readonly signals: Readonly<Record<string, readonly (readonly [number, string, string?])[]>>;
  readonly protections?: readonly Protection[];
  readonly leverage_tiers?: readonly {
    readonly minNotional: number;
    readonly maxNotional: number;
    readonly maintenanceMarginRate: number;
    readonly maxLeverage: number;
    readonly maintAmt: number;
  }[];
  readonly answers?: Readonly<Record<string, AnswerTable>>;
}

/** What freqtrade gave for a scenario. */
export interface Expected {
  readonly trades: readonly (readonly (string | number | boolean | null | OrderRow[])[])[];
  readonly counters: Readonly<Record<string, number>>;
  readonly final_balance: number;
  /** Pair and side (`*` for all), first and last minute, reason. */
  readonly locks?: readonly (readonly [string, string, number, number, string])[];
  readonly metrics?: Readonly<Record<string, number>>;
  readonly calls?: readonly ListedCall[];
}

export interface Vector extends Scenario {
  readonly about: string;
  readonly expected: Expected;
}

const lines = readFileSync(new URL('./freqtrade-2026.9.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');
export const [SHARED, ...VECTORS] = lines.map((line) => JSON.parse(line)) as [Shared, ...Vector[]];

function candlesOfSet({ timeframe, start_ms, rows, missing = [] }: CandleSet): Candles {
  const stepMs = TIMEFRAME_MS[timeframe];
  const candles = candlesOf(rows, stepMs, (start_ms - START) / stepMs);
  if (missing.length === 0) return candles;
  const isStored = (_: number, row: number) => !missing.includes(row);
  return Object.fromEntries(
    Object.entries(candles).map(([name, column]) => [name, (column as Float64Array).filter(isStored)]),
  ) as unknown as Candles;
}

function fundingOf(rows: Shared['funding_sets'][string]): FundingEvents {
  return {
    timestamp: Float64Array.from(rows, ([time]) => time),
    rate: Float64Array.from(rows, ([, rate]) => rate),
    markPrice: Float64Array.from(rows, ([, , mark]) => mark),
  };
}

function instrumentOf(market: VectorPair['market'], tiers: Scenario['leverage_tiers']): Instrument {
  return {
    ...(tiers && {
      leverageTiers: tiers.map(({ maintenanceMarginRate, maintAmt, ...tier }) => ({
        ...tier,
        maintenanceRate: maintenanceMarginRate,
        maintenanceAmount: maintAmt,
      })),
    }),
    amountStep: market.amount_step ?? null,
    minAmount: market.amount_min ?? null,
    maxAmount: market.amount_max ?? null,
    minCost: market.cost_min ?? null,
    maxCost: market.cost_max ?? null,
    contractSize: market.contract_size ?? 1,
    priceTick: market.price_tick ?? null,
  };
}

function signalsOf(said: Scenario['signals'][string]): Partial<PairScript> {
  const rows = (column: string) => said.filter(([, name]) => name === column).map(([row]) => row);
  const tags = (named: (column: string) => boolean) =>
    Object.fromEntries(said.filter(([, name, tag]) => tag && named(name)).map(([row, , tag]) => [row, tag!]));
  return {
    enterLong: rows('enter_long'),
    exitLong: rows('exit_long'),
    enterShort: rows('enter_short'),
    exitShort: rows('exit_short'),
    enterTags: tags((column) => column.startsWith('enter')),
    // The program that recorded the vectors passed no tags of exits: a tag of an exit signal counts for nothing.
    exitTags: tags((column) => column === 'exit_tag'),
  };
}

/** Detail candles that freqtrade reads: up to and including the open of its last main candle. */
function detailUpTo(set: CandleSet, last: number): Candles {
  const rows = (last - set.start_ms) / TIMEFRAME_MS[set.timeframe] + 1;
  return candlesOfSet({ ...set, rows: set.rows.slice(0, rows) });
}

/** The pairs of a scenario, prepared as those of a run: gaps are filled and startup candles are cut off. */
export function pairsOf(vector: Scenario, shared: Shared = SHARED): PairInput[] {
  const { startup_candles = 0 } = vector;
  const sets = Object.values(vector.pairs).map(({ candles }) => shared.candle_sets[candles]!);
  const { timeframe } = sets[0]!;
  const start = Math.min(...sets.map(({ start_ms }) => start_ms)) + startup_candles * TIMEFRAME_MS[timeframe];
  const strategy = { startupCandles: () => startup_candles } as unknown as StrategyDefinition;
  const config = {
    timeframe,
    params: {},
    date_range: { start: new Date(start).toISOString(), end: '2100-01-01T00:00:00Z' },
  } as unknown as ResolvedBacktestConfig;
  return Object.entries(vector.pairs).map(([pair, own]) => {
    const set = shared.candle_sets[own.candles]!;
    const candles = candlesOfSet(set);
    const history = readHistory(strategy, config, {
      pair,
      candles,
      ...(own.funding && { funding: fundingOf(shared.funding_sets[own.funding]!) }),
      ...(own.detail && {
        detail: detailUpTo(shared.candle_sets[own.detail]!, candles.timestamp.at(-1)!),
      }),
      instrument: instrumentOf(own.market, own.leverage_tiers ?? vector.leverage_tiers),
    });
    if ('reason' in history) throw new Error(history.reason);
    const { signals } = pairOf({ rows: set.rows, ...signalsOf(vector.signals[pair] ?? []) });
    const analysis = { columns: {}, informative: {}, signals };
    return cutRows(strategy, history, analysis, history.from, set.rows.length);
  });
}

/** Callbacks of a scenario's tables. Rows without an entry keep the proposed value. */
function callbacksOf({ answers, pairs }: Scenario, shared: Shared): StrategyCallbacks | undefined {
  if (!answers) return undefined;
  type At = { readonly pair: string; readonly time: number };
  const lookUp = (name: string, { pair, time }: At): Answer | undefined => {
    const byKey = answers[name]![pair] ?? answers[name]!['*'] ?? {};
    const { start_ms, timeframe } = shared.candle_sets[pairs[pair]!.candles]!;
    const stepMs = TIMEFRAME_MS[timeframe];
    const row = Math.floor((time - start_ms) / stepMs);
    const minutes = (time - start_ms - row * stepMs) / MINUTE;
    const key = minutes === 0 ? `${row}` : `${row}+${minutes}`;
    // `null` is a value, not a missing key.
    return key in byKey ? byKey[key] : byKey['*'];
  };
  const asked = <T extends Answer>(name: string, at: At, proposed: T): T => {
    const answer = lookUp(name, at);
    return (answer === undefined ? proposed : answer) as T;
  };
  const has = (name: string) => name in answers;
  return {
    ...(has('leverage') && { leverage: (at, _side, proposed) => asked('leverage', at, proposed) }),
    ...(has('custom_entry_price') && {
      customEntryPrice: (at, _side, proposed) => asked('custom_entry_price', at, proposed),
    }),
    ...(has('custom_stake_amount') && {
      // No scenario sets a stake of 0.
      customStake: (at, _side, proposed) => asked<number | null>('custom_stake_amount', at, proposed) ?? 0,
    }),
    ...(has('custom_exit_price') && {
      customExitPrice: (at: At, _trade: TradeView, proposed: number) =>
        asked('custom_exit_price', at, proposed),
    }),
    ...(has('custom_stoploss') && {
      customStoploss: (at) => asked<number | null>('custom_stoploss', at, null),
    }),
    ...(has('custom_stoploss_after_fill') && {
      afterFill: (at) => asked<number | null>('custom_stoploss_after_fill', at, null),
    }),
    ...(has('adjust_trade_position') && {
      adjustPosition: (at, { stake }) => {
        const answer = asked<Answer>('adjust_trade_position', at, null);
        if (Array.isArray(answer)) return { stake: answer[0], tag: answer[1] };
        if (typeof answer === 'object' && answer !== null && 'share' in answer) return answer.share * stake;
        return answer as number | null;
      },
    }),
    ...(has('custom_roi') && { customRoi: (at) => asked<number | null>('custom_roi', at, null) }),
    ...(has('custom_exit') && { customExit: (at) => asked<string | null>('custom_exit', at, null) }),
    ...(has('adjust_entry_price') && {
      adjustEntryPrice: (at, _trade, present) => asked<number | null>('adjust_entry_price', at, present),
    }),
    ...(has('adjust_exit_price') && {
      adjustExitPrice: (at, _trade, present) => asked<number | null>('adjust_exit_price', at, present),
    }),
    ...(has('check_entry_timeout') && {
      checkEntryTimeout: (at) => asked<boolean>('check_entry_timeout', at, false),
    }),
    ...(has('check_exit_timeout') && {
      checkExitTimeout: (at) => asked<boolean>('check_exit_timeout', at, false),
    }),
    ...(has('confirm_trade_entry') && {
      confirmEntry: (at) => asked<boolean>('confirm_trade_entry', at, true),
    }),
    ...(has('confirm_trade_exit_refused_reasons') && {
      confirmExit: (at, _trade, _price, reason) =>
        !asked<readonly string[]>('confirm_trade_exit_refused_reasons', at, []).includes(reason),
    }),
  };
}

/** Settings of a run in the engine's terms. */
export function settingsOf(vector: Scenario, shared: Shared = SHARED): SimulationSettings {
  const all: Record<string, any> = { ...shared.default_settings, ...vector.settings };
  const callbacks = callbacksOf(vector, shared);
  const { entry, exit, unit } = all.unfilledtimeout as { entry: number; exit: number; unit: string };
  const perMinute = unit === 'seconds' ? 60 : 1;
  const { entry: entryType, exit: exitType } = all.order_types as OrderTypes;
  return {
    timeframeMs: TIMEFRAME_MS[all.timeframe as Timeframe],
    ...(all.timeframe_detail && { detailTimeframeMs: TIMEFRAME_MS[all.timeframe_detail as Timeframe] }),
    startingBalance: all.dry_run_wallet,
    stake:
      all.stake_amount === 'unlimited' ? { kind: 'unlimited' } : { kind: 'fixed', amount: all.stake_amount },
    tradableBalanceRatio: all.tradable_balance_ratio,
    amendLastStakeAmount: all.amend_last_stake_amount,
    lastStakeAmountMinRatio: all.last_stake_amount_min_ratio,
    maxOpenTrades: all.max_open_trades ?? Object.keys(vector.pairs).length,
    fee: all.fee,
    slippage: 0,
    leverage: 1,
    canShort: vector.can_short,
    stoploss: all.stoploss,
    ...(all.trailing_stop && {
      trailing: {
        ...(all.trailing_stop_positive !== null && { positive: all.trailing_stop_positive }),
        offset: all.trailing_stop_positive_offset,
        only_offset_is_reached: all.trailing_only_offset_is_reached,
      },
    }),
    minimalRoi: all.minimal_roi,
    useExitSignal: all.use_exit_signal,
    exitProfitOnly: all.exit_profit_only,
    exitProfitOffset: all.exit_profit_offset,
    ignoreRoiIfEntrySignal: all.ignore_roi_if_entry_signal,
    fillModel: 'freqtrade',
    liquidation: {
      maintenanceMarginRate: 0.005,
      buffer: all.liquidation_buffer ?? 0.05,
      closingFee: 0,
      marginMode: all.margin_mode,
    },
    positionStacking: all.position_stacking,
    unfilledTimeout: { entry: entry / perMinute, exit: exit / perMinute },
    orderTypes: { entry: entryType, exit: exitType },
    ...(all.available_capital && { availableCapital: all.available_capital }),
    ...(all.ignore_buying_expired_candle_after && {
      // A signal of this age still acts.
      ignoreEntryAfterCandles:
        Math.floor(
          (all.ignore_buying_expired_candle_after * 1000) / TIMEFRAME_MS[all.timeframe_detail as Timeframe],
        ) + 1,
    }),
    ...(all.max_entry_position_adjustment >= 0 && { maxAdjustments: all.max_entry_position_adjustment }),
    ...(vector.protections && { protections: vector.protections }),
    ...(callbacks && { callbacks }),
  };
}

/** Relative error of the last digits of a double, which depend on the order of operations. */
const LAST_DIGITS = 4e-15;

/** All differences between a run and freqtrade's, as messages. Numbers may differ by `relative`. */
export function differences(
  { trades, counters, finalBalance, locks }: Simulation,
  vector: Scenario,
  expected: Expected,
  { shared = SHARED, relative = LAST_DIGITS }: { readonly shared?: Shared; readonly relative?: number } = {},
): string[] {
  const start = Math.min(
    ...Object.values(vector.pairs).map(({ candles }) => shared.candle_sets[candles]!.start_ms),
  );
  const minute = (time: number) => (time - start) / MINUTE;
  const fee = (vector.settings.fee ?? shared.default_settings.fee) as number;
  const wrong: string[] = [];
  if (trades.length !== expected.trades.length)
    wrong.push(`${trades.length} trades, not ${expected.trades.length}`);
  for (const [index, row] of expected.trades.entries()) {
    const trade = trades[index];
    if (!trade) break;
    const theirs = Object.fromEntries(shared.trade_columns.map((name, at) => [name, row[at]]));
    theirs.fees = feesOf(theirs, fee);
    const ours: Record<string, unknown> = {
      pair: trade.pair,
      side: trade.side,
      open: minute(trade.openedAt),
      close: minute(trade.closedAt),
      open_rate: trade.entryPrice,
      close_rate: trade.exitPrice,
      amount: trade.amount,
      stake_amount: trade.stake,
      leverage: trade.leverage,
      profit_abs: trade.profit,
      profit_ratio: trade.profitRatio,
      exit_reason: trade.exitReason,
      enter_tag: trade.enterTag,
      initial_stop: trade.initialStopPrice,
      stop: trade.stopPrice,
      // freqtrade has none of a position that is taken out whole in the candle of its entry.
      ...(theirs.min_rate !== null && { min_rate: trade.lowestPrice, max_rate: trade.highestPrice }),
      funding_fees: trade.funding,
      fees: trade.fees,
      // A long without leverage has no liquidation price here (docs/decisions/039).
      ...(trade.liquidationPrice !== null && { liquidation_price: trade.liquidationPrice }),
    };
    if (Array.isArray(theirs.orders))
      wrong.push(...differentOrders(trade, theirs.orders, minute, index, relative));
    else if (trade.orders && 'orders' in theirs)
      wrong.push(`trade ${index}: ${trade.orders.length} orders, not 2`);
    for (const [name, value] of Object.entries(ours))
      if (!isSame(value, theirs[name], relative))
        wrong.push(
          `trade ${index}: ${name} ${value}, not ${theirs[name]} (opened at ${theirs.open}, ${theirs.exit_reason})`,
        );
  }
  // The texts of the reasons are our own.
  const ourLocks = locks.map((lock) => [
    lock.pair ?? '*',
    lock.side ?? '*',
    minute(lock.from),
    minute(lock.until),
  ]);
  const theirLocks = (expected.locks ?? []).map((lock) => lock.slice(0, 4));
  if (JSON.stringify(ourLocks.sort()) !== JSON.stringify(theirLocks.sort()))
    wrong.push(`locks ${JSON.stringify(ourLocks)}, not ${JSON.stringify(theirLocks)}`);
  const ours: Record<string, number> = {
    // freqtrade counts one in each detail candle.
    ...(!vector.settings.timeframe_detail && { rejected_signals: counters.rejectedSignals }),
    timedout_entry_orders: counters.timedOutEntries,
    timedout_exit_orders: counters.timedOutExits,
    canceled_trade_entries: counters.cancelledEntries,
    replaced_entry_orders: counters.replacedEntries,
    replaced_exit_orders: counters.replacedExits,
    // freqtrade counts a replaced exit as a cancelled one too, and one that gives way to another exit.
    ...(vector.answers?.adjust_exit_price && {
      canceled_exit_orders: counters.replacedExits + counters.cancelledExits,
    }),
  };
  for (const [name, count] of Object.entries(ours))
    if (count !== (expected.counters[name] ?? 0))
      wrong.push(`${name} ${count}, not ${expected.counters[name] ?? 0}`);
  // A sum of profits, whose last digits are those of the largest balance.
  const wallet = vector.settings.dry_run_wallet ?? shared.default_settings.dry_run_wallet;
  if (!isSame(finalBalance, expected.final_balance, relative, wallet as number))
    wrong.push(`final balance ${finalBalance}, not ${expected.final_balance}`);
  return wrong;
}

/** Of all orders of a trade in freqtrade's columns: those without a list of them are an entry and an exit. */
function feesOf({ amount, open_rate, close_rate, orders }: Record<string, unknown>, fee: number): number {
  if (Array.isArray(orders)) return (orders as OrderRow[]).reduce((sum, [, , , , , paid]) => sum + paid, 0);
  return (amount as number) * fee * ((open_rate as number) + (close_rate as number));
}

/** Differences between the orders of a trade; one of two orders has no list of them. */
function differentOrders(
  { orders }: Simulation['trades'][number],
  theirs: readonly OrderRow[],
  minute: (time: number) => number,
  trade: number,
  relative: number,
): string[] {
  if (!orders) return theirs.length === 2 ? [] : [`trade ${trade}: no orders, not ${theirs.length}`];
  const ours = orders.map(({ side, price, amount, placedAt, filledAt, fee, funding, tag }) => [
    side === 'entry' ? 1 : 0,
    price,
    amount,
    minute(placedAt),
    minute(filledAt),
    fee,
    funding,
    tag,
  ]);
  const isEqual =
    ours.length === theirs.length &&
    ours.every((order, row) => order.every((value, column) => isSame(value, theirs[row]![column], relative)));
  return isEqual ? [] : [`trade ${trade}: orders ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`];
}

/** `least` is the least number of which the difference is a share. */
function isSame(a: unknown, b: unknown, relative: number, least = 1): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= relative * Math.max(Math.abs(a), Math.abs(b), least);
}
