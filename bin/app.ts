/** The CDK app: one stage, chosen with `-c stage=`. */
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stageConfig } from '#lib/config.ts';
import { addTouchstone } from '#lib/platform-stack.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
addTouchstone(
  app,
  stageConfig(String(app.node.tryGetContext('stage') ?? 'dev')),
  join(import.meta.dirname, '../dist'),
);
