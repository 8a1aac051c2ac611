import type { ChanceTest } from '#contract/backtests/report-robustness.ts';
import { type Candles, indexAtOrAfter } from '../candles.ts';
import { type Random, swap } from '../random.ts';
import { type TradeTable, textAt } from '../simulator/trade-table.ts';
import type { PairInput } from '../simulator/types.ts';
import { intervalOf } from './bootstrap.ts';

/** Trades of one pair, priced at opens of candles. */
interface PlacedPair {
  readonly candles: Candles;
  /** Sum of rate times mark price of all funding up to the open of each row; undefined without funding. */
  readonly funding: Float64Array | undefined;
  /** Rows from entry to exit of each trade; 0 for a trade within one candle. */
  readonly held: Int32Array;
  /** Value of each position at its entry, negative for a short. */
  readonly value: Float64Array;
  /** Row of each entry. */
  readonly entry: Int32Array;
}

interface Account {
  /** Fee and slippage per side, as a ratio of the value of a fill. */
  readonly cost: number;
  /** Starting balance. */
  readonly wallet: number;
}

/**
 * Compares the entries with random ones. A sample keeps number, sides, sizes and holding times of each pair's trades, puts them in
 * a random order and places them uniformly among all placements without overlaps. Both are priced alike: from open to open, a
 * trade within one candle from open to close, with funding and the same cost per side. Slots and the wallet do not bind.
 *
 * @returns the share of samples that earn at least as much, the trades as they were included
 */
export function* randomEntries(
  table: TradeTable,
  pairs: readonly PairInput[],
  { cost, wallet }: Account,
  samples: number,
  random: Random,
): Generator<void, Omit<ChanceTest, 'reason'>> {
  const placed = pairs.map((pair) => placedPair(table, pair));
  const observed = placed.reduce(
    (sum, pair) => sum + profitOf(pair, pair.held, pair.value, pair.entry, cost),
    0,
  );
  const shufflers = placed.map((pair) => new Placement(pair));
  const profits = new Float64Array(samples);
  let atLeast = 1;
  // Equal placements add up in another order.
  const rounding = 1e-9 * wallet;
  for (let i = 0; i < samples; i++) {
    for (const each of shufflers) profits[i]! += each.draw(random, cost);
    if (profits[i]! >= observed - rounding) atLeast++;
    if (i % 50 === 49) yield;
  }
  return {
    samples,
    p_value: atLeast / (samples + 1),
    profit_pct: (observed / wallet) * 100,
    chance_pct: intervalOf(profits.map((profit) => (profit / wallet) * 100)),
  };
}

function placedPair(table: TradeTable, { pair, candles, funding }: PairInput): PlacedPair {
  const { timestamp } = candles;
  const rows = Array.from({ length: table.length }, (_, row) => row).filter(
    (row) => textAt(table.pair, row) === pair,
  );
  // A time inside of a candle, of a detail candle, belongs to the candle.
  const rowOf = (time: number) => indexAtOrAfter(timestamp, time + 1) - 1;
  const entry = Int32Array.from(rows, (row) => rowOf(table.openedAt[row]!));
  return {
    candles,
    funding: funding && fundingByRow(timestamp, funding),
    entry,
    held: Int32Array.from(rows, (row, i) => Math.max(0, rowOf(table.closedAt[row]!) - entry[i]!)),
    value: Float64Array.from(rows, (row) => {
      const size = table.amount[row]! * table.entryPrice[row]!;
      return textAt(table.side, row) === 'long' ? size : -size;
    }),
  };
}

function fundingByRow(timestamp: Float64Array, funding: NonNullable<PairInput['funding']>): Float64Array {
  let event = 0;
  let total = 0;
  return timestamp.map((time) => {
    for (; event < funding.timestamp.length && funding.timestamp[event]! <= time; event++)
      total += funding.rate[event]! * funding.markPrice[event]!;
    return total;
  });
}

/** Profit of trades with these rows of entry. */
function profitOf(
  { candles, funding }: PlacedPair,
  held: Int32Array,
  value: Float64Array,
  entry: Int32Array,
  cost: number,
): number {
  const { open, close } = candles;
  let profit = 0;
  for (let i = 0; i < held.length; i++) {
    const from = entry[i]!;
    const to = from + held[i]!;
    const price = open[from]!;
    const change = (held[i] === 0 ? close[from]! : open[to]!) / price;
    profit += value[i]! * (change - 1) - Math.abs(value[i]!) * cost * (1 + change);
    if (funding) profit -= (value[i]! / price) * (funding[to]! - funding[from]!);
  }
  return profit;
}

/** Draws random orders and places of a pair's trades; reuses its memory. */
class Placement {
  readonly #pair: PlacedPair;
  readonly #held: Int32Array;
  readonly #value: Float64Array;
  readonly #entry: Int32Array;
  readonly #starts: Int32Array;
  /** All places between the trades: a draw without repetition takes its first elements. */
  readonly #places: Int32Array;

  constructor(pair: PlacedPair) {
    this.#pair = pair;
    this.#held = pair.held.slice();
    this.#value = pair.value.slice();
    this.#entry = new Int32Array(pair.held.length);
    this.#starts = new Int32Array(pair.held.length);
    const rows = pair.candles.timestamp.length;
    const taken = pair.held.reduce((sum, held) => sum + Math.max(1, held), 0);
    // No entry in the first candle, which follows no signal, and none in the last.
    const free = Math.max(0, rows - 2 - taken);
    this.#places = Int32Array.from({ length: free + pair.held.length }, (_, i) => i);
  }

  /** Profit of one random placement. */
  draw(random: Random, cost: number): number {
    const count = this.#held.length;
    const places = this.#places;
    for (let i = count - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      swap(this.#held, i, j);
      swap(this.#value, i, j);
    }
    for (let i = 0; i < count; i++) {
      swap(places, i, i + Math.floor(random() * (places.length - i)));
      this.#starts[i] = places[i]!;
    }
    this.#starts.sort();
    // The i-th smallest of distinct places, less i, is the number of free rows before the i-th trade.
    let taken = 1;
    for (let i = 0; i < count; i++) {
      this.#entry[i] = this.#starts[i]! - i + taken;
      taken += Math.max(1, this.#held[i]!);
    }
    return profitOf(this.#pair, this.#held, this.#value, this.#entry, cost);
  }
}
