/**
 * What an exchange lets be ordered of one market, in its own terms: amounts are in contracts of `contractSize` units of base
 * currency, costs are contracts times price, in quote currency. null where the exchange names none.
 */
export interface Instrument {
  /** Amounts are whole multiples of it. */
  readonly amountStep: number | null;
  readonly minAmount: number | null;
  readonly maxAmount: number | null;
  readonly minCost: number | null;
  readonly maxCost: number | null;
  /** Units of base currency in a contract; 1 where amounts are in base currency. */
  readonly contractSize: number;
  /** Today's price tick. The engine derives the tick of each month from the candles; this one stands where they show none. */
  readonly priceTick: number | null;
}
