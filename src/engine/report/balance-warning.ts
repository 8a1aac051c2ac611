import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { isoDay } from '../metrics/equity-curve.ts';
import { roundNumber } from '../round.ts';
import { availableStake, proposedStake } from '../simulator/rules/money.ts';
import type { EquityCurve, PairInput } from '../simulator/types.ts';

/**
 * Warning about money to trade that ran out: the day from which it did not suffice for another trade, up to the end of the run, with the
 * number of entry signals after that. Such signals are counted nowhere else, because a slot was free for them.
 */
export function balanceWarnings(
  config: ResolvedBacktestConfig,
  canShort: boolean,
  { timestamp, balance }: EquityCurve,
  pairs: readonly PairInput[],
): string[] {
  let row = balance.length;
  while (row > 0 && !suffices(balance[row - 1]!, config)) row--;
  if (row === balance.length) return [];
  const signals = pairs.reduce((sum, pair) => sum + entriesAfter(pair, timestamp[row]!, canShort), 0);
  if (signals === 0) return [];
  const left = `${roundNumber(Math.max(0, tradableOf(balance[row]!, config)))} were left of it, and a stake is ${config.stake_amount}`;
  return [
    `The money to trade ran out on ${isoDay(timestamp[row]!)}: ${left}. ${formatCount(signals, 'entry signal')} after that led to no trade.`,
  ];
}

/** True when the balance pays for a trade while no other one is open. */
function suffices(balance: number, config: ResolvedBacktestConfig): boolean {
  const { stake_amount: stake } = config;
  const proposed = proposedStake(
    stake === 'unlimited' ? 0 : stake,
    tradableOf(balance, config),
    0,
    config.max_open_trades,
    config.amend_last_stake_amount ?? false,
    config.last_stake_amount_min_ratio ?? ACCOUNT_DEFAULTS.last_stake_amount_min_ratio,
  );
  return proposed !== null && proposed > 0;
}

/** What of a balance may be traded while no trade is open. */
function tradableOf(balance: number, config: ResolvedBacktestConfig): number {
  const { available_capital: capital, dry_run_wallet: wallet } = config;
  const ratio = config.tradable_balance_ratio ?? ACCOUNT_DEFAULTS.tradable_balance_ratio;
  return availableStake(balance, 0, capital === undefined ? balance * ratio : capital + balance - wallet);
}

/** Entry signals that act after `time`, ms, and before the last candle, which has no entries. */
function entriesAfter({ candles, signals }: PairInput, time: number, canShort: boolean): number {
  const { timestamp } = candles;
  const { enterLong, enterShort } = signals;
  let count = 0;
  for (let row = timestamp.length - 3; row >= 0 && timestamp[row + 1]! > time; row--) {
    if (enterLong?.[row]) count++;
    if (canShort && enterShort?.[row]) count++;
  }
  return count;
}
