import { roundHalfUp, type Step } from '../rules/decimals.ts';
import {
  type Direction,
  LONG,
  liquidationPrice,
  priceExceeding,
  priceReaching,
  slippedEntry,
  slippedExit,
  stopAt,
} from '../rules/exit-prices.ts';
import {
  closeValue,
  entryAmount,
  entryStake,
  exactOpenValue,
  openValue,
  profitRatioOf,
} from '../rules/money.ts';
import type { Market } from '../state/market.ts';
import { MINUTE_MS, type Terms } from '../terms.ts';
import type { FundingEvents } from '../types.ts';

/** The open trade of the segment kernel: one object, opened again and again. Rows instead of times; otherwise as in the loop. */
export class KernelTrade {
  readonly market: Market;
  readonly terms: Terms;
  readonly leverage: number;
  /** Rows from the entry to the start of each ROI step. */
  readonly #roiRows: Int32Array;
  readonly #funding: FundingEvents | null;
  readonly #start: number;

  direction: Direction = LONG;
  entryRow = 0;
  openedAt = Number.NaN;
  filledAt = Number.NaN;
  /** What the entry was ordered for, and what its amount, cut to the step, came to. */
  orderedStake = Number.NaN;
  stake = Number.NaN;
  amount = Number.NaN;
  entryPrice = Number.NaN;
  openValue = Number.NaN;
  /** The same at the price of the order: what the booked profit is measured against. */
  paidValue = Number.NaN;
  slippageCost = Number.NaN;
  funding = Number.NaN;

  initialStop = Number.NaN;
  stop = Number.NaN;
  stopDistance = Number.NaN;
  stopMoved = false;
  /** 0 for none. */
  liquidation = Number.NaN;
  offsetReached = Number.NaN;
  offsetExceeded = Number.NaN;

  /** Applying step of the ROI table, -1 for none, and the price that triggers it. */
  roiStep = -1;
  roiTrigger = Number.NaN;
  nextRoiRow = 0;
  nextFundingRow = 0;
  /** Index of the next funding event. */
  #nextFunding = 0;

  /** The price tick of the entry's candle. */
  tick: Step | null = null;

  /** Whether an exit order waits, and its price, row and whether slippage worsens its fill. */
  waits = false;
  orderPrice = Number.NaN;
  orderRow = 0;
  orderSlips = false;
  exitPrice = Number.NaN;
  exitReason = '';
  /** The book finds the range of prices. */
  readonly lowest = Number.NaN;
  readonly highest = Number.NaN;

