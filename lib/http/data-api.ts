import { Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { DataApiEnv } from '#contract/env/data-api-env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import type { Network } from '../parts/network.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import { namespaceOf } from '../settings/stage-names.ts';
import type { DataCollection } from './data-collection.ts';
import type { Firewall } from './firewall.ts';
import { ServiceApi } from './service-api.ts';

export interface DataApiProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly network: Network;
  /** Undefined where `dataCollectionUrl` names an existing service. */
  readonly dataCollection: DataCollection | undefined;
  readonly code: lambda.Code;
  readonly common: Pick<EnvInput<typeof DataApiEnv>, 'ENVIRONMENT' | 'LOG_LEVEL'>;
  /** With a token of CloudFront, the service believes the address of the caller. */
  readonly originTokens: TokenPair;
  /** The first API of the stack. */
  readonly after: ServiceApi;
  /** Firewall of another API, which this one shares. */
  readonly firewall: Firewall | undefined;
}

/**
 * REST API of data collection, which the dashboard calls. Its function passes the requests on with the users' tokens: the service
 * is in a private network, where a load balancer for API Gateway or CloudFront would cost 16 USD per month.
 */
export class DataApi extends Construct {
  readonly service: ServiceFunction;
  readonly api: ServiceApi;

  constructor(scope: Construct, id: string, { config, monitoring, ...props }: DataApiProps) {
    super(scope, id);
    const { dataCollection, network, originTokens } = props;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'DataApi',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: passes the dashboard's requests to data collection`,
      code: props.code,
      environment: {
        ...props.common,
        ...(dataCollection
          ? {
              SERVICE_DISCOVERY_NAMESPACE: namespaceOf(config),
              ORIGIN_TOKEN: originTokens.sent,
              ORIGIN_TOKEN_2: originTokens.unused,
            }
          : { DATA_COLLECTION_URL: config.dataCollectionUrl }),
      },
      ...(dataCollection && { revision: `Sends token ${originTokens.slot}` }),
      memorySize: 512,
      // One second less than API Gateway's time-out.
      timeout: Duration.seconds(28),
      ...(dataCollection && { network: this.#network(network, dataCollection) }),
    });
    // Requests fail for some seconds while the service is replaced: they must not count against a new version of the function.
    if (dataCollection) this.service.alias.node.addDependency(dataCollection.service);
    this.api = new ServiceApi(this, 'Api', {
      config,
      monitoring,
      after: props.after,
      firewall: props.firewall,
      named: false,
      service: 'data_collection',
      handler: this.service.alias,
      alarms: {
        name: 'DataApi',
        urgency: 'ticket',
        errors: 'At least 5 % of requests fail: the dashboard shows no candles and collects none.',
        slow: 'At least 1 % of requests take over 5 s: users wait for charts and coverage.',
      },
    });
  }

  #network({ vpc }: Network, dataCollection: DataCollection): NonNullable<ServiceFunctionNetwork> {
    const securityGroup = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'API of data collection: to data collection and nowhere else',
      allowAllOutbound: false,
    });
    dataCollection.allowFrom(securityGroup);
    return { vpc, subnets: vpc.isolatedSubnets, securityGroup };
  }
}

type ServiceFunctionNetwork = ConstructorParameters<typeof ServiceFunction>[2]['network'];
