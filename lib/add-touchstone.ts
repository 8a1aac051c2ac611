import { type App, Tags } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { PlatformStack } from './platform-stack.ts';
import type { StageConfig } from './settings/config.ts';
import { warnOfSettings } from './settings/settings-warnings.ts';
import { stackName } from './settings/stage-names.ts';
import { BackupCopyStack } from './storage/backups.ts';
import { DataStack } from './storage/data-stack.ts';

/**
 * Adds a stage: the stack that holds state, and the stack that computes. Both are children of the app, not of a cdk.Stage:
 * `cdk synth` validates the app's own stacks only.
 */
export function addTouchstone(app: App, config: StageConfig, dist: string) {
  const data = new DataStack(app, stackName(config, 'data'), { config });
  if (config.backup?.copyToRegion) {
    // Before the first copy: AWS Backup does not create the vault.
    data.addStackDependency(new BackupCopyStack(app, stackName(config, 'copies'), { config }));
  }
  warnOfSettings(data, config);
  if (config.permissionsBoundary) {
    const boundary = iam.ManagedPolicy.fromManagedPolicyName(data, 'Boundary', config.permissionsBoundary);
    iam.PermissionsBoundary.of(app).apply(boundary);
  }
  const platform = new PlatformStack(app, stackName(config, 'platform'), { config, data, dist });
  const { stage, instance, tags } = config;
  const all = { service: 'touchstone', stage, ...(instance && { instance }), ...tags };
  for (const [key, value] of Object.entries(all)) Tags.of(app).add(key, value);
  return { data, platform };
}
