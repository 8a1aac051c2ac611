import type { Candles } from '../candles.ts';
import { closeValue, openValue, profitOf, profitRatioOf } from './accounting.ts';
import type { Market } from './market.ts';
import { type Direction, LONG } from './rules.ts';
import type { Terms } from './terms.ts';
import type { Outcome, Outcomes, Trade } from './types.ts';

// Places of a trade's numbers in its record.
const MARKET = 0;
const DIRECTION = 1;
const ENTRY_ROW = 2;
const OPENED_AT = 3;
const CLOSED_AT = 4;
const REASON = 5;
const STAKE = 6;
const LEVERAGE = 7;
const AMOUNT = 8;
const ENTRY_PRICE = 9;
const EXIT_PRICE = 10;
const SLIPPAGE = 11;
const FUNDING = 12;
const INITIAL_STOP = 13;
const STOP = 14;
const LIQUIDATION = 15;
const LOWEST = 16;
const HIGHEST = 17;
const LEFT_OPEN = 18;
const RECORD = 19;

/** Records of a block. */
const BLOCK = 512;

/** Rows between the samples that a search for extremes begins with: few further ones then surprise the branch predictor. */
const SAMPLE = 8;

/** What the book keeps of an open trade when it closes. */
interface Closing {
  readonly market: Market;
  readonly direction: Direction;
  readonly leverage: number;
  /** Main row of the entry order; its signal carries the tag. */
  readonly entryRow: number;
  /** Open time of the entry candle, ms. */
  readonly openedAt: number;
  readonly stake: number;
  readonly amount: number;
  readonly entryPrice: number;
  readonly openValue: number;
  readonly slippageCost: number;
  readonly funding: number;
  readonly initialStop: number;
  readonly stop: number;
  /** 0 for none. */
  readonly liquidation: number;
  /** Lowest and highest price from the entry to the exit; NaN: those of the candles from the one's to the other's. */
  readonly lowest: number;
  readonly highest: number;
}

/**
 * The closed trades of a run in the order of closing: records of numbers while the run lasts, objects once somebody looks.
 * Building an object, and searching the candles of a trade for its price range, takes as long as simulating the trade.
 */
export class TradeBook implements Outcomes {
  readonly #terms: Terms;
  readonly #markets: readonly Market[];
  readonly #blocks: Float64Array[] = [];
  readonly #reasons: string[] = [];
  readonly #reasonIndex = new Map<string, number>();
  #length = 0;
  #trades: readonly Trade[] | null = null;
  #lowest = Number.NaN;
  #highest = Number.NaN;

  /** `markets`: those of the run, each at its own index. */
  constructor(terms: Terms, markets: readonly Market[]) {
    this.#terms = terms;
    this.#markets = markets;
  }

  get length(): number {
    return this.#length;
  }

  /** All trades. They are built at the first look. */
  get trades(): readonly Trade[] {
    this.#trades ??= this.#build();
    return this.#trades;
  }

  /** Books `trade`, closed at `price` in the candle of `closedAt` (ms), and returns its profit. */
  add(trade: Closing, closedAt: number, price: number, reason: string, leftOpen: boolean): number {
    const { direction, amount, funding } = trade;
    const row = this.#length++;
    if (row % BLOCK === 0) this.#blocks.push(new Float64Array(BLOCK * RECORD));
    const block = this.#blocks[this.#blocks.length - 1]!;
    const at = (row % BLOCK) * RECORD;
    block[at + MARKET] = trade.market.index;
    block[at + DIRECTION] = direction;
    block[at + ENTRY_ROW] = trade.entryRow;
    block[at + OPENED_AT] = trade.openedAt;
    block[at + CLOSED_AT] = closedAt;
    block[at + REASON] = this.#indexOf(reason);
    block[at + STAKE] = trade.stake;
    block[at + LEVERAGE] = trade.leverage;
    block[at + AMOUNT] = amount;
    block[at + ENTRY_PRICE] = trade.entryPrice;
    block[at + EXIT_PRICE] = price;
    block[at + SLIPPAGE] = trade.slippageCost;
    block[at + FUNDING] = funding;
    block[at + INITIAL_STOP] = trade.initialStop;
    block[at + STOP] = trade.stop;
    block[at + LIQUIDATION] = trade.liquidation;
    block[at + LOWEST] = trade.lowest;
    block[at + HIGHEST] = trade.highest;
    block[at + LEFT_OPEN] = leftOpen ? 1 : 0;
    const value = closeValue(amount, price, this.#terms.fee, funding, direction);
    return profitOf(trade.openValue, value, direction);
  }

  visit(see: (trade: Outcome) => void): void {
    const { fee } = this.#terms;
    for (let row = 0; row < this.#length; row++) {
      const block = this.#blocks[Math.floor(row / BLOCK)]!;
      const at = (row % BLOCK) * RECORD;
      const direction = block[at + DIRECTION] as Direction;
      const amount = block[at + AMOUNT]!;
      const exitPrice = block[at + EXIT_PRICE]!;
      const open = openValue(amount, block[at + ENTRY_PRICE]!, fee, direction);
      const close = closeValue(amount, exitPrice, fee, block[at + FUNDING]!, direction);
      see({
        pair: this.#markets[block[at + MARKET]!]!.input.pair,
        side: direction === LONG ? 'long' : 'short',
        openedAt: block[at + OPENED_AT]!,
        closedAt: block[at + CLOSED_AT]!,
        exitPrice,
        profit: profitOf(open, close, direction),
        leftOpen: block[at + LEFT_OPEN] === 1,
      });
    }
  }

  #indexOf(reason: string): number {
    const known = this.#reasonIndex.get(reason);
    if (known !== undefined) return known;
    this.#reasonIndex.set(reason, this.#reasons.length);
    return this.#reasons.push(reason) - 1;
  }

