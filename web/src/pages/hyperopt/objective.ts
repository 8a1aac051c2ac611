import LIMITS from 'virtual:limits';
import METRICS from 'virtual:metrics';
import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { decimal, value as formatted, NO_VALUE, withUnit } from '../../ui/format.ts';

/** Metric that a job optimizes, as its pages show it. */
export interface Objective {
  readonly name: string;
  readonly label: string;
  readonly isMaximized: boolean;
  /** Without a unit: for columns and axes. */
  readonly format: (value: number | null | undefined) => string;
  readonly withUnit: (value: number | null | undefined) => string;
  /** True if `a` is better than `b`. */
  readonly isBetter: (a: number, b: number) => boolean;
}

/** Ratios are compared with each other: two decimals would make good trials equal. */
function precise(value: number | null | undefined, unit: MetricUnit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE;
  return unit === 'ratio' ? decimal(value, 3) : formatted(value, unit);
}

export function objectiveOf(name: string, direction: 'maximize' | 'minimize'): Objective {
  const label = LIMITS.objectives.find((each) => each.name === name)?.label ?? name.replaceAll('_', ' ');
  const unit = METRICS.definitions[name]?.unit ?? 'ratio';
  const isMaximized = direction === 'maximize';
  return {
    name,
    label,
    isMaximized,
    format: (value) => precise(value, unit),
    withUnit: (value) => (unit === 'ratio' ? precise(value, unit) : withUnit(value, unit)),
    isBetter: (a, b) => (isMaximized ? a > b : a < b),
  };
}
