import { availableStake, proposedStake } from './accounting.ts';
import { KernelBook } from './kernel-book.ts';
import { Corridor } from './kernel-corridor.ts';
import { KernelCurve } from './kernel-curve.ts';
import { tryExits, wakePrice } from './kernel-exits.ts';
import { SignalFinder } from './kernel-signals.ts';
import { KernelTrade } from './kernel-trade.ts';
import { Market } from './market.ts';
import { Progress } from './progress.ts';
import { type Direction, LONG } from './rules.ts';
import { checkGrid } from './schedule.ts';
import { readTerms, type Terms } from './terms.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from './types.ts';

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
  return {
    trades: kernel.book.toTrades(kernel.leftOpen),
    curve: kernel.curve?.curve ?? null,
    finalBalance: kernel.balance,
    counters: {
      rejectedSignals: 0,
      timedOutEntries: 0,
      timedOutExits: 0,
      cancelledEntries: 0,
      replacedEntries: 0,
    },
  };
}

class Kernel {
  readonly book: KernelBook;
  leftOpen = false;
  readonly curve: KernelCurve | null;
  balance: number;
  readonly #terms: Terms;
  readonly #market: Market;
  readonly #length: number;
  readonly #signals: SignalFinder;
  readonly #corridor: Corridor;
  readonly #trade: KernelTrade;
  readonly #progress: Progress;

  constructor(input: PairInput, terms: Terms, balance: number, options: SimulateOptions) {
    this.#terms = terms;
    this.#length = input.candles.timestamp.length;
    this.#market = new Market(input, 0, terms.canShort, new Uint8Array(this.#length));
    this.#signals = new SignalFinder(this.#market, terms.canShort);
    this.#corridor = new Corridor(input.candles);
    this.book = new KernelBook(this.#market, terms);
    this.#trade = new KernelTrade(this.#market, terms);
    this.#progress = new Progress(options.onProgress, this.#length - 1);
    this.curve = options.equity === false ? null : new KernelCurve(input.candles.timestamp);
    this.balance = balance;
  }

  run(): void {
    let row = 1;
    for (;;) {
      row = this.#signals.nextEntry(row);
      if (row >= this.#length - 1) break;
      const stake = this.#stake();
      if (stake > 0) {
        this.curve?.idle(row, this.balance);
        row = this.#holdFrom(row, stake);
      }
      row++;
      if (row >= this.#progress.next) this.#progress.report(row);
    }
    this.curve?.idle(this.#length, this.balance);
  }

  /** Trades from the entry in `row` until nothing is open: a reversal opens the next trade in the candle of the exit. */
  #holdFrom(entryRow: number, firstStake: number): number {
    const market = this.#market;
    let row = entryRow;
    let stake = firstStake;
    for (;;) {
      const direction = market.entryDirection(row) as Direction;
      const trade = this.#trade;
      trade.open(row, direction, stake);
      const exitRow = this.#hold(row);
      const opened = row;
      row = Math.min(exitRow, this.#length - 1);
      this.#book(exitRow);
      if (exitRow === opened && opened !== entryRow) return row;
      if (exitRow >= this.#length - 1 || exitRow === entryRow) return row;
      if (market.entryDirection(row) !== -direction) return row;
      stake = this.#stake();
      if (!(stake > 0)) return row;
    }
  }

  #book(exitRow: number): void {
    const trade = this.#trade;
    const last = this.#length - 1;
    const leftOpen = exitRow > last;
    const row = leftOpen ? last : exitRow;
    if (leftOpen) trade.exitAtMarket(this.#market.candles.open[last]!, 'force_exit');
    this.curve?.holding(row, this.balance, trade);
    this.book.add(trade, row, this.#corridor.lowest, this.#corridor.highest);
    this.balance += trade.profit();
    this.leftOpen = leftOpen;
  }

  #stake(): number {
    const terms = this.#terms;
    const available = availableStake(this.balance, 0, terms.tradableBalanceRatio);
    return proposedStake(
      terms.fixedStake,
      available,
      0,
      terms.maxOpenTrades,
      terms.amendLastStake,
      terms.lastStakeMinRatio,
    );
  }

  /** Row of the exit of the open trade; the number of candles when it is left open. */
  #hold(entryRow: number): number {
    const length = this.#length;
    const trade = this.#trade;
    const corridor = this.#corridor;
    const { direction } = trade;
    const { open } = this.#market.candles;
    const useExitSignal = this.#terms.useExitSignal;
    corridor.reset();
    let row = entryRow;
    while (row < length) {
      if (row >= trade.nextFundingRow) this.curve?.holding(row, this.balance, trade);
      const due = trade.comeDue(row);
      const exit = useExitSignal ? this.#signals.nextExit(row, direction) : length;
      if (row === exit) {
        corridor.see(row, row + 1);
        if (tryExits(trade, row, true)) return row;
        row++;
        continue;
      }
      const level = trade.stop;
      const wake = wakePrice(trade);
      if (direction === LONG) {
        corridor.bottom = Math.max(level, trade.liquidation);
        corridor.top = wake;
      } else {
        corridor.bottom = wake;
        corridor.top = Math.min(level, trade.liquidation);
      }
      const end = Math.min(due, exit, length);
      // The open of the exit is far from the prices being scanned: asking for it now hides the wait for memory.
      trade.signalPrice = open[exit < length ? exit : row]!;
      row = corridor.leave(row, end);
      if (row < end) {
        if (tryExits(trade, row, false)) return row;
        row++;
      }
    }
    return length;
  }
}
