import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { AUDIT_WRITE_FAILURE } from '#contract/values/names.ts';
import { type Monitoring, sum } from './monitoring.ts';

const METRIC = 'AuditWriteFailures';

/** Alarm on audit writes that fail, which each service reports in its own log. */
export class AuditTrail extends Construct {
  readonly #metricNamespace: string;

  constructor(scope: Construct, id: string, { monitoring }: { readonly monitoring: Monitoring }) {
    super(scope, id);
    this.#metricNamespace = monitoring.logMetricsNamespace;
    const failures = new cloudwatch.Metric({
      namespace: this.#metricNamespace,
      metricName: METRIC,
      ...sum,
    });
    monitoring.alarm(this, 'AuditWriteFailures', {
      urgency: 'ticket',
      metric: failures,
      threshold: 1,
      impact:
        'The audit trail lacks the outcome of a call, or a rejected call; the log of the service has it.',
    });
    monitoring.graph('storage', 'Audit trail: failed writes', [failures]);
  }

  /** Counts the failed audit writes that a service reports in this log. */
  alarmOnFailures(service: Construct, logGroup: logs.ILogGroup): void {
    new logs.MetricFilter(service, 'AuditWriteFailures', {
      logGroup,
      filterPattern: logs.FilterPattern.stringValue('$.message', '=', `*${AUDIT_WRITE_FAILURE}`),
      metricNamespace: this.#metricNamespace,
      metricName: METRIC,
      defaultValue: 0,
    });
  }
}
