import type { ColumnsStatus } from '#contract/backtests/backtest-columns.ts';
import type { Order } from '#contract/backtests/report.ts';
import type { TradeReason, TradeRule, TradeWhy } from '#contract/backtests/trade-reasons.ts';
import { SIGNAL_NAMES } from '#contract/values/columns-limits.ts';
import { minutesSince } from '#engine/simulator/rules/roi.ts';
import { DELISTED } from '#engine/simulator/trade-table.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ColumnsJobDeps } from './columns-job.ts';
import { type ComputedTrade, computedTrade, type RowValues } from './computed-trade.ts';
import { type Levels, TradeLevels } from './trade-levels.ts';

type Values = TradeReason['values'];

/** Reasons that the simulator gives; a strategy may return the same words. */
const OWN_REASONS = ['stop_loss', 'trailing_stop_loss', 'liquidation', 'roi'] as const;
type OwnReason = (typeof OWN_REASONS)[number];
/** Reason of an exit signal without a tag. */
const EXIT_SIGNAL = 'exit_signal';
/** Candles before an exit that are searched for its signal: an order may wait for its price. */
const SEARCHED_ROWS = 5_000;

/** Why a trade was entered, changed and closed. Throws as {@link computedTrade}. */
export async function explainTrade(
  deps: ColumnsJobDeps,
  jobId: string,
  id: number,
  correlationId: string,
): Promise<TradeWhy | ColumnsStatus> {
  const computed = await computedTrade(deps, jobId, id, correlationId);
  if ('status' in computed) return computed;
  const { trade, changed } = computed;
  const orders = trade.orders ?? [];
  const last = orders.findLastIndex(({ side }) => side === 'exit');
  const additions = orders.filter(({ side }, index) => side === 'entry' && index > 0);
  const partial = orders.filter(({ side }, index) => side === 'exit' && index < last);
  const [entry, exit, added, taken] = await Promise.all([
    explainEntry(computed),
    explainExit(computed),
    Promise.all(additions.map((order) => explainAdjustment(computed, order, 'addition'))),
    Promise.all(partial.map((order) => explainAdjustment(computed, order, 'partial_exit'))),
  ]);
  return {
    trade,
    entry,
    exit,
    ...(added.length > 0 && { additions: added }),
    ...(taken.length > 0 && { partial_exits: taken }),
    ...(changed.length > 0 && { changed_candles: changed }),
  };
}

const rowOf = ({ pair: { first, step } }: ComputedTrade, time: number) => Math.floor((time - first) / step);
const timeOf = ({ pair: { first, step } }: ComputedTrade, row: number) => isoTime(first + row * step);

async function valuesAt(computed: ComputedTrade, row: number): Promise<RowValues> {
  return (await computed.rows(row, row + 1))[0] ?? {};
}

/** `2026-03-01 02:00`, in UTC. */
const minute = (time: string) => time.slice(0, 16).replace('T', ' ');
const price = (value: number) => String(Number(value.toPrecision(10)));
const percent = (ratio: number | null) =>
  ratio === null ? 'at a distance' : `${Number((ratio * 100).toPrecision(6))} %`;

async function explainEntry(computed: ComputedTrade): Promise<TradeReason> {
  const { trade, backtest } = computed;
  const row = rowOf(computed, Date.parse(trade.opened_at)) - 1;
  const [first] = trade.orders ?? [];
  const isGiven = backtest.config.signals !== undefined;
  const signal = timeOf(computed, row);
  const paid = first?.price ?? trade.entry_price;
  const what = whoSignaled(backtest);
  const tag = trade.enter_tag === null ? '' : ` with the tag ${JSON.stringify(trade.enter_tag)}`;
  return {
    candle: timeOf(computed, rowOf(computed, Date.parse(first?.filled_at ?? trade.opened_at))),
    rule: isGiven ? 'given_signal' : 'enter_signal',
    price: paid,
    reason: trade.enter_tag,
    values: { ...(await valuesAt(computed, row)), signal_candle: signal },
    text: `Entered ${trade.side} at ${price(paid)}: ${what} enter_${trade.side} on the candle of ${minute(signal)}${tag}.`,
  };
}

