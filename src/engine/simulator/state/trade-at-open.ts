import type { DataStore } from '../../callback-values.ts';
import type { OpenTrade } from '../../strategy.ts';
import { closeValue, profitRatioOf, unrealizedProfit } from '../rules/money.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import type { FundingSum } from './funding-sum.ts';
import type { Market } from './market.ts';
import type { OrderHistory } from './order-history.ts';
import type { PositionView } from './position-view.ts';

/** What is copied of a position. */
interface Source
  extends Readonly<
    Record<
      | 'ordinal'
      | 'entryRow'
      | 'openedAt'
      | 'entryPrice'
      | 'amount'
      | 'stake'
      | 'leverage'
      | 'stop'
      | 'keptStop'
      | 'stopKeptUntil'
      | 'openValue'
      | 'funding'
      | 'openFunding'
      | 'nextFundingTime',
      number
    >
  > {
  readonly market: Market;
  readonly direction: Direction;
  readonly history: OrderHistory | null;
  readonly order: { readonly kind: string };
  readonly view: PositionView;
  readonly fundingSum: FundingSum;
}

/**
 * A trade as it was at the open of a candle. A position keeps one while its candle is simulated: what happens inside the candle must
 * not be seen by the callbacks of the same candle.
 */
export class TradeAtOpen {
  /** End of that candle, ms: from then on the position itself counts. */
  until = Number.NEGATIVE_INFINITY;
  /** False for a trade that exists only because another one ended inside the candle. */
  exists = false;
  /** Profit that was booked inside the candle, quote currency. */
  profitInside = 0;

  direction: Direction = LONG;
  /** Number of the trade in the run, in the order of opening. */
  ordinal = 0;
  isWaiting = false;
  entryRow = 0;
  openedAt = Number.NaN;
  entryPrice = Number.NaN;
  amount = Number.NaN;
  stake = Number.NaN;
  leverage = Number.NaN;
  stop = Number.NaN;
  entries = 0;
  exits = 0;
  realizedProfit = Number.NaN;
  #openValue = Number.NaN;
  /** Funding that profit ratios include, and that no partial exit has realized. */
  #funding = Number.NaN;
  #openFunding = Number.NaN;
  #data: DataStore | null = null;
  readonly #position: Source;

  constructor(position: Source) {
    this.#position = position;
  }

  get market(): Market {
    return this.#position.market;
  }

  /** Copies the position as it is at the open of the candle of `time`, ms, with the funding up to then. */
  take(time: number): this {
    const position = this.#position;
    const { history } = position;
    this.exists = true;
    this.profitInside = 0;
    this.direction = position.direction;
    this.ordinal = position.ordinal;
    this.isWaiting = position.order.kind === 'entry';
    this.entryRow = position.entryRow;
    this.openedAt = position.openedAt;
    this.entryPrice = position.entryPrice;
    this.amount = position.amount;
    this.stake = position.stake;
    this.leverage = position.leverage;
    this.stop = position.stopKeptUntil > time ? position.keptStop : position.stop;
    this.entries = history === null ? (this.isWaiting ? 0 : 1) : history.entries;
    this.exits = history === null ? 0 : history.exits;
    this.realizedProfit = history === null ? 0 : history.realizedProfit;
    this.#openValue = position.openValue;
    this.#data = position.view.ownData;
    if (this.isWaiting) return this;
    if (time < position.nextFundingTime) {
      this.#funding = position.funding;
      this.#openFunding = position.openFunding;
    } else {
      const total = position.fundingSum.totalAt(time, position.amount, position.direction);
      this.#funding = total;
      this.#openFunding = history === null ? total : total - history.realizedFunding;
    }
    return this;
  }

  /** Changes the size of a trade that was just ordered. */
  scale(ratio: number): void {
    this.amount *= ratio;
    this.stake *= ratio;
    this.#openValue *= ratio;
    this.#funding *= ratio;
    this.#openFunding *= ratio;
  }

  /** Makes it an entry of the same value that waits at `price`. */
  waitAt(price: number): void {
    this.isWaiting = true;
    this.entries = 0;
    this.amount *= this.entryPrice / price;
    this.entryPrice = price;
  }

  /** Profit at `price` before an exit fee, quote currency; 0 while the entry waits. */
  unrealizedAt(price: number): number {
    if (this.isWaiting) return 0;
    return unrealizedProfit(this.amount, price, this.#openValue, this.#openFunding, this.direction);
  }

  /** What callbacks see, at the `price` of the open: values that change no more. */
  view(price: number, fee: number): OpenTrade {
    const { direction, amount, leverage } = this;
    const closed = closeValue(amount, price, fee, this.#funding, direction);
    return Object.freeze({
      pair: this.market.input.pair,
      side: direction === LONG ? 'long' : 'short',
      openedAt: this.openedAt,
      entryPrice: this.entryPrice,
      amount,
      stake: this.stake,
      leverage,
      enterTag: this.enterTag,
      stopPrice: this.stop,
      entries: this.entries,
      exits: this.exits,
      realizedProfit: this.realizedProfit,
      profit: this.isWaiting ? 0 : profitRatioOf(this.#openValue, closed, leverage, direction),
      data: this.#readableData(),
    });
  }

  get enterTag(): string | null {
    return this.market.enterTag(this.entryRow);
  }

  /** The data of the trade, which its own callbacks may change. */
  #readableData(): OpenTrade['data'] {
    const { ordinal } = this;
    const kept = this.#data;
    const position = this.#position;
    const store = () => kept ?? (position.ordinal === ordinal ? position.view.ownData : null);
    return Object.freeze({ get: (key: string) => store()?.get(key) }) as OpenTrade['data'];
  }
}
