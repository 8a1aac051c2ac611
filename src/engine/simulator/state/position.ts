import { indexAtOrAfter } from '../../candles.ts';
import type { TradeView } from '../../strategy.ts';
import { Answers } from '../loop/answers.ts';
import type { Step } from '../rules/decimals.ts';
import {
  type Direction,
  LONG,
  liquidationPrice,
  priceExceeding,
  priceReaching,
  stopAt,
} from '../rules/exit-prices.ts';
import { closeValue, exactOpenValue, openValue, profitRatioOf } from '../rules/money.ts';
import { MINUTE_MS, type Terms } from '../terms.ts';
import type { Bar } from './bar.ts';
import type { Market } from './market.ts';

/**
 * The trade of a pair from its entry order to its exit. Each pair has one, used again for trade after trade: a fresh object
 * costs an allocation per number. Numbers start as NaN so that V8 keeps the fields as doubles.
 */
export class Position {
  readonly market: Market;
  readonly view: TradeView = new PositionView(this);

  direction: Direction = LONG;
  leverage = Number.NaN;
  /** Collateral, quote currency. */
  stake = Number.NaN;
  /** Main row of the entry order. */
  entryRow = 0;

  readonly answers = new Answers();

  /** The limit order that waits, if any. */
  order: 'none' | 'entry' | 'exit' = 'none';
  orderPrice = Number.NaN;
  orderTime = Number.NaN;
  orderReason = '';
  /** Whether the exit that waits is filled with slippage. */
  orderSlips = false;

  /** Step of the clock at which something can happen next; in between the position is quiet. */
  nextStep = 0;

  amount = Number.NaN;
  entryPrice = Number.NaN;
  /** The price tick of the candle in which the entry was first ordered: the trade keeps it. */
  tick: Step | null = null;
  /** When the entry was first ordered, ms. */
  openedAt = Number.NaN;
  /** When it was filled, ms. */
  filledAt = Number.NaN;
  /** Lowest and highest price of the detail candles from the entry on; NaN without any. */
  lowest = Number.NaN;
  highest = Number.NaN;
  openValue = Number.NaN;
  /** The same at the price of the order, which a tick may have moved: what the booked profit is measured against. */
  paidValue = Number.NaN;
  slippageCost = Number.NaN;
  funding = Number.NaN;

  initialStop = Number.NaN;
  stop = Number.NaN;
  /** The distance that set the present stop, as a ratio of the stake. */
  stopDistance = Number.NaN;
  stopMoved = false;
  /** 0 for none. */
  liquidation = Number.NaN;
  /** Best prices at which the profit reaches and exceeds the trailing offset. */
  offsetReached = Number.NaN;
  offsetExceeded = Number.NaN;

  /** Applying step of the ROI table, -1 for none, and the price that triggers it. */
  roiStep = -1;
  roiTrigger = Number.NaN;
  /** Time from which the next ROI step applies. */
  nextRoiTime = Number.NaN;

  /** Time of the next funding event to be booked. */
  nextFundingTime = Number.POSITIVE_INFINITY;
  #nextFunding = 0;

  constructor(market: Market) {
    this.market = market;
  }

  /** Begins a trade with the order of its entry, which is dated `time`. */
  reset(direction: Direction, leverage: number, entryRow: number, time: number): void {
    this.direction = direction;
    this.leverage = leverage;
    this.entryRow = entryRow;
    this.openedAt = time;
    this.tick = this.market.grid === null ? null : this.market.grid.tickAt(time);
    this.answers.keep(Number.NaN, undefined, undefined, undefined);
    this.nextStep = 0;
    this.slippageCost = 0;
    this.funding = 0;
    this.stopMoved = false;
    this.roiStep = -1;
  }

  /** Orders the entry at `price`; the stop is provisional until it is filled. */
  orderEntry(price: number, amount: number, stake: number, time: number, terms: Terms): void {
    this.order = 'entry';
    this.orderPrice = price;
    this.orderTime = time;
    this.entryPrice = price;
    this.amount = amount;
    this.stake = stake;
    this.#setFirstStop(terms);
  }

