import type { StageConfig } from './config.ts';

interface Named {
  readonly stage: string;
  readonly instance?: string | undefined;
}

/** Name of the deployment: the stage, and its instance if it has one. */
export function deploymentName({ stage, instance }: Named): string {
  return instance ? `${stage}-${instance}` : stage;
}

/** Name of a stack of the stage. The vault of the second region has that of its stack: both regions must know it. */
export function stackName(config: Named, part: 'copies' | 'data' | 'platform'): string {
  return `touchstone-${deploymentName(config)}-${part}`;
}

/** Parameter of Systems Manager that has the ARN of the data proxy. */
export function proxyParameterName(config: Named): string {
  return `/touchstone/${deploymentName(config)}/data-proxy-arn`;
}

/** Private DNS name under which data collection runs. Cloud Map finds a service by it, in the whole account and region. */
export function namespaceOf({ instance, namespace }: Pick<StageConfig, 'instance' | 'namespace'>): string {
  return instance ? `${instance}.${namespace}` : namespace;
}