/** A rule with what it depended on. */
interface Explained {
  readonly rule: TradeRule;
  readonly values: Values;
  readonly text: string;
}

async function explainExit(computed: ComputedTrade): Promise<TradeReason> {
  const { trade } = computed;
  const closed = Date.parse(trade.closed_at);
  const row = rowOf(computed, closed);
  const last = trade.orders?.findLast(({ side }) => side === 'exit');
  const paid = last?.price ?? trade.exit_price;
  const { rule, values, text } = await exitRule(computed, row);
  return {
    candle: timeOf(computed, row),
    rule,
    price: paid,
    reason: trade.exit_reason,
    values,
    text: `Closed at ${price(paid)}: ${text}`,
  };
}

/** Subject and verb of a signal. */
function whoSignaled({ config }: ComputedTrade['backtest']): string {
  return config.signals === undefined ? 'the strategy signaled' : 'the uploaded signals have';
}

async function exitRule(computed: ComputedTrade, row: number): Promise<Explained> {
  const { trade, backtest, reasons, pair } = computed;
  const { exit_reason: reason } = trade;
  if (trade.left_open) return atEnd(computed, 'force_exit', 'the data ended here, and the trade was open.');
  if (reason === DELISTED && backtest.config.universe)
    return atEnd(computed, 'delisted', 'the candles of the pair end here: it was delisted.');
  const own = OWN_REASONS.find((each) => each === reason);
  const [asked, returned] = reasons.exit ?? [Number.NaN, ''];
  const isReturned = returned === reason && (!own || rowOf(computed, asked) === row);
  if (isReturned) return byCallback(computed, rowOf(computed, asked), returned);
  const signal = await exitSignalRow(computed, row, own ? 1 : SEARCHED_ROWS);
  if (signal !== undefined) {
    const time = isoTime(pair.first + signal * pair.step);
    return {
      rule: 'exit_signal',
      values: { ...(await valuesAt(computed, signal)), signal_candle: time },
      text: `${whoSignaled(backtest)} exit_${trade.side} on the candle of ${minute(time)}${reason === EXIT_SIGNAL ? '' : ` with the tag ${JSON.stringify(reason)}`}.`,
    };
  }
  if (own) return byLevel(computed, own, row);
  // A reason of a callback that was asked in an earlier candle, whose order has waited.
  return byCallback(computed, Number.isNaN(asked) ? row : rowOf(computed, asked), returned || reason);
}

function atEnd({ pair }: ComputedTrade, rule: TradeRule, text: string): Explained {
  return { rule, values: { last_candle: isoTime(pair.first + (pair.rows - 1) * pair.step) }, text };
}

async function byCallback(computed: ComputedTrade, row: number, returned: string): Promise<Explained> {
  return {
    rule: 'custom_exit',
    values: { ...(await valuesAt(computed, row - 1)), returned },
    text: `customExit returned ${JSON.stringify(returned)} at the open of the candle of ${minute(timeOf(computed, row))}.`,
  };
}

/** The latest row before the exit whose signal has its reason; undefined without one. */
async function exitSignalRow(
  computed: ComputedTrade,
  row: number,
  rows: number,
): Promise<number | undefined> {
  const { trade } = computed;
  const isLong = trade.side === 'long';
  const exits = isLong ? SIGNAL_NAMES.exitLong : SIGNAL_NAMES.exitShort;
  const enters = isLong ? SIGNAL_NAMES.enterLong : SIGNAL_NAMES.enterShort;
  const from = Math.max(0, row - rows, rowOf(computed, Date.parse(trade.opened_at)) - 1);
  const found = await computed.rows(from, row, [exits, enters, SIGNAL_NAMES.exitTag]);
  const at = found.findLastIndex(
    (each) =>
      each[exits] === 1 &&
      each[enters] !== 1 &&
      (each[SIGNAL_NAMES.exitTag] ?? EXIT_SIGNAL) === trade.exit_reason,
  );
  return at < 0 ? undefined : from + at;
}

/** Levels of a trade as it was closed, and the price that reached them. */
interface Closing {
  readonly computed: ComputedTrade;
  readonly levels: Levels | undefined;
  readonly closed: number;
  /** Name of the worst price of a candle. */
  readonly worst: 'low' | 'high';
  /** That of the candle of the exit. */
  readonly extreme: number | null;
}

