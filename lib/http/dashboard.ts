import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { WebConfig } from '#contract/values/web-config.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import type { Network } from '../parts/network.ts';
import type { ServiceFunction } from '../parts/service-function.ts';
import { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import { DataApi, type DataApiProps } from './data-api.ts';
import type { DataCollection } from './data-collection.ts';
import type { ServiceApi } from './service-api.ts';
import type { StrategyService } from './strategy-service.ts';
import { Web } from './web.ts';

interface DashboardProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly network: Network;
  readonly dataCollection: DataCollection | undefined;
  readonly backend: ServiceFunction;
  /** The backend's event streams. */
  readonly events: ServiceFunction;
  readonly backendApi: ServiceApi;
  readonly strategy: StrategyService;
  readonly signIn: WebConfig['auth'];
  readonly uploads: s3.IBucket;
  readonly code: (name: string) => lambda.Code;
  readonly common: DataApiProps['common'];
  readonly originTokens: TokenPair;
}

/** Tokens that CloudFront sends to the services: with one, they and the firewall believe its header with the browser's address. */
export function createOriginTokens(scope: Construct, { stage, web }: StageConfig): TokenPair | undefined {
  if (!web.enabled) return undefined;
  return new TokenPair(scope, {
    id: 'OriginToken',
    output: 'OriginToken',
    description: `Touchstone ${stage}: CloudFront's token at the services`,
  });
}

/** Adds the dashboard, and the API of data collection, which only the dashboard calls. */
export function addDashboard(
  scope: Construct,
  props: DashboardProps,
): { web: Web; dataApi: ServiceFunction } {
  const { config, monitoring, common, backend, backendApi, strategy, originTokens } = props;
  for (const receiver of [backend, strategy.service]) {
    receiver.function.addEnvironment('ORIGIN_TOKEN', originTokens.sent);
    receiver.function.addEnvironment('ORIGIN_TOKEN_2', originTokens.unused);
    receiver.revise(`Prefers token ${originTokens.slot}`);
  }
  const dataApi = new DataApi(scope, 'DataApi', {
    config,
    monitoring,
    network: props.network,
    dataCollection: props.dataCollection,
    common,
    originTokens,
    code: props.code('data-api'),
    after: strategy.api,
    firewall: backendApi.firewall,
  });
  const web = new Web(scope, 'Web', {
    config,
    monitoring,
    signIn: props.signIn,
    uploads: props.uploads,
    common,
    originTokens,
    code: props.code('web-files'),
    apis: { backend: backendApi.api, strategy: strategy.api.api, data_collection: dataApi.api.api },
    after: [
      ...[backend, props.events, strategy.service, strategy.events, dataApi.service].map(
        ({ alias }) => alias,
      ),
      ...(props.dataCollection ? [props.dataCollection.service] : []),
      ...[backendApi, strategy.api].flatMap(({ firewall }) => firewall ?? []),
    ],
  });
  return { web, dataApi: dataApi.service };
}
