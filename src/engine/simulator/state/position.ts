import { indexAtOrAfter } from '../../candles.ts';
import { decimalProduct, decimalSum, round8, roundHalfUp, type Step } from '../rules/decimals.ts';
import { liquidationPrice } from '../rules/margin.ts';
import {
  closeValue,
  exactCloseValue,
  exactOpenValue,
  openValue,
  priceExceeding,
  priceReaching,
  profitOf,
  profitRatioOf,
} from '../rules/money.ts';
import { type Direction, isTighter, LONG } from '../rules/prices.ts';
import { stopAt } from '../rules/stops.ts';
import { MINUTE_MS, type ResolvedSettings } from '../settings.ts';
import { CallbackResults } from './callback-results.ts';
import type { CandleCursor } from './candle-cursor.ts';
import type { Market } from './market.ts';
import { Order } from './order.ts';
import { OrderHistory } from './order-history.ts';
import { PositionView } from './position-view.ts';

/**
 * The trade of a pair from its entry order to its exit. Each slot has one object for all of its trades: a fresh one costs an
 * allocation per number. Numbers start as NaN so that V8 keeps the fields as doubles.
 */
export class Position {
  declare readonly market: Market;
  readonly view = new PositionView(this);
  readonly order = new Order();
  readonly callbackResults = new CallbackResults();

  direction: Direction = LONG;
  leverage = Number.NaN;
  /** Collateral, quote currency. */
  stake = Number.NaN;
  /** True from the entry order on, until the exit or the end of that order. */
  isOpen = false;
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
  /** Time of the entry order that was filled, ms: a replaced order is placed anew. */
  placedAt = Number.NaN;
  /** Time of its fill, ms. */
  filledAt = Number.NaN;
  /** Time of the last fill of any order, ms. */
  lastFilledAt = Number.NaN;
  /** Lowest and highest price of the detail candles from the entry on; NaN without any. */
  lowest = Number.NaN;
  highest = Number.NaN;
  openValue = Number.NaN;
  /** Open value at the (average) order price before rounding to the tick: the base of the recorded profit. */
  paidValue = Number.NaN;
  /** Order price of the first entry before rounding to the tick. */
  paidPrice = Number.NaN;
  /** null without adjustments. */
  history: OrderHistory | null = null;
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

  /** Present step of the ROI table, -1 without one, and the price that triggers it: without one a price that is never reached. */
  roiStep = -1;
  roiTrigger = Number.NaN;
  /** Time from which the next ROI step applies. */
  nextRoiTime = Number.NaN;

  /** Time of the next funding event to be booked. */
  nextFundingTime = Number.POSITIVE_INFINITY;
  #nextFunding = 0;
  /** Funding up to the last fill. */
  #fundingBefore = 0;

  constructor(market: Market) {
    this.market = market;
  }

  /** Begins a trade in the candle of its entry order. */
  reset(direction: Direction, leverage: number, { row, time }: CandleCursor): void {
    this.isOpen = true;
    this.direction = direction;
    this.leverage = leverage;
    this.entryRow = row;
    this.openedAt = time;
    this.tick = this.market.orderRules === null ? null : this.market.orderRules.tickAt(time);
    this.callbackResults.forget();
    this.history = null;
    this.view.forget();
    this.nextStep = 0;
    this.slippageCost = 0;
    this.funding = 0;
    this.stopMoved = false;
    this.roiStep = -1;
    this.roiTrigger = direction === LONG ? Number.POSITIVE_INFINITY : 0;
    this.order.isRest = false;
  }

  /** Places the first entry order, whose price, amount and stake are set; the stop is provisional until it is filled. */
  placeEntry({ time }: CandleCursor, settings: ResolvedSettings): void {
    const { order } = this;
    order.kind = 'entry';
    order.time = time;
    this.amount = order.amount;
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
    const { amount, direction, order } = this;
    order.kind = 'none';
    this.placedAt = order.time;
    this.filledAt = time;
    const orderedPrice = this.entryPrice;
    this.paidPrice = orderedPrice;
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
    this.setLiquidation(this.stake, settings);
    this.nextRoiTime =
      settings.roiKeys.length > 0
        ? this.openedAt + settings.roiKeys[0]! * MINUTE_MS
        : Number.POSITIVE_INFINITY;
    this.#beginFunding(time);
    this.#findTriggers(settings);
  }

  /** Sets the liquidation price for a margin, quote currency: the stake, or that of the account in cross margin. */
  setLiquidation(margin: number, settings: ResolvedSettings): void {
    // A long whose margin is its own value cannot be liquidated. The account may have less than that.
    if (this.direction === LONG && this.leverage <= 1 && !settings.cross) {
      this.liquidation = 0;
      return;
    }
    this.liquidation = liquidationPrice(
      this.entryPrice,
      margin,
      this.amount,
      this.market.margin.maintenance,
      settings.liquidationBuffer,
      settings.liquidationFee,
      this.direction,
      this.tick,
    );
  }

