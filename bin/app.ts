/** The CDK app: one stage, chosen with `-c stage=`. `-c config=` names another settings file than touchstone.config.json. */
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { addTouchstone } from '#lib/add-touchstone.ts';
import { checkDeployable, type StageConfig } from '#lib/settings/config.ts';
import { SettingsError } from '#lib/settings/settings-errors.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
addTouchstone(app, settings(), join(import.meta.dirname, '../dist'));

function settings(): StageConfig {
  try {
    const config = readStageConfig(
      app.node.tryGetContext('stage') ?? 'dev',
      app.node.tryGetContext('config'),
    );
    checkDeployable(config);
    return config;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
