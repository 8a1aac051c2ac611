import { roundHalfUp, type Step } from '../rules/decimals.ts';
import { limitLoss, liquidationPrice } from '../rules/margin.ts';
import { openValue } from '../rules/money.ts';
import { bestPrice, type Direction, isTighter, LONG, touching } from '../rules/prices.ts';
import { targetLevel, targetPrice } from '../rules/roi.ts';
import { stopAt } from '../rules/stops.ts';
import { TrailingOffset, trailingDistance, wideningPrice } from '../rules/trailing.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { CandleCursor } from './candle-cursor.ts';
import type { Market } from './market.ts';
import type { Position } from './position.ts';

/** What a path reaches: a level that ends the trade, or the price of the waiting order. null: the close, with nothing before it. */
export type PathEvent = 'stop' | 'liquidation' | 'target' | 'order' | null;

/**
 * A trade on a straight-line path through a candle, for the conservative fill model: a copy of the numbers of a position, which the
 * path may change without changing the position.
 *
 * Fields that begin with `at` or end with `Level` are prices times the direction: more is better for either side.
 */
export class CandlePath {
  readonly #settings: ResolvedSettings;
  #market: Market | null = null;
  direction: Direction = LONG;
  leverage = Number.NaN;
  tick: Step | null = null;
  entryPrice = Number.NaN;
  amount = Number.NaN;
  stake = Number.NaN;
  openValue = Number.NaN;
  funding = Number.NaN;
  paidValue = Number.NaN;
  openFunding = Number.NaN;
  heldFunding = Number.NaN;
  #hasMargin = false;
  stop = Number.NaN;
  stopDistance = Number.NaN;
  /** True when the stop has moved on the path. */
  stopMoved = false;
  readonly offset = new TrailingOffset();
  /** Of the account in cross margin; NaN where the stake is the margin. */
  #margin = Number.NaN;
  #stopLevel = Number.NaN;
  #liquidationLevel = Number.NaN;
  /** Ratio of the ROI exit, NaN without one. */
  #ratio = Number.NaN;
  #target = Number.NaN;
  #targetLevel = Number.NaN;
  /** Distance that the strategy has set in this candle, null for none. */
  #custom: number | null = null;
  #order: 'addition' | 'exit' | null = null;
  #orderPrice = Number.NaN;
  orderAmount = Number.NaN;

  readonly #points = new Float64Array(4);
  /** Index of the last point that the path has passed. */
  #point = 0;
  #at = Number.NaN;
  #best = Number.NaN;
  /** True after an exit that the strategy has rejected: liquidation and the waiting order are left. */
  #isHeld = false;
  /** True while the path has reached nothing. */
  isQuiet = false;
  /** True while the path is at the candle's open. */
  isAtOpen = false;
  /** Price of the last event. */
  price = Number.NaN;

  constructor(settings: ResolvedSettings) {
    this.#settings = settings;
  }

  /**
   * Copies the numbers of a position.
   *
   * @param ratio of the ROI exit in this candle, NaN without one
   * @param custom distance that customStoploss has set in this candle, null for none
   * @param margin of the account in cross margin, else NaN
   */
  load(position: Position, ratio: number, custom: number | null, margin: number): void {
    const { order, liquidation, offset } = position;
    this.#market = position.market;
    this.direction = position.direction;
    this.leverage = position.leverage;
    this.tick = position.tick;
    this.entryPrice = position.entryPrice;
    this.amount = position.amount;
    this.stake = position.stake;
    this.openValue = position.openValue;
    this.funding = position.funding;
    this.paidValue = position.paidValue;
    this.openFunding = position.openFunding;
    this.heldFunding = position.heldFunding;
    this.#hasMargin = position.hasMargin(this.#settings);
    this.stop = position.stop;
    this.stopDistance = position.stopDistance;
    this.stopMoved = false;
    this.offset.reached = offset.reached;
    this.offset.exceeded = offset.exceeded;
    this.#margin = margin;
    this.#ratio = ratio;
    this.#custom = custom;
    this.#order = order.kind === 'addition' || order.kind === 'exit' ? order.kind : null;
    this.#orderPrice = order.price;
    this.orderAmount = order.amount;
    this.#stopLevel = this.direction * this.stop;
    this.#setLiquidation(liquidation);
    this.#findTarget();
  }

  /**
   * Begins at the candle's open, or at the fill of an entry after it.
   *
   * @param bestFirst open, best, worst, close; else open, worst, best, close
   * @param fill price of that entry; NaN to begin at the open
   */
  begin({ open, high, low, close }: CandleCursor, bestFirst: boolean, fill: number): void {
    const { direction } = this;
    const best = bestPrice(high, low, direction);
    const worst = direction === LONG ? low : high;
    this.#best = direction * best;
    this.#points[0] = direction * open;
    this.#points[1] = direction * (bestFirst ? best : worst);
    this.#points[2] = direction * (bestFirst ? worst : best);
    this.#points[3] = direction * close;
    this.#isHeld = false;
    this.isQuiet = true;
    this.isAtOpen = Number.isNaN(fill);
    // An entry below the open fills on the way to the worst price.
    this.#point = !this.isAtOpen && bestFirst ? 1 : 0;
    this.#at = this.isAtOpen ? this.#points[0]! : direction * fill;
    this.#trail();
  }

