import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { TaskImageEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { acknowledge } from '../parts/construct-helpers.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import { allow } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import type { JobTask } from './tasks.ts';

export interface TaskImageProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly environment: Omit<EnvInput<typeof TaskImageEnv>, 'IMAGE_TASK_DEFINITION' | 'ALLOWED_REGISTRIES'>;
  readonly imageTask: JobTask;
}

/** Registers task definitions for images of registered versions: the image task's, with only the image replaced. */
export class TaskImage extends Construct {
  readonly service: ServiceFunction;
  /** ARN pattern of the task definitions that it registers. */
  readonly definitions: string;

  constructor(scope: Construct, id: string, props: TaskImageProps) {
    super(scope, id);
    const { definition } = props.imageTask;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'TaskImage',
      config: props.config,
      monitoring: props.monitoring,
      description: `Touchstone ${props.config.stage}: prepares registered images to run`,
      code: props.code,
      environment: {
        ...props.environment,
        IMAGE_TASK_DEFINITION: definition.taskDefinitionArn,
        ALLOWED_REGISTRIES: allowedRegistries(props.config),
      },
      // One second less than the state machine's time-out.
      timeout: Duration.seconds(29),
      memorySize: 512,
    });
    this.definitions = Stack.of(this).formatArn({
      service: 'ecs',
      resource: 'task-definition',
      resourceName: `${definition.family}-image-*:*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    this.#grant(this.service.function.role!, props.imageTask);
    // The execution role must pull from the image's repository; the task's code does not get it.
    allowRepositories(definition.obtainExecutionRole(), props.config, [
      'BatchCheckLayerAvailability',
      'BatchGetImage',
      'GetDownloadUrlForLayer',
    ]);
  }

  #grant(role: iam.IRole, { definition }: JobTask): void {
    allow(role, { actions: ['ecs:DescribeTaskDefinition'], resources: ['*'] });
    acknowledge(role, {
      'AwsSolutions-IAM5[Resource::*]':
        'X-Ray and ecs:DescribeTaskDefinition accept no resource; what is described holds no secret.',
    });
    allow(role, {
      actions: ['ecs:RegisterTaskDefinition'],
      resources: [this.definitions],
      wildcard: WILDCARD,
    });
    allow(role, {
      actions: ['ecs:TagResource'],
      resources: [this.definitions],
      conditions: { StringEquals: { 'ecs:CreateAction': 'RegisterTaskDefinition' } },
      wildcard: WILDCARD,
    });
    allow(role, {
      actions: ['iam:PassRole'],
      resources: [definition.taskRole.roleArn, definition.obtainExecutionRole().roleArn],
      conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
    });
  }
}

const WILDCARD =
  'A definition is named after its image, which is registered later; its family begins with the image task’s.';

/** Value of ALLOWED_REGISTRIES; undefined where any registry is allowed. */
export function allowedRegistries({ allowedRegistries: registries }: StageConfig): string | undefined {
  return registries.length > 0 ? registries.join(',') : undefined;
}

const ECR = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?:\/(.+))?$/;

/**
 * Allows these calls on the ECR repositories that images may come from: those of the allowed registries, or all of this account
 * and region where any registry is allowed. Other registries need no IAM permission.
 */
export function allowRepositories(role: iam.IRole, config: StageConfig, actions: readonly string[]): void {
  const stack = Stack.of(role);
  const registries = config.allowedRegistries
    .map((registry) => ECR.exec(registry))
    .filter((each) => each !== null);
  const resources =
    config.allowedRegistries.length === 0
      ? [stack.formatArn({ service: 'ecr', resource: 'repository', resourceName: '*' })]
      : registries.map(([, account, region, folder]) =>
          stack.formatArn({
            service: 'ecr',
            account: account!,
            region: region!,
            resource: 'repository',
            resourceName: folder ? `${folder}/*` : '*',
          }),
        );
  if (resources.length === 0) return;
  allow(role, {
    actions: actions.map((action) => `ecr:${action}`),
    resources,
    wildcard: 'Which repositories hold images of strategies is known when they are registered.',
  });
}
