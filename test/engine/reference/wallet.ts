import { round8 } from './arithmetic.ts';
import type { Position, Rules } from './types.ts';

/** What may be staked now (docs/simulation.md#slots-and-stakes). */
export function availableStake(closedProfit: number, open: readonly Position[], rules: Rules): number {
  const tied = open.reduce((sum, position) => sum + position.stake, 0);
  const free = rules.wallet + closedProfit - tied;
  return Math.min((free + tied) * rules.tradableBalanceRatio - tied, free);
}

/** Stake of a new trade, undefined if no trade is possible. */
export function proposeStake(
  closedProfit: number,
  open: readonly Position[],
  rules: Rules,
): number | undefined {
  const tied = open.reduce((sum, position) => sum + position.stake, 0);
  const available = availableStake(closedProfit, open, rules);
  if (rules.stake === 'unlimited') {
    const stake = Math.min((available + tied) / rules.maxOpenTrades, available);
    return stake > 0 ? stake : undefined;
  }
  if (rules.stake <= available) return rules.stake;
  // Money has 8 decimals; a binary sum can be slightly below.
  return rules.stake <= round8(available) ? rules.stake : undefined;
}