/** An exit by a price of the trade. */
async function byLevel(computed: ComputedTrade, rule: OwnReason, row: number): Promise<Explained> {
  const { trade, reasons, backtest } = computed;
  const closed = Date.parse(trade.closed_at);
  const worst = trade.side === 'long' ? 'low' : 'high';
  const closing: Closing = {
    computed,
    levels: new TradeLevels(trade, reasons, backtest.config).at(closed, Number.POSITIVE_INFINITY),
    closed,
    worst,
    extreme: ((await valuesAt(computed, row))[worst] as number | null | undefined) ?? null,
  };
  return { rule, ...LEVELS[rule](closing) };
}

const LEVELS: Readonly<Record<OwnReason, (closing: Closing) => Omit<Explained, 'rule'>>> = {
  roi: ({ computed: { reasons }, levels, closed }) => {
    const { ratio, price: level } = levels?.target ?? { ratio: null, price: null };
    const minutes = minutesSince(reasons.opened_at, closed);
    const required = ratio === null ? null : Math.round(ratio * 1e12) / 1e10;
    return {
      values: { minutes, required_pct: required, level },
      text: `the profit reached the ${required} % that the ROI requires after ${minutes} minutes, at ${shown(level)}.`,
    };
  },
  liquidation: (closing) => {
    const { computed, levels, worst, extreme } = closing;
    const level = levels?.liquidation ?? computed.trade.liquidation_price;
    return {
      values: { level, [worst]: extreme },
      text: `${reached(closing, level)} the liquidation price of ${shown(level)}.`,
    };
  },
  stop_loss: (closing) => {
    const { computed, levels, worst, extreme } = closing;
    const { stop_price: level, entry_price } = computed.trade;
    const ratio = levels ? -levels.distance : null;
    return {
      values: { level, entry_price, ratio, [worst]: extreme },
      text: `${reached(closing, level)} the stop of ${shown(level)}, ${percent(ratio)} from the entry price of ${shown(entry_price)}.`,
    };
  },
  trailing_stop_loss: (closing) => {
    const { computed, levels, worst, extreme } = closing;
    const { stop_price: level } = computed.trade;
    const { distance = null, from: best_price = null } = levels ?? {};
    const offset = computed.backtest.config.trailing?.offset ?? null;
    return {
      values: { level, best_price, distance, offset, [worst]: extreme },
      text: `${reached(closing, level)} the trailing stop of ${shown(level)}, ${percent(distance)} from the best price of ${shown(best_price)}.`,
    };
  },
};

function reached({ worst, extreme }: Closing, level: number | null): string {
  return extreme === null || level === null
    ? 'the price reached'
    : `the ${worst} of ${shown(extreme)} reached`;
}

const shown = (value: number | null) => (value === null ? 'an unknown price' : price(value));

/** An order of adjustPosition, or a part of an exit that the volume of its candle allowed. */
async function explainAdjustment(
  computed: ComputedTrade,
  order: Order,
  rule: 'addition' | 'partial_exit',
): Promise<TradeReason> {
  const { reasons } = computed;
  const row = rowOf(computed, Date.parse(order.placed_at));
  const sign = rule === 'addition' ? 1 : -1;
  const found = reasons.adjustments.findLast(
    ([time, stake]) => rowOf(computed, time) === row && Math.sign(stake ?? 0) === sign,
  );
  const returned = found?.[1] ?? null;
  const done = rule === 'addition' ? 'Added' : 'Took out';
  return {
    candle: timeOf(computed, rowOf(computed, Date.parse(order.filled_at))),
    rule,
    price: order.price,
    reason: order.tag,
    values: { ...(await valuesAt(computed, row - 1)), returned },
    text:
      returned === null
        ? `${done} ${price(order.amount)} at ${price(order.price)}: what the candle allowed of an order.`
        : `${done} ${price(order.amount)} at ${price(order.price)}: adjustPosition returned a stake of ${price(returned)} at the open of the candle of ${minute(timeOf(computed, row))}.`,
  };
}
