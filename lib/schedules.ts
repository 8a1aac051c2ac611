import { Aws, Duration, Names, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { allow } from './grants.ts';

/** Time: schedules that invoke the reconcile function, one at regular intervals and one for each challenge's deadline. */
export class Schedules extends Construct {
  /** Of the challenges' schedules. */
  readonly groupName: string;
  readonly role: iam.Role;
  readonly #target: lambda.IAlias;
  readonly #groupArn: string;

  constructor(scope: Construct, id: string, target: lambda.IAlias) {
    super(scope, id);
    this.#target = target;
    this.groupName = Names.uniqueResourceName(this, { maxLength: 64, separator: '-' });
    const group = new CfnScheduleGroup(this, 'Group', { name: this.groupName });
    this.#groupArn = this.#arnOf('schedule-group', this.groupName);
    this.role = new iam.Role(this, 'Role', {
      description: 'EventBridge Scheduler: invokes the reconcile function and nothing else',
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        // Scheduler takes the ARN of a group here, of a schedule not.
        conditions: {
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': this.#groupArn },
        },
      }),
    });
    allow(this.role, { actions: ['lambda:InvokeFunction'], resources: [target.functionArn] });
    this.role.node.addDependency(group);
  }

  every(id: string, interval: Duration, description: string): void {
    const schedule = new CfnSchedule(this, id, {
      description,
      groupName: this.groupName,
      scheduleExpression: `rate(${interval.toMinutes()} minutes)`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: this.#target.functionArn,
        roleArn: this.role.roleArn,
        input: '{}',
        // The next one makes good what was missed.
        retryPolicy: { maximumEventAgeInSeconds: Duration.minutes(2).toSeconds(), maximumRetryAttempts: 2 },
      },
    });
    // Created, it is checked whether the role may be assumed: its policy must be there.
    schedule.node.addDependency(this.role);
  }

  /** What a function that sets challenges' timers takes: to create schedules of the group, with the role. */
  allowSetting(role: iam.IRole): void {
    allow(role, {
      actions: ['scheduler:CreateSchedule'],
      resources: [this.#arnOf('schedule', `${this.groupName}/*`)],
      wildcard: 'A schedule is named after its challenge, which exists when somebody creates it.',
    });
    allow(role, {
      actions: ['iam:PassRole'],
      resources: [this.role.roleArn],
      conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
    });
  }

  #arnOf(resource: string, resourceName: string): string {
    return Stack.of(this).formatArn({ service: 'scheduler', resource, resourceName });
  }
}