  #build(): Trade[] {
    const trades: Trade[] = [];
    for (let row = 0; row < this.#length; row++)
      trades.push(this.#trade(this.#blocks[Math.floor(row / BLOCK)]!, (row % BLOCK) * RECORD));
    return trades;
  }

  /** The trade whose record begins at `at`. */
  #trade(block: Float64Array, at: number): Trade {
    const { fee } = this.#terms;
    const market = this.#markets[block[at + MARKET]!]!;
    const direction = block[at + DIRECTION] as Direction;
    const leverage = block[at + LEVERAGE]!;
    const amount = block[at + AMOUNT]!;
    const entryPrice = block[at + ENTRY_PRICE]!;
    const exitPrice = block[at + EXIT_PRICE]!;
    const funding = block[at + FUNDING]!;
    const liquidation = block[at + LIQUIDATION]!;
    const open = openValue(amount, entryPrice, fee, direction);
    const close = closeValue(amount, exitPrice, fee, funding, direction);
    this.#findRange(market, block, at);
    return {
      pair: market.input.pair,
      side: direction === LONG ? 'long' : 'short',
      openedAt: block[at + OPENED_AT]!,
      closedAt: block[at + CLOSED_AT]!,
      entryPrice,
      exitPrice,
      amount,
      stake: block[at + STAKE]!,
      leverage,
      enterTag: market.enterTag(block[at + ENTRY_ROW]!),
      exitReason: this.#reasons[block[at + REASON]!]!,
      fees: amount * entryPrice * fee + amount * exitPrice * fee,
      slippageCost: block[at + SLIPPAGE]!,
      funding,
      profit: profitOf(open, close, direction),
      profitRatio: profitRatioOf(open, close, leverage, direction),
      initialStopPrice: block[at + INITIAL_STOP]!,
      stopPrice: block[at + STOP]!,
      liquidationPrice: liquidation > 0 ? liquidation : null,
      lowestPrice: this.#lowest,
      highestPrice: this.#highest,
      leftOpen: block[at + LEFT_OPEN] === 1,
    };
  }

  /** Sets `#lowest` and `#highest` to the prices of a record, or to those of its candles when it has none. */
  #findRange({ candles }: Market, block: Float64Array, at: number): void {
    this.#lowest = block[at + LOWEST]!;
    this.#highest = block[at + HIGHEST]!;
    if (!Number.isNaN(this.#lowest)) return;
    const { timeframeMs } = this.#terms;
    const start = candles.timestamp[0]!;
    const from = Math.floor((block[at + OPENED_AT]! - start) / timeframeMs);
    const to = Math.floor((block[at + CLOSED_AT]! - start) / timeframeMs);
    this.#measure(candles, from, to);
  }

  /** Sets `#lowest` and `#highest` to the range of the rows [from, to]. */
  #measure({ low, high }: Candles, from: number, to: number): void {
    let lowest = low[to]!;
    let highest = high[to]!;
    for (let row = from; row < to; row += SAMPLE) {
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
    }
    for (let row = from; row < to; row++) {
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
    }
    this.#lowest = lowest;
    this.#highest = highest;
  }
}
