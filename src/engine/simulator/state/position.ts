import { indexAtOrAfter } from '../../candles.ts';
import type { TradeView } from '../../strategy.ts';
import type { Step } from '../rules/decimals.ts';
import {
  closeValue,
  exactOpenValue,
  openValue,
  priceExceeding,
  priceReaching,
  profitRatioOf,
} from '../rules/money.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import { liquidationPrice, stopAt } from '../rules/stops.ts';
import { MINUTE_MS, type ResolvedSettings } from '../settings.ts';
import { CallbackResults } from './callback-results.ts';
import type { CandleCursor } from './candle-cursor.ts';
import type { Market } from './market.ts';

/** The limit order of a position, reused for entry and exit. */
class Order {
  kind: 'none' | 'entry' | 'exit' = 'none';
  price = Number.NaN;
  /** Open time of the candle in which it was placed, ms. */
  time = Number.NaN;
  /** Exit reason. */
  reason = '';
  /** True when slippage worsens the fill of an exit. */
  slips = false;
}

/**
 * The trade of a pair from its entry order to its exit. Each slot has one object for all of its trades: a fresh one costs an
 * allocation per number. Numbers start as NaN so that V8 keeps the fields as doubles.
 */
export class Position {
  readonly market: Market;
  readonly view: TradeView = new PositionView(this);
  readonly order = new Order();
  readonly callbackResults = new CallbackResults();

  direction: Direction = LONG;
  leverage = Number.NaN;
  /** Collateral, quote currency. */
  stake = Number.NaN;
  /** Main row of the entry order. */
  entryRow = 0;

  /** Step of the clock of the next possible event; the steps before it need no simulation. */
  nextStep = 0;

  amount = Number.NaN;
  entryPrice = Number.NaN;
  exitPrice = Number.NaN;
  /** The price tick of the candle in which the entry was first ordered: the trade keeps it. */
  tick: Step | null = null;
  /** Time of the first entry order, ms. */
  openedAt = Number.NaN;
  /** Time of its fill, ms. */
  filledAt = Number.NaN;
  /** Lowest and highest price of the detail candles from the entry on; NaN without any. */
  lowest = Number.NaN;
  highest = Number.NaN;
  openValue = Number.NaN;
  /** Open value at the order price before rounding to the tick: the base of the recorded profit. */
  paidValue = Number.NaN;
  slippageCost = Number.NaN;
  funding = Number.NaN;

  initialStop = Number.NaN;
  stop = Number.NaN;
  /** The distance that set the present stop, as a ratio of the stake. */
  stopDistance = Number.NaN;
  stopMoved = false;
  /** Liquidation price; 0 without one. */
  liquidation = Number.NaN;
  /** Best prices at which the profit reaches and exceeds the trailing offset. */
  offsetReached = Number.NaN;
  offsetExceeded = Number.NaN;

  /** Present step of the ROI table, -1 without one, and the price that triggers it. */
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

  /** Begins a trade in the candle of its entry order. */
  reset(direction: Direction, leverage: number, { row, time }: CandleCursor): void {
    this.direction = direction;
    this.leverage = leverage;
    this.entryRow = row;
    this.openedAt = time;
    this.tick = this.market.orderRules === null ? null : this.market.orderRules.tickAt(time);
    this.callbackResults.keep(Number.NaN, undefined, undefined, undefined);
    this.nextStep = 0;
    this.slippageCost = 0;
    this.funding = 0;
    this.stopMoved = false;
    this.roiStep = -1;
  }

  /** Places the entry order, whose price, amount and stake are set; the stop is provisional until it is filled. */
  placeEntry({ time }: CandleCursor, settings: ResolvedSettings): void {
    const { order } = this;
    order.kind = 'entry';
    order.time = time;
    this.entryPrice = order.price;
    this.#setFirstStop(settings);
  }

