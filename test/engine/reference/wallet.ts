import { round8 } from './arithmetic.ts';
import type { Position, Rules } from './types.ts';

/** The stake of a new trade, or undefined when there is no trade (freqtrade-2026.md 6.2). */
export function proposeStake(
  closedProfit: number,
  open: readonly Position[],
  rules: Rules,
): number | undefined {
  const tied = open.reduce((sum, position) => sum + position.stake, 0);
  const free = rules.wallet + closedProfit - tied;
  const tradable = (free + tied) * rules.tradableBalanceRatio;
  const available = Math.min(tradable - tied, free);
  if (rules.stake === 'unlimited') {
    const stake = Math.min((available + tied) / rules.maxOpenTrades, available);
    return stake > 0 ? stake : undefined;
  }
  if (rules.stake <= available) return rules.stake;
  // Money has 8 decimals: what is left of a sum in binary is not.
  return rules.stake <= round8(available) ? rules.stake : undefined;
}
