import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import { AUDIT_GAP, METRICS_NAMESPACE } from '#contract/names.ts';
import { FIVE_MINUTES, graph, sum } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';
import type { Watched } from './watch.ts';

/** An alarm for what the audit trail could not be told: whatever service did it, its log tells. */
export function watchAudit(
  monitoring: Monitoring,
  { backend, strategy, dataCollection }: Pick<Watched, 'backend' | 'strategy' | 'dataCollection'>,
): void {
  const logsOf: Readonly<Record<string, logs.ILogGroup>> = {
    Backend: backend.function.logGroup,
    Strategy: strategy.service.function.logGroup,
    ...(dataCollection && { DataCollection: dataCollection.task.log }),
  };
  const gaps = Object.entries(logsOf).map(([service, logGroup]) =>
    new logs.MetricFilter(monitoring, `${service}AuditGaps`, {
      logGroup,
      filterPattern: logs.FilterPattern.stringValue('$.message', '=', `*${AUDIT_GAP}`),
      metricNamespace: `${METRICS_NAMESPACE}/${Stack.of(monitoring).stackName}`,
      metricName: `${service}AuditGaps`,
      defaultValue: 0,
    }).metric(sum),
  );
  const all = new cloudwatch.MathExpression({
    expression: gaps.map((_, index) => `FILL(gaps${index}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(gaps.map((metric, index) => [`gaps${index}`, metric])),
    period: FIVE_MINUTES,
    label: 'Calls that the audit trail lacks in part',
  });
  monitoring.alarm('AuditGaps', {
    metric: all,
    threshold: 1,
    impact:
      'The audit trail does not tell how a change ended, or lacks a refusal; the log of the service does.',
  });
  monitoring.dashboard.addWidgets(graph('Audit trail: what it lacks', [all]));
}
