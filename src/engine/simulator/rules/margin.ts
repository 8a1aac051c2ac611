/** Maintenance margin and liquidation of leveraged positions (docs/simulation.md#liquidation). */
import type { LeverageTier } from '../../instrument.ts';
import { roundHalfUp, type Step } from './decimals.ts';
import { type Direction, isTighter, LONG } from './prices.ts';

/** The margin that a position of a value must keep: rate times value less amount, quote currency. */
interface Maintenance {
  readonly rate: number;
  readonly amount: number;
}

/** Leverage tiers of one market, by the value of a position in quote currency. */
export class MarginTiers {
  readonly maintenance: readonly Maintenance[];
  /** False: any leverage and any value is allowed. */
  readonly hasTiers: boolean;
  /** Ascending. */
  readonly #tiers: readonly LeverageTier[];

  /** `rate` is the maintenance margin rate of a market without tiers. */
  constructor(tiers: readonly LeverageTier[], rate: number) {
    this.#tiers = tiers;
    this.hasTiers = tiers.length > 0;
    this.maintenance =
      tiers.length === 0
        ? [{ rate, amount: 0 }]
        : tiers.map(({ maintenanceRate, maintenanceAmount }) => ({
            rate: maintenanceRate,
            amount: maintenanceAmount,
          }));
  }

  /** The maximum leverage for a stake: that of the first tier in which the stake fits with it. */
  maxLeverage(stake: number): number {
    if (!this.hasTiers) return Number.POSITIVE_INFINITY;
    const fits = this.#tiers.find(({ maxNotional, maxLeverage }) => stake <= maxNotional / maxLeverage);
    return (fits ?? this.#tiers.at(-1)!).maxLeverage;
  }

  /** The maximum value of a position with `leverage`: that of the highest tier that allows it. */
  maxNotional(leverage: number): number {
    if (!this.hasTiers) return Number.POSITIVE_INFINITY;
    const allowed = this.#tiers.findLast(({ maxLeverage }) => maxLeverage >= leverage);
    return allowed?.maxNotional ?? 0;
  }

  /**
   * The maintenance margin of a position worth `notional`. Rates rise with the tiers, and the amounts make the margin continuous:
   * the tier of a value is the one with the largest margin.
   */
  maintenanceOf(notional: number): number {
    let margin = 0;
    for (const { rate, amount } of this.maintenance) margin = Math.max(margin, notional * rate - amount);
    return margin;
  }
}

/**
 * Liquidation price: `margin` plus profit equals the maintenance margin of the position's value at that price. The result is moved
 * towards the entry by `buffer`. Of all tiers the nearest price counts: there the tier is the one of that value. 0 for a long whose
 * margin covers its whole value.
 *
 * @param margin quote currency: the stake, or in cross margin what the account has besides
 * @param closingFee fee that the exchange reserves for the closing order; the fee in the general formula, 0 in that of Binance
 */
export function liquidationPrice(
  entryPrice: number,
  margin: number,
  amount: number,
  tiers: readonly Maintenance[],
  buffer: number,
  closingFee: number,
  direction: Direction,
  tick: Step | null,
): number {
  let price = direction === LONG ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  for (let tier = 0; tier < tiers.length; tier++) {
    const { rate, amount: kept } = tiers[tier]!;
    // Both formulas are equal without a fee, apart from the last digit. It decides where a price is half a tick off the grid.
    const own =
      closingFee === 0
        ? (margin + kept - direction * amount * entryPrice) / (amount * rate - direction * amount)
        : (entryPrice - (direction * (margin + kept)) / amount) / (1 - direction * (rate + closingFee));
    if (isTighter(own, price, direction)) price = own;
  }
  if (price <= 0) return 0;
  return roundHalfUp(Math.max(0, price + direction * Math.abs(entryPrice - price) * buffer), tick);
}

/** Price at which a position has lost its collateral, before fees and funding: beyond it an exchange has closed it for all of that. */
export function bankruptcyPrice(
  entryPrice: number,
  collateral: number,
  amount: number,
  direction: Direction,
): number {
  return entryPrice - direction * (collateral / amount);
}

/** A position of which an exit closes all or a part. */
interface MarginPosition {
  readonly direction: Direction;
  readonly amount: number;
  /** Collateral, quote currency. */
  readonly stake: number;
  /** Value of the entry after its fee. */
  readonly paidValue: number;
  /** Funding that the exit books: what no exit has realized. */
  readonly openFunding: number;
  /** Funding of the amount that is held, also what partial exits have realized of it. */
  readonly heldFunding: number;
}

/**
 * `price`, or the better one at which an exit of `amount` loses all that it may, fees and funding inside: its part of the collateral,
 * or in cross margin what the account has.
 *
 * @param account quote currency; null in isolated margin
 */
export function limitLoss(
  price: number,
  amount: number,
  position: MarginPosition,
  account: number | null,
  fee: number,
): number {
  const { direction, stake, paidValue, openFunding, heldFunding } = position;
  const part = amount / position.amount;
  // A partial exit books the funding of the whole position, but only its part counts against its collateral.
  const least = account === null ? part * (stake + heldFunding) : account + openFunding;
  const worst = (part * paidValue - direction * least) / (amount * (1 - direction * fee));
  return isTighter(worst, price, direction) ? worst : price;
}
