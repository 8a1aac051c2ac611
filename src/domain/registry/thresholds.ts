import type { BacktestResult } from '#contract/backtest.ts';
import type { ReleasePolicy } from '#contract/release-policy.ts';
import type { Thresholds } from '#contract/stored-registry.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import { isSet } from '../transitions/release-policy.ts';
import { plainCheck } from '../transitions/validation.ts';
import { unknownKeyWarnings } from '../unknown-keys.ts';
import { checkNumber } from '../validate.ts';

export interface ThresholdFailure {
  readonly name: keyof Thresholds;
  readonly metric: 'sharpe_ratio' | 'profit_factor' | 'max_drawdown_pct';
  readonly value: number | null;
  readonly threshold: number;
}

interface Rule {
  readonly name: keyof Thresholds;
  readonly metric: ThresholdFailure['metric'];
  readonly holds: (value: number, threshold: number) => boolean;
}

/** Equality passes; drawdowns are compared by magnitude. */
const RULES: readonly Rule[] = [
  { name: 'min_sharpe', metric: 'sharpe_ratio', holds: (value, threshold) => value >= threshold },
  { name: 'min_profit_factor', metric: 'profit_factor', holds: (value, threshold) => value >= threshold },
  {
    name: 'max_drawdown',
    metric: 'max_drawdown_pct',
    holds: (value, threshold) => Math.abs(value) <= Math.abs(threshold),
  },
];

/** The thresholds given, null for none. Throws VAL005 for one that is no sensible number. */
export function checkThresholds(thresholds: Thresholds | undefined): Thresholds | null {
  const given = RULES.flatMap(({ name }) => {
    const value = thresholds?.[name];
    return value === undefined ? [] : [[name, checkNumber(value, `thresholds.${name}`, BOUNDS)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** The check of a version without thresholds of its own: a release policy gates it, and without one nothing does. */
export function withoutThresholds(policy: ReleasePolicy): ValidationCheck {
  const name = 'thresholds';
  return isSet(policy)
    ? plainCheck(name, 'passed', 'Registered without thresholds of its own: the release policy applies')
    : plainCheck(name, 'skipped', 'Registered without thresholds');
}

/** One warning for each threshold given that is not known. */
export function unknownThresholds(thresholds: Thresholds = {}): string[] {
  const known = RULES.map(({ name }) => name);
  return unknownKeyWarnings({ ...thresholds }, known, 'thresholds.');
}

const BOUNDS = { min: -1e9, max: 1e9 };

/** Every threshold that the metrics miss. A threshold that is absent is not checked; a metric that is absent misses. */
export function missedThresholds(metrics: BacktestResult, thresholds: Thresholds): ThresholdFailure[] {
  return RULES.flatMap(({ name, metric, holds }) => {
    const threshold = thresholds[name];
    if (threshold === undefined) return [];
    const value: number | undefined = metrics[metric];
    if (value !== undefined && Number.isFinite(value) && holds(value, threshold)) return [];
    return [{ name, metric, value: value ?? null, threshold }];
  });
}

/** For example `sharpe_ratio 0.8 misses min_sharpe 1`. */
export function describeFailures(failures: readonly ThresholdFailure[]): string {
  return failures
    .map(
      ({ name, metric, value, threshold }) => `${metric} ${value ?? 'unknown'} misses ${name} ${threshold}`,
    )
    .join('; ');
}