  #setFirstStop(settings: ResolvedSettings): void {
    const { entryPrice, leverage, direction, tick } = this;
    this.initialStop = stopAt(entryPrice, settings.stoploss, leverage, direction, tick);
    this.stop = this.initialStop;
    this.stopDistance = settings.stoploss;
  }

  /** Opens the position: the entry, ordered before, is filled in the present candle at `entryPrice`. */
  fill(entryPrice: number, { time }: CandleCursor, settings: ResolvedSettings): void {
    const { amount, leverage, direction, stake, tick } = this;
    this.order.kind = 'none';
    this.filledAt = time;
    const orderedPrice = this.entryPrice;
    if (entryPrice !== orderedPrice) {
      this.entryPrice = entryPrice;
      this.#setFirstStop(settings);
    }
    this.lowest = Number.NaN;
    this.highest = Number.NaN;
    this.openValue =
      this.market.orderRules === null
        ? openValue(amount, entryPrice, settings.fee, direction)
        : exactOpenValue(amount, entryPrice, settings.fee, direction);
    this.paidValue =
      entryPrice === orderedPrice
        ? this.openValue
        : exactOpenValue(amount, orderedPrice, settings.fee, direction);
    this.liquidation = liquidationPrice(
      entryPrice,
      stake,
      amount,
      leverage,
      settings.maintenanceMarginRate,
      settings.liquidationBuffer,
      settings.liquidationFee,
      direction,
      tick,
    );
    this.nextRoiTime =
      settings.roiKeys.length > 0
        ? this.openedAt + settings.roiKeys[0]! * MINUTE_MS
        : Number.POSITIVE_INFINITY;
    const { funding } = this.market;
    if (funding) {
      this.#nextFunding = indexAtOrAfter(funding.timestamp, time);
      this.#findFundingTime(funding.timestamp);
    }
    this.#findTriggers(settings);
  }

  /** Books the funding events up to `time`, included (1.15). A long pays a positive rate. */
  bookFunding(time: number, settings: ResolvedSettings): void {
    const { timestamp, rate, markPrice } = this.market.funding!;
    let next = this.#nextFunding;
    for (; next < timestamp.length && timestamp[next]! <= time; next++)
      this.funding -= this.direction * rate[next]! * markPrice[next]! * this.amount;
    this.#nextFunding = next;
    this.#findFundingTime(timestamp);
    this.#findTriggers(settings);
  }

  #findFundingTime(timestamp: Float64Array): void {
    const next = this.#nextFunding;
    this.nextFundingTime = next < timestamp.length ? timestamp[next]! : Number.POSITIVE_INFINITY;
  }

  /** Forgets the funding booked for detail candles after `time`, at which the position is closed in retrospect. */
  limitFunding(time: number, settings: ResolvedSettings): void {
    if (!this.market.funding) return;
    this.funding = 0;
    this.#nextFunding = indexAtOrAfter(this.market.funding.timestamp, this.filledAt);
    this.bookFunding(time, settings);
  }

  /** Applies the ROI steps that have come due at `time`. */
  advanceRoi(time: number, settings: ResolvedSettings): void {
    const { roiKeys } = settings;
    while (time >= this.nextRoiTime) {
      this.roiStep++;
      const next = this.roiStep + 1;
      // Reading beyond the end of a column is slow.
      this.nextRoiTime =
        next < roiKeys.length ? this.openedAt + roiKeys[next]! * MINUTE_MS : Number.POSITIVE_INFINITY;
    }
    this.roiTrigger = this.priceExceeding(settings.roiRatios[this.roiStep]!, settings);
  }

  /** Price that yields more than the profit `ratio`. */
  priceExceeding(ratio: number, settings: ResolvedSettings): number {
    return priceExceeding(ratio, this, settings.fee);
  }

  /** Widens the range of prices seen by a detail candle: the main candle includes prices before the entry or after the exit. */
  seeDetail({ low, high }: CandleCursor): void {
    if (!(low >= this.lowest)) this.lowest = low;
    if (!(high <= this.highest)) this.highest = high;
  }

  #findTriggers(settings: ResolvedSettings): void {
    const { trailingOffset, fee } = settings;
    if (settings.trailing) {
      this.offsetReached = priceReaching(trailingOffset, this, fee);
      this.offsetExceeded = priceExceeding(trailingOffset, this, fee);
    }
    if (this.roiStep >= 0) this.roiTrigger = this.priceExceeding(settings.roiRatios[this.roiStep]!, settings);
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

/** The callbacks' view of a position. */
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
