import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as servicediscovery from 'aws-cdk-lib/aws-servicediscovery';
import { Construct } from 'constructs';
import type { DataCollectionEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { SERVICES } from '#contract/values/names.ts';
import { JobTask } from '../jobs/tasks.ts';
import type { AuditTrail } from '../parts/audit-write-alarm.ts';
import { stackOutputs } from '../parts/construct-helpers.ts';
import { FIVE_MINUTES, type Monitoring } from '../parts/monitoring.ts';
import type { Network } from '../parts/network.ts';
import { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import { namespaceOf } from '../settings/stage-names.ts';

const { port } = SERVICES.data_collection;

export interface DataCollectionProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
  readonly cluster: ecs.ICluster;
  readonly network: Network;
  readonly image: ecs.ContainerImage;
  /** Tokens of CloudFront; undefined without a dashboard. */
  readonly originTokens: TokenPair | undefined;
  readonly environment: Omit<EnvInput<typeof DataCollectionEnv>, `${'SERVICE' | 'ORIGIN'}_TOKEN${'' | '_2'}`>;
}

/** The data collection service: one small container that always runs, at `data-collection.{namespace}:8002`. */
export class DataCollection extends Construct {
  readonly task: JobTask;
  /** Tokens that the data proxy sends instead of a user's. */
  readonly tokens: TokenPair;
  readonly service: ecs.FargateService;

  constructor(scope: Construct, id: string, props: DataCollectionProps) {
    super(scope, id);
    this.tokens = new TokenPair(this, {
      id: 'ServiceToken',
      output: 'ServiceToken',
      description: `Touchstone ${props.config.stage}: the data proxy's token at data collection`,
    });
    this.task = new JobTask(this, 'Task', {
      config: props.config,
      image: props.image,
      entry: 'data-collection',
      // A few requests per minute, and collections that wait for exchanges: 9 USD per month, 3 on Spot. Collecting two years of ten pairs
      // peaks at 380 MB: 512 MB would leave too little for concurrent requests.
      cpu: 256,
      memoryMiB: 1024,
      environment: props.environment,
      secrets: {
        ...secretsOf('SERVICE_TOKEN', this.tokens),
        ...(props.originTokens && secretsOf('ORIGIN_TOKEN', props.originTokens)),
      },
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
    this.service = this.#service(props);
    stackOutputs(this, 'For npm run rotate-secret', {
      DataCollectionCluster: props.cluster.clusterName,
      DataCollectionService: this.service.serviceName,
    });
    // The cluster's capacity providers must exist before the service, and be removed after it.
    this.service.node.addDependency(props.cluster);
    props.audit.alarmOnFailures(this, this.task.log);
    this.#watch(props.monitoring);
  }

  #service({ config, cluster, network }: DataCollectionProps): ecs.FargateService {
    const { vpc, collectors } = network;
    return new ecs.FargateService(this, 'Service', {
      cluster,
      taskDefinition: this.task.definition,
      desiredCount: 1,
      ...(config.dataCollectionSpot && {
        capacityProviderStrategies: [{ capacityProvider: 'FARGATE_SPOT', weight: 1 }],
      }),
      // A new version responds before the old one stops.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: collectors.assignPublicIp,
      vpcSubnets: { subnets: [...collectors.subnets] },
      securityGroups: [
        new ec2.SecurityGroup(this, 'SecurityGroup', { vpc, description: 'Data collection: from the proxy' }),
      ],
      cloudMapOptions: {
        name: 'data-collection',
        cloudMapNamespace: new servicediscovery.PrivateDnsNamespace(this, 'Namespace', {
          name: namespaceOf(config),
          vpc,
        }),
        dnsRecordType: servicediscovery.DnsRecordType.A,
        // The proxy may call a replaced task during this time, which is shorter than its retries.
        dnsTtl: Duration.seconds(10),
      },
    });
  }

  #watch(monitoring: Monitoring): void {
    // Each running task sends one sample per minute: a count of tasks without Container Insights.
    const samples = this.service.metricCpuUtilization({ statistic: 'SampleCount', period: FIVE_MINUTES });
    monitoring.graph('marketData', 'Data collection: minutes of tasks', [samples]);
    monitoring.alarm(this, 'DataCollectionDown', {
      urgency: 'ticket',
      metric: samples,
      threshold: 1,
      comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 2,
      missing: cloudwatch.TreatMissingData.BREACHING,
      impact: 'The data collection service does not run: it serves no candles and collects nothing new.',
    });
  }

  /** Allows calls from a client's security group. */
  allowFrom(client: ec2.IConnectable): void {
    this.service.connections.allowFrom(client, ec2.Port.tcp(port), 'Calls of the service');
  }
}

/** Both tokens of a pair, which the service reads when a task starts. */
function secretsOf(name: string, { secrets: [first, second] }: TokenPair): Record<string, ecs.Secret> {
  return {
    [name]: ecs.Secret.fromSecretsManager(first),
    [`${name}_2`]: ecs.Secret.fromSecretsManager(second),
  };
}