  /**
   * Adds the ordered amount, filled in the present candle at `price`, and recalculates the position (4.4). Funding events at
   * that time are booked before the fill, and again after it with the new amount (4.6).
   */
  add(price: number, { time }: CandleCursor, settings: ResolvedSettings): void {
    const { order, direction } = this;
    const { amount, tag } = order;
    const history = this.#adjust(time, settings);
    const fee = amount * price * settings.fee;
    history.orders.push({
      ...{ side: 'entry', placedAt: order.time, filledAt: time, price, amount, fee, tag },
      funding: this.funding - this.#fundingBefore,
    });
    history.entries++;
    history.fees += fee;
    history.cost += decimalProduct(amount, price, 1);
    // The last digit of a quotient would move the stop of an addition at the average price.
    if (price !== history.average) history.average = history.cost / decimalSum(this.amount, amount);
    history.entriesValue += exactOpenValue(amount, price, settings.fee, direction);
    this.#recalculate(decimalSum(this.amount, amount), history, time, settings);
  }

  /** Takes the ordered amount out at `price`, recalculates the position (4.4), and returns the profit of that part. */
  reduce(price: number, { time }: CandleCursor, settings: ResolvedSettings): number {
    const { order, direction } = this;
    const { amount, reason } = order;
    const history = this.#adjust(time, settings);
    const { average } = history;
    const received = this.openFunding;
    const profit = profitOf(
      exactOpenValue(amount, average, settings.fee, direction),
      exactCloseValue(amount, price, settings.fee, received, direction),
      direction,
    );
    const fee = amount * price * settings.fee;
    history.orders.push({
      ...{ side: 'exit', placedAt: order.time, filledAt: time, price, amount, fee, tag: reason },
      funding: this.funding - this.#fundingBefore,
    });
    history.exits++;
    history.fees += fee;
    history.cost -= decimalProduct(amount, average, 1);
    history.realizedProfit = round8(history.realizedProfit + profit);
    history.realizedFunding += received;
    this.#recalculate(decimalSum(this.amount, -amount), history, time, settings);
    return profit;
  }

  /** Adds the exit that closes an adjusted position to its orders. */
  recordExit(price: number, { time }: CandleCursor, settings: ResolvedSettings): void {
    const { order, amount } = this;
    const history = this.history!;
    const fee = amount * price * settings.fee;
    history.fees += fee;
    history.orders.push({
      ...{ side: 'exit', placedAt: order.time, filledAt: time, price, amount, fee, tag: order.reason },
      funding: this.funding - this.#fundingBefore,
    });
  }

  /** Begins the history at the first adjustment, and books the funding events before `time`. */
  #adjust(time: number, settings: ResolvedSettings): OrderHistory {
    if (this.nextFundingTime < time) this.bookFunding(time - 1, settings);
    this.history ??= new OrderHistory({
      placedAt: this.placedAt,
      filledAt: this.filledAt,
      price: this.entryPrice,
      amount: this.amount,
      ordered: this.paidPrice,
      value: this.paidValue,
      fee: this.amount * this.entryPrice * settings.fee,
      tag: this.market.enterTag(this.entryRow),
    });
    return this.history;
  }

  #recalculate(amount: number, history: OrderHistory, time: number, settings: ResolvedSettings): void {
    const { orderRules } = this.market;
    const { direction, leverage, tick } = this;
    this.order.kind = 'none';
    this.amount = orderRules === null ? amount : orderRules.cut(amount);
    const { average } = history;
    // Slippage models fills between the ticks.
    this.entryPrice = this.market.costs.slips ? average : roundHalfUp(average, tick);
    this.stake = history.cost / leverage;
    this.openValue = exactOpenValue(this.amount, this.entryPrice, settings.fee, direction);
    this.paidValue = exactOpenValue(this.amount, average, settings.fee, direction);
    this.moveStop(stopAt(this.entryPrice, this.stopDistance, leverage, direction, tick), this.stopDistance);
    this.setLiquidation(this.stake, settings);
    this.#beginFunding(time);
    if (time >= this.nextFundingTime) this.bookFunding(time, settings);
    else this.#findTriggers(settings);
  }

  /** Moves the stop if that is tighter. */
  moveStop(stop: number, distance: number): void {
    if (!isTighter(stop, this.stop, this.direction)) return;
    this.stop = stop;
    this.stopDistance = distance;
    this.stopMoved = true;
  }

  /** Begins a sum of funding at a fill: events at its time are still to be booked. */
  #beginFunding(time: number): void {
    this.lastFilledAt = time;
    this.#fundingBefore = this.funding;
    const { funding } = this.market;
    if (!funding) return;
    this.#nextFunding = indexAtOrAfter(funding.timestamp, time);
    this.#findFundingTime(funding.timestamp);
  }

  /** Funding that no partial exit has realized. */
  get openFunding(): number {
    return this.history === null ? this.funding : this.funding - this.history.realizedFunding;
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
    this.funding = this.#fundingBefore;
    this.#nextFunding = indexAtOrAfter(this.market.funding.timestamp, this.lastFilledAt);
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

  /** Ends the range of prices before the present candle, at whose open the strategy takes the whole position out. */
  endRange({ row }: CandleCursor): void {
    if (!Number.isNaN(this.lowest)) return;
    this.lowest = this.entryPrice;
    this.highest = this.entryPrice;
    const { low, high } = this.market.candles;
    for (let held = this.market.rowAt(this.filledAt); held < row; held++) {
      if (low[held]! < this.lowest) this.lowest = low[held]!;
      if (high[held]! > this.highest) this.highest = high[held]!;
    }
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
