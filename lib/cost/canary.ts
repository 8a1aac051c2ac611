import { runsPerMonth } from './idle.ts';
import { laneCosts, RUNS } from './lanes.ts';
import { MIN_TASK_SECONDS } from './model.ts';
import type { Usage } from './prices.ts';
import type { Resources } from './templates.ts';

/** Metrics that the canary publishes. */
const CANARY_METRICS = 3;

/** Monthly usage of the canary's backtests and metrics; idle.ts prices the schedule of its function. Empty without a canary. */
export function canaryUsage(resources: Resources): Usage[] {
  const [, rule] =
    [...resources].find(([id, { Type }]) => Type === 'AWS::Events::Rule' && id.startsWith('Canary')) ?? [];
  if (!rule) return [];
  const lane = laneCosts(resources, MIN_TASK_SECONDS).find(({ name }) => name === 'Backtest on Spot')!;
  const runs = runsPerMonth(rule.Properties!.ScheduleExpression);
  return [
    ...lane.usages.map(({ price, quantity }) => ({
      item: 'Canary',
      price,
      quantity: (quantity / RUNS) * runs,
    })),
    { item: 'Canary', price: 'customMetric', quantity: CANARY_METRICS },
  ];
}