  /** Goes on to the next event. The caller ends the path, or changes the trade, before it asks again. */
  next(): PathEvent {
    for (;;) {
      const event = this.#passed();
      if (event !== null) this.isQuiet = false;
      if (event !== null || this.#point === 3) return event;
      const to = this.#nextTurn();
      if (to !== this.#at) this.isAtOpen = false;
      const isFall = to < this.#at;
      const level = isFall ? this.#highestBelow() : this.#lowestAbove();
      if (isFall ? level >= to : level <= to) this.#at = level;
      else {
        this.#at = to;
        if (to === this.#points[this.#point + 1]) this.#point++;
        this.#trail();
      }
    }
  }

  /** Goes on after an exit that the strategy has rejected. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Adds the waiting addition at its price: the average, and all that follows from it, moves from here. */
  add(): void {
    const amount = this.amount + this.orderAmount;
    const cost = this.amount * this.entryPrice + this.orderAmount * this.#orderPrice;
    this.entryPrice = this.#market!.costs.slips ? cost / amount : roundHalfUp(cost / amount, this.tick);
    this.stake = cost / this.leverage;
    this.#resize(amount);
  }

  /** Takes the waiting partial exit out. */
  take(): void {
    const amount = this.amount - this.orderAmount;
    const left = amount / this.amount;
    this.stake *= left;
    this.heldFunding *= left;
    this.openFunding = 0;
    this.#resize(amount);
  }

  #resize(amount: number): void {
    const { direction, leverage, entryPrice, tick, stopDistance } = this;
    const { cross, liquidationBuffer, liquidationFee, fee } = this.#settings;
    this.amount = amount;
    this.openValue = openValue(amount, entryPrice, fee, direction);
    this.paidValue = this.openValue;
    this.#order = null;
    this.#propose(stopAt(entryPrice, stopDistance, leverage, direction, tick), stopDistance);
    const { maintenance } = this.#market!.margin;
    const margin = cross ? this.#margin : this.stake;
    this.#setLiquidation(
      !this.#hasMargin
        ? 0
        : liquidationPrice(
            entryPrice,
            margin,
            amount,
            maintenance,
            liquidationBuffer,
            liquidationFee,
            direction,
            tick,
          ),
    );
    this.offset.find(this, this.#settings);
    this.#findTarget();
  }

  /** The price of an exit of `amount` at `price`, limited by what it may lose; `account` is the balance. */
  exitPrice(price: number, amount: number, account: number): number {
    const { cross, fee } = this.#settings;
    return this.#hasMargin ? limitLoss(price, amount, this, cross ? account : null, fee) : price;
  }

  get isAddition(): boolean {
    return this.#order === 'addition';
  }

  #setLiquidation(price: number): void {
    this.#liquidationLevel = price > 0 ? this.direction * price : Number.NEGATIVE_INFINITY;
  }

  #findTarget(): void {
    if (Number.isNaN(this.#ratio)) {
      this.#targetLevel = Number.POSITIVE_INFINITY;
      return;
    }
    const { fee } = this.#settings;
    this.#target = targetPrice(this.#ratio, this, fee);
    this.#targetLevel = this.direction * targetLevel(this.#ratio, this, fee);
  }

  /** The nearest level at or below the price, of those that are reached from above. */
  #highestBelow(): number {
    const order = this.isAddition ? this.direction * this.#orderPrice : Number.NEGATIVE_INFINITY;
    const stop = this.#isHeld ? Number.NEGATIVE_INFINITY : this.#stopLevel;
    return Math.max(stop, this.#liquidationLevel, order);
  }

  #lowestAbove(): number {
    const order = this.#order === 'exit' ? this.direction * this.#orderPrice : Number.POSITIVE_INFINITY;
    return this.#isHeld ? order : Math.min(this.#targetLevel, order);
  }

  /** The level that the price is at, or has left behind in a gap, and the price at which that fills. */
  #passed(): PathEvent {
    const below = this.#highestBelow();
    // A stop or liquidation takes the price that there is; orders keep their own.
    if (below >= this.#at) {
      this.price = this.direction * this.#at;
      if (below === this.#stopLevel && !this.#isHeld) return 'stop';
      if (below === this.#liquidationLevel) return 'liquidation';
      this.price = this.#orderPrice;
      return 'order';
    }
    const above = this.#lowestAbove();
    if (above > this.#at) return null;
    if (above === this.#targetLevel && !this.#isHeld) {
      // -1 closes at any price.
      this.price = this.#ratio === -1 ? this.direction * this.#at : this.#target;
      return 'target';
    }
    this.price = this.#orderPrice;
    return 'order';
  }

  /** Moves the stop by the price that the path has reached. */
  #trail(): void {
    const { direction, leverage, tick } = this;
    const price = direction * this.#at;
    const custom = this.#custom;
    if (custom !== null && this.#at >= this.#best)
      this.#propose(stopAt(price, custom, leverage, direction, tick), custom);
    const distance = trailingDistance(this, price, custom, this.#settings);
    if (distance > 0) this.#propose(stopAt(price, distance, leverage, direction, tick), distance);
  }

  /** The next point, or the price on the way to it at which the stop may be tighter than at either end. */
  #nextTurn(): number {
    const { direction } = this;
    const to = this.#points[this.#point + 1]!;
    const distance = this.#custom ?? this.#settings.stoploss;
    const price = wideningPrice(this, direction * this.#at, direction * to, distance, this.#settings);
    return Number.isNaN(price) ? to : direction * price;
  }

  #propose(stop: number, distance: number): void {
    // An average of equal prices, or the price of an offset of 0, is not tighter by its last bits.
    if (!isTighter(touching(stop, this.direction), this.stop, this.direction)) return;
    this.stop = stop;
    this.stopDistance = distance;
    this.stopMoved = true;
    this.#stopLevel = this.direction * stop;
  }
}
