import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import type { ProxyOutcome } from './create-data-proxy.ts';

/**
 * Publishes one call's metrics in CloudWatch's embedded metric format, under two dimension sets: [service, stage] is
 * the total and [service, operation] the breakdown. `addDimensions` alone would publish only their union.
 * ProxyErrors is 0 on success, so that the series exists and its alarm has data.
 */
export function createProxyMetrics(stage: string): (outcome: ProxyOutcome) => void {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'data-proxy' });
  return ({ operation, latencyMs, failure }) => {
    metrics.addDimension('stage', stage);
    metrics.addDimensions({ operation });
    metrics.addMetric(METRICS.proxyRequests, MetricUnit.Count, 1);
    metrics.addMetric(METRICS.proxyLatency, MetricUnit.Milliseconds, latencyMs);
    metrics.addMetric(METRICS.proxyErrors, MetricUnit.Count, failure === undefined ? 0 : 1);
    metrics.publishStoredMetrics();
  };
}
