import { DataStore } from '../../callback-values.ts';
import type { TradeView } from '../../strategy.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import type { Market } from './market.ts';
import type { OrderHistory } from './order-history.ts';

/** What a view reads of its position, at the time of the read. */
interface Viewed
  extends Readonly<
    Record<'openedAt' | 'entryPrice' | 'amount' | 'stake' | 'leverage' | 'entryRow' | 'stop', number>
  > {
  readonly market: Market;
  readonly direction: Direction;
  readonly history: OrderHistory | null;
  readonly order: { readonly kind: string };
}

/** The callbacks' view of a position. */
export class PositionView implements TradeView {
  readonly #position: Viewed;
  /** What the strategy keeps for the trade; null until it is first read. */
  #data: DataStore | null = null;

  constructor(position: Viewed) {
    this.#position = position;
  }

  get pair() {
    return this.#position.market.input.pair;
  }
  get side() {
    return this.#position.direction === LONG ? 'long' : 'short';
  }
  get openedAt() {
    return this.#position.openedAt;
  }
  get entryPrice() {
    return this.#position.entryPrice;
  }
  get amount() {
    return this.#position.amount;
  }
  get stake() {
    return this.#position.stake;
  }
  get leverage() {
    return this.#position.leverage;
  }
  get enterTag() {
    return this.#position.market.enterTag(this.#position.entryRow);
  }
  get stopPrice() {
    return this.#position.stop;
  }
  get entries() {
    const { history, order } = this.#position;
    return history?.entries ?? (order.kind === 'entry' ? 0 : 1);
  }
  get exits() {
    return this.#position.history?.exits ?? 0;
  }
  get realizedProfit() {
    return this.#position.history?.realizedProfit ?? 0;
  }
  /** {@link data} without making it; null before the first read. */
  get ownData(): DataStore | null {
    return this.#data;
  }
  get data(): DataStore {
    this.#data ??= new DataStore();
    return this.#data;
  }

  /** Begins the data of another trade. */
  forget(): void {
    this.#data = null;
  }
}
