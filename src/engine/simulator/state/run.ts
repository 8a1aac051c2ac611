import { turnTo } from '../../run/whereabouts.ts';
import type { CallbackContext, Columns } from '../../strategy.ts';
import { round8 } from '../rules/decimals.ts';
import { type Direction, slippedExit } from '../rules/exit-prices.ts';
import type { Terms } from '../terms.ts';
import type { SimulationCounters } from '../types.ts';
import { Bar } from './bar.ts';
import type { CurveRecorder } from './curve-recorder.ts';
import type { Market } from './market.ts';
import type { Position } from './position.ts';
import { TradeBook } from './trade-book.ts';

const NO_COLUMNS: Columns = {};

/** State of one simulation: the wallet, the open positions in the order they were opened, and what has been booked. */
export class Run {
  readonly terms: Terms;
  readonly bar: Bar;
  /** Of the curve, if one is wanted. */
  recorder: CurveRecorder | null = null;
  /** Reused for every callback. */
  readonly #context: Context;
  readonly positions: Position[] = [];
  readonly book: TradeBook;
  /** Scratch list of the pairs to simulate in the present step. */
  readonly active: Market[] = [];
  readonly counters: { -readonly [K in keyof SimulationCounters]: number } = {
    rejectedSignals: 0,
    timedOutEntries: 0,
    timedOutExits: 0,
    cancelledEntries: 0,
    replacedEntries: 0,
  };
  /** Starting balance plus the profit of closed trades, quote currency, at 8 decimals like each profit. */
  balance: number;
  /** The present step of the clock. */
  step = 0;

  constructor(terms: Terms, markets: readonly Market[], startingBalance: number) {
    this.terms = terms;
    this.book = new TradeBook(terms, markets);
    this.bar = new Bar(terms.timeframeMs);
    this.#context = new Context(this.bar);
    this.balance = startingBalance;
  }

  /** Collateral of all positions, waiting entries included. Summed afresh: a running sum would drift. */
  collateral(): number {
    let sum = 0;
    for (const position of this.positions) sum += position.stake;
    return sum;
  }

  /** Must precede whatever changes the account: the steps before the present one are recorded as the account is now. */
  recordBefore(): void {
    this.recorder?.record(this, this.step);
  }

  /** Takes a slot for a new position, whose entry is still to be ordered. */
  open(market: Market, direction: Direction, leverage: number): Position {
    this.recordBefore();
    const position = market.seat;
    position.reset(direction, leverage, this.bar.row, this.bar.time);
    this.positions.push(position);
    market.position = position;
    return position;
  }

  /** Takes a position out of the run, without a trade when its entry never filled. */
  remove(position: Position): void {
    this.recordBefore();
    this.positions.splice(this.positions.indexOf(position), 1);
    position.market.position = null;
  }

  /** Closes a position in the present candle at `price`, which slippage worsens if it `slips`, and books the trade. */
  close(position: Position, price: number, slips: boolean, reason: string, leftOpen = false): void {
    const { amount, direction } = position;
    const filled = slips ? slippedExit(price, this.terms.slippage, direction) : price;
    position.slippageCost += amount * Math.abs(price - filled);
    this.recordBefore();
    const profit = this.book.add(position, this.bar.time, filled, reason, leftOpen);
    this.balance = round8(this.balance + profit);
    this.remove(position);
  }

  /** The callback context of `market` in the present candle. */
  contextOf(market: Market): CallbackContext {
    this.#context.look(market);
    return this.#context;
  }
}

/** What callbacks see of the present candle. */
class Context implements CallbackContext {
  readonly #bar: Bar;
  #market: Market | null = null;

  constructor(bar: Bar) {
    this.#bar = bar;
  }

  /** Turns to a pair. */
  look(market: Market): void {
    if (this.#market === market) return;
    this.#market = market;
    turnTo(market.index);
  }
  get time() {
    return this.#bar.time;
  }
  get index() {
    return this.#bar.row;
  }
  get pair() {
    return this.#market!.input.pair;
  }
  get candles() {
    return this.#market!.candles;
  }
  get columns() {
    return this.#market!.input.columns ?? NO_COLUMNS;
  }
}
