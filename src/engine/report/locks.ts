import type { BacktestReport } from '#contract/backtests/report.ts';
import { REPORTED_LOCKS } from '#contract/values/protection-limits.ts';
import type { Simulation } from '../simulator/types.ts';
import { isoTime } from './trades.ts';

/** The newest locks of protections, and the number of all. */
export function reportLocks(locks: Simulation['locks']): BacktestReport['locks'] {
  const newest = locks.slice(-REPORTED_LOCKS).map(({ pair, side, from, until, reason }) => ({
    pair,
    side,
    reason,
    from: isoTime(from),
    until: isoTime(until),
  }));
  return { total: locks.length, newest };
}
