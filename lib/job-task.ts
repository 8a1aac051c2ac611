import { Duration, Size } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';
import { defined, type Environment } from './environment.ts';
import { logGroup } from './log-group.ts';

/** The one container of every task, by which a RunTask call overrides its environment. */
const CONTAINER = 'task';

export interface JobTaskProps {
  readonly config: StageConfig;
  readonly image: ecs.ContainerImage;
  /** Which bundle of the image runs, for example `backtest`. */
  readonly entry: string;
  /** CPU units: 1024 is one. */
  readonly cpu: number;
  readonly memoryMiB: number;
  readonly environment: Environment;
  /** @default - none */
  readonly secrets?: Record<string, ecs.Secret>;
  /** @default - listens to nothing */
  readonly port?: number;
  /** @default - a task ends by itself and is not asked how it is */
  readonly healthCheck?: ecs.HealthCheck;
}

/** The house's Fargate task: ARM, one container that can write nothing but /tmp, one log. */
export class JobTask extends Construct {
  readonly definition: ecs.FargateTaskDefinition;
  readonly log: logs.LogGroup;

  constructor(scope: Construct, id: string, props: JobTaskProps) {
    super(scope, id);
    this.definition = new ecs.FargateTaskDefinition(this, 'Definition', {
      cpu: props.cpu,
      memoryLimitMiB: props.memoryMiB,
      runtimePlatform: {
        cpuArchitecture: ecs.CpuArchitecture.ARM64,
        operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
      },
      volumes: [{ name: 'tmp' }],
    });
    this.log = logGroup(this, 'Log', props.config);
    const container = this.definition.addContainer(CONTAINER, {
      containerName: CONTAINER,
      image: props.image,
      command: [`/app/${props.entry}.mjs`],
      environment: { NODE_OPTIONS: '--enable-source-maps', ...defined(props.environment) },
      secrets: props.secrets,
      readonlyRootFilesystem: true,
      // A task ends within seconds of SIGTERM; Spot gives 120 s from its warning, so 60 s leave room for both.
      stopTimeout: Duration.seconds(60),
      // Without an init process Node would be process 1, which ignores a SIGTERM that it does not handle.
      linuxParameters: new ecs.LinuxParameters(this, 'Linux', { initProcessEnabled: true }),
      logging: ecs.LogDriver.awsLogs({
        logGroup: this.log,
        streamPrefix: props.entry,
        // A log that stalls must not stall the simulation; 4 MiB of lines wait for it.
        mode: ecs.AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(4),
      }),
      portMappings: props.port === undefined ? [] : [{ containerPort: props.port }],
      healthCheck: props.healthCheck,
    });
    container.addMountPoints({ containerPath: '/tmp', sourceVolume: 'tmp', readOnly: false });
    acknowledge(this.definition.obtainExecutionRole(), {
      'AwsSolutions-IAM5[Resource::*]': 'ecr:GetAuthorizationToken accepts no resource.',
    });
    acknowledge(this.definition, {
      'AwsSolutions-ECS2':
        'The environment holds names of resources and settings. Secrets come from Secrets Manager by reference.',
    });
  }

  /** The role that the task's own code acts with. */
  get role(): iam.IRole {
    return this.definition.taskRole;
  }
}
