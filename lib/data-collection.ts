import { Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import * as servicediscovery from 'aws-cdk-lib/aws-servicediscovery';
import { Construct } from 'constructs';
import type * as z from 'zod';
import type { DataCollectionEnv } from '#contract/env.ts';
import { SERVICES } from '#contract/names.ts';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';
import { JobTask } from './job-task.ts';
import type { Network } from './network.ts';

const { port } = SERVICES.data_collection;

export interface DataCollectionProps {
  readonly config: StageConfig;
  readonly cluster: ecs.ICluster;
  readonly network: Network;
  readonly image: ecs.ContainerImage;
  readonly environment: Omit<z.input<typeof DataCollectionEnv>, 'SERVICE_TOKEN'>;
}

/** The data collection service: one small container, always on, at `data-collection.{namespace}:8002`. */
export class DataCollection extends Construct {
  readonly task: JobTask;
  /** What the platform's own services show it instead of a user's token. */
  readonly serviceToken: secretsmanager.Secret;
  readonly service: ecs.FargateService;

  constructor(scope: Construct, id: string, props: DataCollectionProps) {
    super(scope, id);
    const { vpc } = props.network;
    this.serviceToken = new secretsmanager.Secret(this, 'ServiceToken', {
      description: `Touchstone ${props.config.stage}: the data proxy's token at data collection`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    acknowledge(this.serviceToken, {
      'AwsSolutions-SMG4':
        'Its two readers take it when they are deployed, so that it changes with a deployment; it opens one service, which the network shows to the proxy alone.',
    });
    this.task = new JobTask(this, 'Task', {
      config: props.config,
      image: props.image,
      entry: 'data-collection',
      // A few questions a minute, and collections that wait for exchanges: 8 USD a month. Collecting two years of ten pairs
      // takes 380 MB at its peak, which half of this would hold, but not beside anything else.
      cpu: 256,
      memoryMiB: 1024,
      environment: props.environment,
      secrets: { SERVICE_TOKEN: ecs.Secret.fromSecretsManager(this.serviceToken) },
      port,
      healthCheck: {
        command: [
          'CMD',
          'node',
          '-e',
          `fetch('http://127.0.0.1:${port}/api/v1/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`,
        ],
        interval: Duration.seconds(30),
        startPeriod: Duration.seconds(30),
      },
    });
    this.service = new ecs.FargateService(this, 'Service', {
      cluster: props.cluster,
      taskDefinition: this.task.definition,
      desiredCount: 1,
      // A new version answers before the old one leaves.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: props.network.collectors.assignPublicIp,
      vpcSubnets: { subnets: [...props.network.collectors.subnets] },
      securityGroups: [
        new ec2.SecurityGroup(this, 'SecurityGroup', { vpc, description: 'Data collection: from the proxy' }),
      ],
      cloudMapOptions: {
        name: 'data-collection',
        cloudMapNamespace: new servicediscovery.PrivateDnsNamespace(this, 'Namespace', {
          name: props.config.namespace,
          vpc,
        }),
        dnsRecordType: servicediscovery.DnsRecordType.A,
        // How long the proxy may call a task that has been replaced: less than its retries last.
        dnsTtl: Duration.seconds(10),
      },
    });
  }

  /** Lets it be called from there. */
  allowFrom(client: ec2.IConnectable): void {
    this.service.connections.allowFrom(client, ec2.Port.tcp(port), 'Calls of the service');
  }
}
