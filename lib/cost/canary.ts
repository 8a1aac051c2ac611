import { runsPerMonth } from './idle.ts';
import { laneCosts, RUNS } from './lanes.ts';
import { MIN_TASK_SECONDS } from './model.ts';
import type { Usage } from './prices.ts';
import type { Resources } from './templates.ts';
import { hasDashboard } from './visits.ts';

/** Metrics that the canary publishes. */
const CANARY_METRICS = 3;
/** Requests by which a run loads the dashboard: a page, its script and the health of the backend. GB of the compressed script. */
const LOADED = { requests: 3, sentGb: 1e-4 };

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
    ...(hasDashboard(resources) ? dashboardUsage(runs) : []),
  ];
}

function dashboardUsage(runs: number): Usage[] {
  const use = (price: Usage['price'], quantity: number): Usage => ({ item: 'Canary', price, quantity });
  return [
    use('edgeRequest', runs * LOADED.requests),
    use('edgeFunction', runs * LOADED.requests),
    use('edgeTransfer', runs * LOADED.sentGb),
    use('apiRequest', runs),
    use('lambdaRequest', runs),
  ];
}
