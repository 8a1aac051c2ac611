import { type Drawdown, DrawdownScan } from '../../stats/drawdown.ts';
import { round8 } from '../rules/decimals.ts';
import { unrealizedProfit } from '../rules/money.ts';
import type { TradeTable } from '../trade-table.ts';
import type { EquityCurve } from '../types.ts';
import type { Clock } from './market.ts';
import type { SimulationMemory } from './memory.ts';
import type { Position } from './position.ts';
import type { TradeRecorder } from './trade-recorder.ts';
import type { Wallet } from './wallet.ts';

/** Rows of several positions after which the drawdown reads them: they are then still in the processor cache. */
const SCAN = 2048;

/**
 * The equity curve of a run. Equity is written interval by interval during the run; the other columns follow from the closed
 * trades, and are built at the first read.
 */
export class AccountCurve implements EquityCurve {
  declare readonly timestamp: Float64Array;
  declare readonly equity: Float64Array;
  /** Drawdown of the rows that it has read. */
  declare readonly scan: DrawdownScan;
  readonly #startingBalance: number;
  readonly #timeframeMs: number;
  readonly #trades: TradeRecorder;
  #balance: Float64Array | null = null;
  #openTrades: Uint16Array | null = null;

  /** `timestamp`: open times of the candles, without gaps. `trades` may still be empty. */
  constructor(
    timestamp: Float64Array,
    startingBalance: number,
    timeframeMs: number,
    trades: TradeRecorder,
    memory: SimulationMemory,
  ) {
    this.timestamp = timestamp;
    this.equity = memory.equity(timestamp.length);
    this.scan = new DrawdownScan(startingBalance);
    this.#startingBalance = startingBalance;
    this.#timeframeMs = timeframeMs;
    this.#trades = trades;
  }

  get drawdown(): Drawdown {
    this.scan.read(this.equity, this.equity.length);
    return this.scan.worst;
  }

  get balance(): Float64Array {
    this.#balance ??= this.#balances();
    return this.#balance;
  }

  get openTrades(): Uint16Array {
    this.#openTrades ??= this.#countOpen();
    return this.#openTrades;
  }

  #balances(): Float64Array {
    const balances = new Float64Array(this.timestamp.length);
    let cash = this.#startingBalance;
    let from = 0;
    let atEnd = 0;
    const { table, partialExits } = this.#trades;
    const book = (time: number, profit: number) => {
      const to = this.#rowOf(time);
      balances.fill(cash, from, to);
      cash = round8(cash + profit);
      from = to;
    };
    let partial = 0;
    const bookPartialExits = (until: number) => {
      for (; partial < partialExits.length && partialExits[partial]!.time <= until; partial++)
        book(partialExits[partial]!.time, partialExits[partial]!.profit);
    };
    for (let trade = 0; trade < table.length; trade++) {
      const profit = round8(table.profit[trade]! - this.#trades.realizedBefore(trade));
      if (table.leftOpen[trade] === 1) {
        atEnd = round8(atEnd + profit);
        continue;
      }
      const closedAt = table.closedAt[trade]!;
      bookPartialExits(closedAt);
      book(closedAt, profit);
    }
    bookPartialExits(Number.POSITIVE_INFINITY);
    const last = this.timestamp.length - 1;
    balances.fill(cash, from, last);
    return balances.fill(round8(cash + atEnd), Math.max(last, 0));
  }

  #countOpen(): Uint16Array {
    const counts = new Uint16Array(this.timestamp.length);
    // First the changes in each row, then their running sum; both modulo 2^16.
    const { table, filledAt } = this.#trades;
    for (let trade = 0; trade < table.length; trade++) {
      counts[this.#rowOf(filledAt[trade]!)]! += 1;
      counts[this.#closingRow(table, trade)]! -= 1;
    }
    for (let row = 1, { length } = counts; row < length; row++) counts[row]! += counts[row - 1]!;
    return counts;
  }

  /** A trade left open is closed at the end of the run, also when the candles of its pair end earlier. */
  #closingRow({ leftOpen, closedAt }: TradeTable, trade: number): number {
    return leftOpen[trade] === 1 ? this.timestamp.length - 1 : this.#rowOf(closedAt[trade]!);
  }

