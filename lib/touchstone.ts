import { type App, Tags } from 'aws-cdk-lib';
import type { StageConfig } from './config.ts';
import { DataStack } from './data-stack.ts';
import { PlatformStack } from './platform-stack.ts';

/**
 * Adds a stage: the stack that holds state, and the stack that computes. They stand in the app itself, not in a
 * cdk.Stage: `cdk synth` validates and fails for the app's own stacks only.
 */
export function addTouchstone(app: App, config: StageConfig, dist: string) {
  const data = new DataStack(app, `touchstone-${config.stage}-data`, { config });
  const platform = new PlatformStack(app, `touchstone-${config.stage}-platform`, { config, data, dist });
  Tags.of(app).add('service', 'touchstone');
  Tags.of(app).add('stage', config.stage);
  return { data, platform };
}
