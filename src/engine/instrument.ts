/** A range of position values with its margin, as exchanges state it. */
export interface LeverageTier {
  /** Value of a position, quote currency. */
  readonly minNotional: number;
  readonly maxNotional: number;
  readonly maxLeverage: number;
  readonly maintenanceRate: number;
  /** Taken off the maintenance margin, so that it is continuous from tier to tier. Quote currency. */
  readonly maintenanceAmount: number;
}

/**
 * Order rules of one market, in the units of the exchange. Amounts are in contracts of `contractSize` units of base currency.
 * Costs are contracts times price, in quote currency. null: the exchange states no value.
 */
export interface Instrument {
  /** Amounts are integer multiples of it. */
  readonly amountStep: number | null;
  readonly minAmount: number | null;
  readonly maxAmount: number | null;
  readonly minCost: number | null;
  readonly maxCost: number | null;
  /** Units of base currency per contract; 1 where amounts are in base currency. */
  readonly contractSize: number;
  /** Current price tick. The engine derives each month's tick from the candles and uses this one where they show none. */
  readonly priceTick: number | null;
  /** Ascending; absent where they are not known. */
  readonly leverageTiers?: readonly LeverageTier[];
  /** Where they are from; absent without them. */
  readonly tiersSource?: 'exchange' | 'import';
}
