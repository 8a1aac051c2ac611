import { App } from 'aws-cdk-lib';
import { Touchstone } from 'touchstone/cdk';

// npx --no-install cdk deploy --all -c stage=dev
new Touchstone(new App(), { strategies: 'strategies' });