  #rowOf(time: number): number {
    return Math.floor((time - this.timestamp[0]!) / this.#timeframeMs);
  }
}

/**
 * Writes the equity after each step of the clock; row `step - 1` is the candle of `step`. It writes whole intervals in which only
 * prices change: {@link record} is called before every change of the account.
 */
export class EquityRecorder {
  declare readonly curve: AccountCurve;
  readonly #wallet: Wallet;
  /** Rows written. */
  #rows = 0;

  /** `wallet` and `trades` are those of the run at its start. */
  constructor(
    clock: Clock,
    timeframeMs: number,
    wallet: Wallet,
    trades: TradeRecorder,
    memory: SimulationMemory,
  ) {
    this.#wallet = wallet;
    const times = clockTimes(clock, timeframeMs);
    this.curve = new AccountCurve(times, wallet.balance, timeframeMs, trades, memory);
  }

  /** Records the steps before `step` that are not yet recorded, with the present account. */
  record(step: number): void {
    const from = this.#rows;
    const to = step - 1;
    if (to <= from) return;
    const { positions, balance } = this.#wallet;
    const { equity, scan } = this.curve;
    const only = positions.length === 1 ? positions[0]! : null;
    if (only !== null && only.order.kind !== 'entry' && to < only.market.offset + only.market.length)
      fillHolding(equity, scan, only, from, to, balance);
    else {
      equity.fill(balance, from, to);
      // `for of` would make an object for each position of each step.
      for (let index = 0, { length } = positions; index < length; index++) {
        const position = positions[index]!;
        if (position.order.kind !== 'entry') addUnrealized(equity, position, from, to);
      }
      // The columns may be those of the next run when the drawdown is asked for.
      if (to - scan.rows >= SCAN || to === equity.length) scan.read(equity, to);
    }
    this.#rows = to;
  }
}

/** Open times of the steps, shared with the candles of a pair that spans the whole clock. */
function clockTimes({ markets, start, steps }: Clock, timeframeMs: number): Float64Array {
  const whole = markets.find(({ offset, length }) => offset === 0 && length === steps + 1);
  if (whole) return whole.candles.timestamp.subarray(1);
  const times = new Float64Array(steps);
  for (let row = 0; row < steps; row++) times[row] = start + (row + 1) * timeframeMs;
  return times;
}

/**
 * Fills rows in which only `position` is open and its pair has candles, and reads their drawdown: one loop, because this is the
 * most frequent case. More than five arguments because each step with an event calls it: an object would be made for each.
 */
function fillHolding(
  equity: Float64Array,
  scan: DrawdownScan,
  position: Position,
  from: number,
  to: number,
  cash: number,
): void {
  if (scan.rows < from) scan.read(equity, from);
  const { amount, openValue, openFunding, direction, market } = position;
  const { close } = market.candles;
  // The equity is linear in the price: a product and a sum per row.
  const perPrice = direction * amount;
  const atZero = cash - direction * openValue + openFunding;
  // Curve row 0 is step 1.
  const shift = 1 - market.offset;
  for (let row = from; row < to; row++) {
    const { low, peak } = scan;
    let value: number;
    // The loop ends at each event: with the booking in it, V8 would read the columns' addresses anew for every row.
    do {
      value = perPrice * close[row + shift]! + atZero;
      equity[row] = value;
    } while (value >= low && value < peak && ++row < to);
    if (row < to) scan.book(value, row);
  }
  scan.rows = to;
}

/** Adds a position's unrealized profit at each close; after the end of its data, at its last close. */
function addUnrealized(equity: Float64Array, position: Position, from: number, to: number): void {
  const { amount, openValue, openFunding, direction, market } = position;
  const { close } = market.candles;
  // Curve row 0 is step 1.
  const shift = 1 - market.offset;
  const end = Math.min(to, market.length - shift);
  const closeEnd = end + shift;
  for (let row = from + shift; row < closeEnd; row++)
    equity[row - shift]! += unrealizedProfit(amount, close[row]!, openValue, openFunding, direction);
  if (end === to) return;
  const last = unrealizedProfit(amount, close[market.length - 1]!, openValue, openFunding, direction);
  for (let row = Math.max(from, end); row < to; row++) equity[row]! += last;
}