  constructor(market: Market, terms: Terms) {
    this.market = market;
    this.terms = terms;
    this.leverage = Math.max(1, terms.leverage);
    this.#funding = market.funding;
    this.#start = market.candles.timestamp[0]!;
    this.#roiRows = Int32Array.from(terms.roiKeys, (key) =>
      Math.min(Math.ceil((key * MINUTE_MS) / terms.timeframeMs), market.length),
    );
  }

  /** Opens the trade at the open of `row` for `stake`; false if that buys not a single step of the amount. */
  open(row: number, direction: Direction, stake: number): boolean {
    const { terms, leverage, market } = this;
    const { grid } = market;
    const price = market.candles.open[row]!;
    const ordered = slippedEntry(price, terms.slippage, direction);
    const amount = entryAmount(stake, ordered, leverage, grid);
    if (!(amount > 0)) return false;
    this.openedAt = this.timeOf(row);
    const tick = grid === null ? null : grid.tickAt(this.openedAt);
    const unslipped = roundHalfUp(price, tick);
    const entryPrice = slippedEntry(unslipped, terms.slippage, direction);
    const stop = stopAt(entryPrice, terms.stoploss, leverage, direction, tick);
    this.direction = direction;
    this.entryRow = row;
    this.filledAt = this.openedAt;
    this.orderedStake = stake;
    this.stake = entryStake(stake, amount, ordered, leverage, grid);
    this.tick = tick;
    this.waits = false;
    this.entryPrice = entryPrice;
    this.amount = amount;
    this.openValue =
      grid === null
        ? openValue(amount, entryPrice, terms.fee, direction)
        : exactOpenValue(amount, entryPrice, terms.fee, direction);
    this.paidValue =
      entryPrice === ordered ? this.openValue : exactOpenValue(amount, ordered, terms.fee, direction);
    this.slippageCost = amount * Math.abs(entryPrice - unslipped);
    this.funding = 0;
    this.initialStop = stop;
    this.stop = stop;
    this.stopDistance = terms.stoploss;
    this.stopMoved = false;
    this.liquidation = liquidationPrice(
      entryPrice,
      this.stake,
      amount,
      leverage,
      terms.maintenanceMarginRate,
      terms.liquidationBuffer,
      terms.liquidationFee,
      direction,
      tick,
    );
    this.roiStep = -1;
    this.nextRoiRow = row + (this.#roiRows[0] ?? this.market.length);
    if (this.#funding) this.#skipFunding(this.#funding, row);
    else this.nextFundingRow = this.market.length;
    if (terms.trailing) this.#findOffsets();
    return true;
  }

  /** Books funding and applies ROI steps that have come due in `row`. Returns the row in which something is due next. */
  comeDue(row: number): number {
    if (row >= this.nextFundingRow) this.#bookFunding(this.#funding!, row);
    if (row >= this.nextRoiRow) this.#advanceRoi(row);
    return Math.min(this.nextFundingRow, this.nextRoiRow);
  }

  /** Profit ratio if the trade were closed at `price`, after both fees and the funding so far. */
  profitRatioAt(price: number): number {
    const { amount, funding, direction, leverage } = this;
    const value = closeValue(amount, price, this.terms.fee, funding, direction);
    return profitRatioOf(this.openValue, value, leverage, direction);
  }

  /** Orders an exit in `row`; false when that order waits already. Its reason is that of the last attempt. */
  orderExit(row: number, price: number, slips: boolean, reason: string): boolean {
    const rounded = roundHalfUp(price, this.tick);
    this.exitReason = reason;
    if (this.waits && this.orderPrice === rounded) return false;
    this.waits = true;
    this.orderPrice = rounded;
    this.orderSlips = slips;
    this.orderRow = row;
    return true;
  }

  /** Cancels the waiting order if it has reached its age in `row`; whether it did. */
  expire(row: number): boolean {
    const isOld = (row - this.orderRow) * this.terms.timeframeMs >= this.terms.orderTimeoutMs;
    if (isOld) this.waits = false;
    return isOld;
  }

  /** Closes at the price of the waiting order, which slippage worsens where it takes the market. */
  exit(): void {
    const { orderPrice, terms, direction } = this;
    const filled = this.orderSlips ? slippedExit(orderPrice, terms.slippage, direction) : orderPrice;
    this.slippageCost += this.amount * Math.abs(orderPrice - filled);
    this.exitPrice = filled;
  }

  /** Open time of a row's candle, ms. Computed: its column is read nowhere else, and every look would wait for memory. */
  timeOf(row: number): number {
    return this.#start + row * this.terms.timeframeMs;
  }

  #advanceRoi(row: number): void {
    while (row >= this.nextRoiRow) {
      this.roiStep++;
      this.nextRoiRow = this.entryRow + (this.#roiRows[this.roiStep + 1] ?? this.market.length);
    }
    this.#findRoiTrigger();
  }

  #skipFunding({ timestamp }: FundingEvents, row: number): void {
    const time = this.market.candles.timestamp[row]!;
    // Looking beyond the ends of a column is slow.
    let next = this.#nextFunding;
    while (next < timestamp.length && timestamp[next]! < time) next++;
    // A trade that reverses another one in the candle of a funding event pays for it too.
    while (next > 0 && timestamp[next - 1]! >= time) next--;
    this.#nextFunding = next;
    this.#findFundingRow(timestamp);
  }

  #bookFunding({ timestamp, rate, markPrice }: FundingEvents, row: number): void {
    const time = this.market.candles.timestamp[row]!;
    for (; timestamp[this.#nextFunding]! <= time; this.#nextFunding++)
      this.funding -= this.direction * rate[this.#nextFunding]! * markPrice[this.#nextFunding]! * this.amount;
    this.#findFundingRow(timestamp);
    if (this.terms.trailing) this.#findOffsets();
    if (this.roiStep >= 0) this.#findRoiTrigger();
  }

  #findFundingRow(timestamp: Float64Array): void {
    const { length } = this.market;
    const next = this.#nextFunding;
    this.nextFundingRow =
      next < timestamp.length
        ? Math.min(Math.ceil((timestamp[next]! - this.#start) / this.terms.timeframeMs), length)
        : length;
  }

  #findRoiTrigger(): void {
    this.roiTrigger = this.#priceExceeding(this.terms.roiRatios[this.roiStep]!);
  }

  #findOffsets(): void {
    const { entryPrice, leverage, direction, funding, amount } = this;
    const { trailingOffset, fee } = this.terms;
    this.offsetReached = priceReaching(
      trailingOffset,
      entryPrice,
      fee,
      leverage,
      direction,
      funding / amount,
    );
    this.offsetExceeded = this.#priceExceeding(trailingOffset);
  }

  #priceExceeding(ratio: number): number {
    const { entryPrice, leverage, direction, funding, amount } = this;
    return priceExceeding(ratio, entryPrice, this.terms.fee, leverage, direction, funding / amount);
  }
}
