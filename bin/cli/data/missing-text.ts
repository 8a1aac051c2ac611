import type { Freshness } from '#contract/market-data/market-data.ts';
import { number } from '../output.ts';

/** Candles that are not stored, by the reason. */
export type Missing = NonNullable<Freshness['missing']>;

/** Why candles are missing, in words; empty when none is. */
export function missingText({ closed, no_trades, damage }: Missing): string {
  const parts = [
    ...(damage > 0 ? [`${number(damage, 0)} lost`] : []),
    ...(no_trades > 0 ? [`${number(no_trades, 0)} without trades`] : []),
    ...(closed > 0 ? [`${number(closed, 0)} in closed times`] : []),
  ];
  return parts.join(', ');
}
