import { Progress } from '../progress.ts';
import { round8 } from '../rules/decimals.ts';
import type { Direction } from '../rules/exit-prices.ts';
import { allowedStake, availableStake, proposedStake } from '../rules/money.ts';
import { keepShapes, NO_INPUT } from '../shapes.ts';
import { AccountCurve } from '../state/curve.ts';
import { Market } from '../state/market.ts';
import { checkGrid } from '../state/schedule.ts';
import { readTerms, type Terms } from '../terms.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from '../types.ts';
import { KernelBook } from './book.ts';
import { Corridor } from './corridor.ts';
import { KernelCurve } from './curve.ts';
import { setCorridor, tryExits } from './exits.ts';
import { SignalFinder } from './signals.ts';
import { KernelTrade } from './trade.ts';

/** Whether {@link simulateKernel} applies: one pair, without callbacks and detail candles. */
export function canUseKernel(pairs: readonly PairInput[], settings: SimulationSettings): boolean {
  const { callbacks = {}, detailTimeframeMs = settings.timeframeMs } = settings;
  return (
    pairs.length === 1 &&
    pairs[0]!.candles.timestamp.length > 0 &&
    detailTimeframeMs === settings.timeframeMs &&
    Object.values(callbacks).every((callback) => callback === undefined)
  );
}

/**
 * The simulation of {@link simulateLoop} for one pair, to the same bits, as jumps from signal to signal: between the entry
 * and the exit of a trade only the prices are scanned that could end it.
 *
 * @param pairs and settings that {@link canUseKernel} accepts.
 * @throws RangeError on candles with holes and on settings that contradict each other.
 * @throws SimulationStopped when `options.onProgress` returned false.
 */
export function simulateKernel(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions = {},
): Simulation {
  const terms = readTerms(settings);
  const input = pairs[0]!;
  checkGrid(input, input.candles.timestamp[0]!, terms.timeframeMs);
  const kernel = new Kernel(input, terms, settings.startingBalance, options);
  kernel.run();
  keepShapes('kernel', new Kernel(NO_INPUT, terms, 0, { equity: options.equity ?? true }));
  return {
    outcomes: kernel.book,
    get table() {
      return kernel.book.table;
    },
    get trades() {
      return kernel.book.trades;
    },
    curve: kernel.curve,
    finalBalance: kernel.balance,
    counters: {
      rejectedSignals: 0,
      timedOutEntries: 0,
      timedOutExits: kernel.timedOutExits,
      cancelledEntries: 0,
      replacedEntries: 0,
    },
  };
}

/** What stands for the signals that a pair does not have: zeros, or nothing when it has them all. */
function silentColumn({ candles, signals }: PairInput, { canShort }: Terms): Uint8Array {
  const { enterLong, exitLong, enterShort, exitShort } = signals;
  const complete = enterLong && exitLong && enterShort && exitShort && canShort;
  return new Uint8Array(complete ? 0 : candles.timestamp.length);
}

/** State of one run: the wallet, the one trade that may be open, and what has been booked. */
class Kernel {
  readonly book: KernelBook;
  readonly curve: AccountCurve | null;
  balance: number;
  timedOutExits = 0;
  readonly #terms: Terms;
  readonly #recorder: KernelCurve | null;
  readonly #market: Market;
  readonly #length: number;
  readonly #signals: SignalFinder;
  readonly #corridor: Corridor;
  readonly #trade: KernelTrade;
  readonly #progress: Progress;

  constructor(input: PairInput, terms: Terms, balance: number, options: SimulateOptions) {
    this.#terms = terms;
    this.#length = input.candles.timestamp.length;
    this.#market = new Market(input, 0, 0, terms.canShort, silentColumn(input, terms));
    this.#signals = new SignalFinder(this.#market, terms);
    this.#corridor = new Corridor(input.candles);
    this.book = new KernelBook(terms, this.#market);
    this.#trade = new KernelTrade(this.#market, terms);
    this.#progress = new Progress(options.onProgress, this.#length - 1);
    this.curve =
      options.equity === false
        ? null
        : new AccountCurve(input.candles.timestamp.subarray(1), balance, terms.timeframeMs, this.book);
    this.#recorder = this.curve && new KernelCurve(this.curve.equity);
    this.balance = balance;
  }

  run(): void {
    const last = this.#length - 1;
    let row = this.#signals.nextEntry(1);
    while (row < last) {
      row = this.#simulateTrade(row) ?? this.#signals.nextEntry(row + 1);
      if (row >= this.#progress.next) this.#progress.report(row);
    }
    this.#recorder?.idle(this.#length, this.balance);
  }

  /** The trade entered in `row`. Returns the row of the next entry; null when there is no trade. */
  #simulateTrade(row: number): number | null {
    const market = this.#market;
    const direction = market.entryDirection(row) as Direction;
    const stake = this.#stake(row);
    if (!(stake > 0) || !this.#trade.open(row, direction, stake)) return null;
    this.#recorder?.idle(row, this.balance);
    const exitRow = this.#hold(row);
    this.#book(exitRow);
    // The candle of an exit may carry the entry of the other side (1.4); one of its own side waits for a later candle.
    const reversed = market.entryDirection(exitRow) === -direction;
    return reversed ? exitRow : this.#signals.nextEntry(exitRow + 1);
  }

  /** Books the open trade, closed in `exitRow`: by force when that lies behind the last candle. */
  #book(exitRow: number): void {
    const trade = this.#trade;
    const last = this.#length - 1;
    const row = Math.min(exitRow, last);
    const leftOpen = exitRow > last;
    if (leftOpen) this.#closeByForce();
    this.#recorder?.holding(row, this.balance, trade);
    const profit = this.book.add(trade, row, leftOpen);
    this.balance = round8(this.balance + profit);
  }

  #closeByForce(): void {
    const trade = this.#trade;
    const last = this.#length - 1;
    trade.waits = false;
    trade.orderExit(last, this.#market.candles.open[last]!, true, 'force_exit');
    trade.exit();
  }

  /** What the entry at the open of `row` is ordered for. */
  #stake(row: number): number {
    const terms = this.#terms;
    const { grid, candles } = this.#market;
    const available = availableStake(this.balance, 0, terms.tradableBalanceRatio);
    const stake = proposedStake(
      terms.fixedStake,
      available,
      0,
      terms.maxOpenTrades,
      terms.amendLastStake,
      terms.lastStakeMinRatio,
    );
    return stake > 0
      ? allowedStake(stake, Math.max(available, stake), grid, candles.open[row]!, this.#trade.leverage)
      : 0;
  }

  /** Row of the exit of the open trade; the number of candles when it is left open. */
  #hold(entryRow: number): number {
    const trade = this.#trade;
    const signals = this.#signals;
    const corridor = this.#corridor;
    const { direction } = trade;
    let row = entryRow;
    while (row < this.#length) {
      if (row >= trade.nextFundingRow) this.#recorder?.holding(row, this.balance, trade);
      const due = trade.comeDue(row);
      const exit = signals.nextExit(row, direction);
      const waits = trade.waits;
      if (waits && trade.expire(row)) this.timedOutExits++;
      if (row === exit || waits) {
        if (tryExits(trade, row, row === exit)) return row;
        row++;
        continue;
      }
      setCorridor(corridor, trade);
      const end = Math.min(due, exit, this.#length);
      row = corridor.leave(row, end);
      if (row < end) {
        if (tryExits(trade, row, false)) return row;
        row++;
      }
    }
    return this.#length;
  }
}
