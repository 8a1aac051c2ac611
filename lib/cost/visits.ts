import { functionMemoryGb } from './idle.ts';
import { type LaneCost, RUNS, times, use } from './lanes.ts';
import { BACKTEST, VISIT } from './model.ts';
import type { Usage } from './prices.ts';
import type { Resources } from './templates.ts';

/** Cost of visits of the dashboard: pages that only poll, and pages on which jobs move. Empty without a dashboard. */
export function visitCosts(resources: Resources): LaneCost[] {
  if (!hasDashboard(resources)) return [];
  const visit = pagesOfVisit(resources);
  return [
    { name: 'Visit of the dashboard, 10 minutes', usages: times(RUNS, visit) },
    {
      name: 'Visit of the dashboard while jobs run',
      usages: times(RUNS, [...visit, ...streamOfVisit(resources)]),
    },
  ];
}

export function hasDashboard(resources: Resources): boolean {
  return [...resources.values()].some(({ Type }) => Type === 'AWS::CloudFront::Distribution');
}

function pagesOfVisit(resources: Resources): Usage[] {
  const { fileRequests, calls, sentGb, readsPerCall } = VISIT;
  const requests = fileRequests + calls;
  return [
    use('CloudFront', 'edgeRequest', requests),
    use('CloudFront', 'edgeFunction', requests),
    use('CloudFront', 'edgeTransfer', sentGb),
    use('API', 'apiRequest', calls),
    use('API', 'lambdaRequest', calls),
    use('API', 'lambdaDuration', calls * BACKTEST.requestSeconds * memoryOf('Backend', resources)),
    use('Tables', 'tableRead', calls * readsPerCall),
    use('Logs', 'logIngestion', calls * VISIT.logGbPerCall),
    use('Logs', 'trace', calls),
  ];
}

function streamOfVisit(resources: Resources): Usage[] {
  const { streamSeconds, streamReadsPerSecond } = VISIT;
  return [
    use('API', 'lambdaDuration', streamSeconds * memoryOf('JobEvents', resources)),
    use('Tables', 'tableRead', streamSeconds * streamReadsPerSecond),
  ];
}

function memoryOf(name: string, resources: Resources): number {
  const [id] = [...resources].find(
    ([each, { Type }]) => Type === 'AWS::Lambda::Alias' && each.startsWith(name),
  )!;
  return functionMemoryGb({ Ref: id }, resources);
}
