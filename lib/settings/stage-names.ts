import type { StageConfig } from './config.ts';

type Named = Pick<StageConfig, 'stage'>;

/** Name of a stack of the stage. The vault of the second region has that of its stack: both regions must know it. */
export function stackName({ stage }: Named, part: 'copies' | 'data' | 'platform'): string {
  return `touchstone-${stage}-${part}`;
}

/** Parameter of Systems Manager that has the ARN of the data proxy. */
export function proxyParameterName({ stage }: Named): string {
  return `/touchstone/${stage}/data-proxy-arn`;
}
