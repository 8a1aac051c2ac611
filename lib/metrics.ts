import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS_NAMESPACE } from '#contract/names.ts';
import { environmentOf, type StageConfig } from './config.ts';

export const FIVE_MINUTES = Duration.minutes(5);
export const sum = { statistic: 'Sum', period: FIVE_MINUTES };
export const p99 = { statistic: 'p99', period: FIVE_MINUTES };

/** A metric that Touchstone's own code emits, as the total of a service in this stage. */
export function ownMetric(
  config: StageConfig,
  service: string,
  metricName: string,
  statistic: string,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { service, stage: environmentOf(config) },
    statistic,
    period: FIVE_MINUTES,
  });
}

/** A third of a row of the dashboard. */
export function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ title, left, width: 8 });
}
