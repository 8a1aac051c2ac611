import priceList from './prices.json' with { type: 'json' };

/** Key of prices.json, which lists list prices with their unit, region, date and source. Free tiers are not deducted. */
export type PriceName = keyof typeof priceList.prices;

/** Quantity of something that has a price. */
export interface Usage {
  /** Row of the report that the usage belongs to. */
  readonly item: string;
  readonly price: PriceName;
  /** In units of the price: hours, GB, requests, months. */
  readonly quantity: number;
}

export const { region: REGION, date: PRICE_DATE, hoursPerMonth: HOURS } = priceList;

/** Note on prices that were not compared with the price pages; empty when they were. */
export const PRICE_NOTE = priceList.checked ? '' : ', not compared with the price pages';

export function unitOf(name: PriceName): string {
  return priceList.prices[name].unit;
}

/** USD of a usage. */
export function costOf({ price, quantity }: Usage): number {
  const { usd, per } = priceList.prices[price];
  return (quantity * usd) / per;
}

export const totalOf = (usages: readonly Usage[]): number =>
  usages.reduce((sum, usage) => sum + costOf(usage), 0);