  #setFirstStop(terms: Terms): void {
    const { entryPrice, leverage, direction, tick } = this;
    this.initialStop = stopAt(entryPrice, terms.stoploss, leverage, direction, tick);
    this.stop = this.initialStop;
    this.stopDistance = terms.stoploss;
  }

  /** Opens the position: the entry, ordered before, is filled in the present candle at `entryPrice`. */
  fill(entryPrice: number, { time }: Bar, terms: Terms): void {
    const { amount, leverage, direction, stake, tick } = this;
    this.order = 'none';
    this.filledAt = time;
    const orderedPrice = this.entryPrice;
    if (entryPrice !== orderedPrice) {
      this.entryPrice = entryPrice;
      this.#setFirstStop(terms);
    }
    this.lowest = Number.NaN;
    this.highest = Number.NaN;
    this.openValue =
      this.market.grid === null
        ? openValue(amount, entryPrice, terms.fee, direction)
        : exactOpenValue(amount, entryPrice, terms.fee, direction);
    this.paidValue =
      entryPrice === orderedPrice
        ? this.openValue
        : exactOpenValue(amount, orderedPrice, terms.fee, direction);
    this.liquidation = liquidationPrice(
      entryPrice,
      stake,
      amount,
      leverage,
      terms.maintenanceMarginRate,
      terms.liquidationBuffer,
      terms.liquidationFee,
      direction,
      tick,
    );
    this.nextRoiTime =
      terms.roiKeys.length > 0 ? this.openedAt + terms.roiKeys[0]! * MINUTE_MS : Number.POSITIVE_INFINITY;
    const { funding } = this.market;
    if (funding) {
      this.#nextFunding = indexAtOrAfter(funding.timestamp, time);
      this.nextFundingTime = funding.timestamp[this.#nextFunding] ?? Number.POSITIVE_INFINITY;
    }
    this.#findTriggers(terms);
  }

  /** Books the funding events up to `time`, included (1.15). A long pays a positive rate. */
  bookFunding(time: number, terms: Terms): void {
    const { timestamp, rate, markPrice } = this.market.funding!;
    let next = this.#nextFunding;
    for (; next < timestamp.length && timestamp[next]! <= time; next++)
      this.funding -= this.direction * rate[next]! * markPrice[next]! * this.amount;
    this.#nextFunding = next;
    this.nextFundingTime = timestamp[next] ?? Number.POSITIVE_INFINITY;
    this.#findTriggers(terms);
  }

  /** Forgets the funding booked for detail candles after `time`, at which the position is closed in retrospect. */
  limitFunding(time: number, terms: Terms): void {
    if (!this.market.funding) return;
    this.funding = 0;
    this.#nextFunding = indexAtOrAfter(this.market.funding.timestamp, this.filledAt);
    this.bookFunding(time, terms);
  }

  /** Applies the ROI steps that have come due at `time`. */
  advanceRoi(time: number, terms: Terms): void {
    const { roiKeys } = terms;
    while (time >= this.nextRoiTime) {
      this.roiStep++;
      const next = roiKeys[this.roiStep + 1];
      this.nextRoiTime = next === undefined ? Number.POSITIVE_INFINITY : this.openedAt + next * MINUTE_MS;
    }
    this.roiTrigger = this.priceExceeding(terms.roiRatios[this.roiStep]!, terms);
  }

  /** Price that yields more than the profit `ratio`. */
  priceExceeding(ratio: number, terms: Terms): number {
    const { entryPrice, leverage, direction, funding, amount } = this;
    return priceExceeding(ratio, entryPrice, terms.fee, leverage, direction, funding / amount);
  }

  /** Widens the range of prices seen by a detail candle: the main one holds prices of before the entry or after the exit. */
  seeDetail({ low, high }: Bar): void {
    if (!(low >= this.lowest)) this.lowest = low;
    if (!(high <= this.highest)) this.highest = high;
  }

  #findTriggers(terms: Terms): void {
    const { entryPrice, leverage, direction, funding, amount } = this;
    const { trailingOffset, fee } = terms;
    if (terms.trailing) {
      this.offsetReached = priceReaching(
        trailingOffset,
        entryPrice,
        fee,
        leverage,
        direction,
        funding / amount,
      );
      this.offsetExceeded = this.priceExceeding(trailingOffset, terms);
    }
    if (this.roiStep >= 0) this.roiTrigger = this.priceExceeding(terms.roiRatios[this.roiStep]!, terms);
  }

  /** Profit ratio if the trade were closed at `price`, after both fees and the funding so far. */
  profitRatioAt(price: number, fee: number): number {
    const { amount, funding, direction, leverage } = this;
    return profitRatioOf(
      this.openValue,
      closeValue(amount, price, fee, funding, direction),
      leverage,
      direction,
    );
  }
}

/** What callbacks see of a position. */
class PositionView implements TradeView {
  readonly #position: Position;

  constructor(position: Position) {
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
}
