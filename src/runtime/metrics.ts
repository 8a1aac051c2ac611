import { Metrics } from '@aws-lambda-powertools/metrics';
import { MetricsEnv } from '#contract/env/env.ts';
import { METRICS_NAMESPACE } from '#contract/values/names.ts';
import { readEnv } from './env.ts';

/** Metrics of a service. In a deployment with a name every dimension set has it, so that an alarm sees its own only. */
export function serviceMetrics(serviceName: string): Metrics {
  const { TOUCHSTONE_INSTANCE: instance } = readEnv(MetricsEnv);
  const named = instance !== undefined && { defaultDimensions: { instance } };
  return new Metrics({ namespace: METRICS_NAMESPACE, serviceName, ...named });
}
