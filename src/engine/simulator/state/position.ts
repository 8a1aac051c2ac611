import { roundHalfUp, type Step } from '../rules/decimals.ts';
import { QUOTIENT_DECIMALS } from '../rules/exact.ts';
import { bankruptcyPrice, liquidationPrice } from '../rules/margin.ts';
import {
  closeValue,
  exactCloseValue,
  exactOpenValue,
  openValue,
  profitOf,
  profitRatioOf,
} from '../rules/money.ts';
import { type Direction, isTighter, LONG } from '../rules/prices.ts';
import { RoiStep } from '../rules/roi.ts';
import { stopAt } from '../rules/stops.ts';
import { TrailingOffset } from '../rules/trailing.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { TradeOrder } from '../trade-table.ts';
import { CallbackResults } from './callback-results.ts';
import type { CandleCursor } from './candle-cursor.ts';
import { FundingSum } from './funding-sum.ts';
import type { Market } from './market.ts';
import { Order } from './order.ts';
import { OrderHistory } from './order-history.ts';
import { PositionView } from './position-view.ts';
import type { TradeAtOpen } from './trade-at-open.ts';

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
  /** Number of the trade in the run, in the order of opening. */
  ordinal = 0;
  /** The trade as it was at the open of a candle in which it may have changed; null before the first one, and without callbacks. */
  atOpen: TradeAtOpen | null = null;
  /** The stop at the open of the candle that ends at `stopKeptUntil`, ms. */
  keptStop = Number.NaN;
  stopKeptUntil = Number.NEGATIVE_INFINITY;

  /** True if its entry, or an addition, took a slot or money that a trade left later in the same candle (freqtrade model). */
  usesFreedLater = false;
  /** True if its last exit was inside a candle. */
  endedInside = false;

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
  /** What stops earned by a fill at their price in a candle that opened beyond it, quote currency (freqtrade model). */
  gapProfit = Number.NaN;

  initialStop = Number.NaN;
  stop = Number.NaN;
  /** The distance that set the present stop, as a ratio of the stake. */
  stopDistance = Number.NaN;
  stopMoved = false;
  /** Liquidation price; 0 without one. */
  liquidation = Number.NaN;
  /** Price at which an isolated margin is lost; NaN without one. */
  bankruptcy = Number.NaN;
  readonly offset = new TrailingOffset();

  readonly roi = new RoiStep();
  readonly fundingSum: FundingSum;

  constructor(market: Market) {
    this.market = market;
    this.fundingSum = new FundingSum(market.funding);
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
    this.usesFreedLater = false;
    this.endedInside = false;
    this.slippageCost = 0;
    this.gapProfit = 0;
    this.stopMoved = false;
    this.stopKeptUntil = Number.NEGATIVE_INFINITY;
    this.roi.reset(direction);
    this.order.isRest = false;
    this.order.gapTime = Number.NaN;
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
    this.roi.begin(this.openedAt, settings.roi);
    this.lastFilledAt = time;
    this.fundingSum.begin(time, direction, settings.conservative);
    this.#findTriggers(settings);
  }

  /** False for a long whose margin is its own value: it cannot be liquidated. In cross margin the account may have less than that. */
  hasMargin({ cross }: ResolvedSettings): boolean {
    return cross || this.leverage > 1 || this.direction !== LONG;
  }

  /** Sets the liquidation price for a margin, quote currency: the stake, or that of the account in cross margin. */
  setLiquidation(margin: number, settings: ResolvedSettings): void {
    this.bankruptcy = Number.NaN;
    if (!this.hasMargin(settings)) {
      this.liquidation = 0;
      return;
    }
    if (!settings.cross)
      this.bankruptcy = bankruptcyPrice(this.entryPrice, margin, this.amount, this.direction);
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
   * Adds the ordered amount, filled in the present candle at `price`, and recalculates the position
   * (docs/simulation.md#average-price). Funding events at that time are booked before the fill, and again after it with the new
   * amount (docs/simulation.md#funding).
   */
  add(price: number, { time }: CandleCursor, settings: ResolvedSettings): void {
    const { amount } = this.order;
    const history = this.#adjust(time, settings);
    this.#recordOrder(history, 'entry', price, time, settings);
    history.add(amount, price, exactOpenValue(amount, price, settings.fee, this.direction));
    this.#recalculate(history, settings);
    this.proposeStop();
    this.#beginFunding(time, this.amount, settings);
  }

  /**
   * Takes the ordered amount out at `price`, recalculates the position, and returns the profit of that part. The stop is to
   * be proposed after the callbacks of the fill.
   */
  reduce(price: number, { time }: CandleCursor, settings: ResolvedSettings): number {
    const { direction, amount: held } = this;
    const { amount } = this.order;
    const history = this.#adjust(time, settings);
    const received = this.openFunding;
    const profit = profitOf(
      exactOpenValue(amount, history.averagePrice, settings.fee, direction),
      exactCloseValue(amount, price, settings.fee, received, direction),
      direction,
    );
    this.#recordOrder(history, 'exit', price, time, settings);
    history.take(amount, profit, received);
    this.#recalculate(history, settings);
    this.#beginFunding(time, held, settings);
    return profit;
  }

  /** Adds the exit that closes an adjusted position to its orders. */
  recordExit(price: number, { time }: CandleCursor, settings: ResolvedSettings): void {
    this.#recordOrder(this.history!, 'exit', price, time, settings);
  }

  #recordOrder(
    history: OrderHistory,
    side: TradeOrder['side'],
    price: number,
    filledAt: number,
    settings: ResolvedSettings,
  ): void {
    const { time: placedAt, amount, tag } = this.order;
    const fee = amount * price * settings.fee;
    history.fees += fee;
    history.orders.push({
      side,
      placedAt,
      filledAt,
      price,
      amount,
      fee,
      tag,
      funding: this.fundingSum.since,
    });
  }

  /** Begins the history at the first adjustment, and books the funding events before `time`. */
  #adjust(time: number, settings: ResolvedSettings): OrderHistory {
    if (this.nextFundingTime < time) this.bookFunding(time - 1, settings);
    this.history ??= new OrderHistory({
      placedAt: this.placedAt,
      filledAt: this.filledAt,
      price: this.paidPrice,
      amount: this.amount,
      value: this.paidValue,
      fee: this.amount * this.paidPrice * settings.fee,
      // That of the candle in which a replaced order was placed anew.
      tag: this.market.enterTag(this.market.rowAt(this.placedAt)),
      // Without a tick nothing rounds what a quotient loses at very low prices.
      decimals: this.market.orderRules === null ? 2 * QUOTIENT_DECIMALS : QUOTIENT_DECIMALS,
    });
    return this.history;
  }

  #recalculate(history: OrderHistory, settings: ResolvedSettings): void {
    const { orderRules } = this.market;
    const { direction, leverage, tick } = this;
    this.order.kind = 'none';
    const { held, averagePrice } = history;
    this.amount = orderRules === null ? held : orderRules.cut(held);
    // Slippage models fills between the ticks.
    this.entryPrice = this.market.costs.slips ? averagePrice : roundHalfUp(averagePrice, tick);
    this.stake = history.cost / leverage;
    this.openValue = exactOpenValue(this.amount, this.entryPrice, settings.fee, direction);
    this.paidValue = exactOpenValue(this.amount, averagePrice, settings.fee, direction);
    this.setLiquidation(this.stake, settings);
  }

  /** Moves the stop to its present distance from the entry price if that is tighter, as each recalculation does. */
  proposeStop(): void {
    const { entryPrice, stopDistance, leverage, direction, tick } = this;
    this.moveStop(stopAt(entryPrice, stopDistance, leverage, direction, tick), stopDistance);
  }

  /** Recalculates the position for an addition that was placed in the candle of `time`, ms, and waits. */
  placeAddition(time: number, settings: ResolvedSettings): void {
    this.proposeStop();
    this.fundingSum.leaveOut(time);
    this.#findTriggers(settings);
  }

  /** Moves the stop if that is tighter. */
  moveStop(stop: number, distance: number): void {
    if (!isTighter(stop, this.stop, this.direction)) return;
    this.stop = stop;
    this.stopDistance = distance;
    this.stopMoved = true;
  }

  #beginFunding(time: number, amount: number, settings: ResolvedSettings): void {
    this.lastFilledAt = time;
    this.fundingSum.beginAfterAdjustment(time, amount, this.direction);
    this.#findTriggers(settings);
  }

  /** Time from which {@link bookFunding} has something to do. */
  get nextFundingTime(): number {
    return this.fundingSum.nextTime;
  }

  /** True if an event at the time of the entry's fill pays the position: the conservative model leaves it out. */
  get isPaidAtFill(): boolean {
    return this.fundingSum.isPaidAt(this.filledAt, this.direction);
  }

  /** Funding that profit ratios include. */
  get funding(): number {
    return this.fundingSum.counted;
  }

  /** Funding that no partial exit has realized. */
  get openFunding(): number {
    const { total } = this.fundingSum;
    return this.history === null ? total : total - this.history.realizedFunding;
  }

  /** Funding of the amount that is held, also what partial exits have realized of it. */
  get heldFunding(): number {
    return this.history === null ? this.openFunding : this.openFunding + this.history.heldFunding;
  }

  /** Books the funding events up to `time`, included. */
  bookFunding(time: number, settings: ResolvedSettings): void {
    this.fundingSum.book(time, this.amount, this.direction);
    this.#findTriggers(settings);
  }

  /** Makes `funding` that of profit ratios. */
  countFunding(funding: number, settings: ResolvedSettings): void {
    this.fundingSum.counted = funding;
    this.#findTriggers(settings);
  }

  /** Forgets the funding booked for detail candles after `time`, at which the position is closed in retrospect. */
  limitFunding(time: number, settings: ResolvedSettings): void {
    this.fundingSum.limit(time, this.amount, this.direction);
    this.#findTriggers(settings);
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
    this.offset.find(this, settings);
    this.roi.findTrigger(this, settings);
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
