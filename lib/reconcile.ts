import { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type * as z from 'zod';
import { VALIDATION_ID_PREFIX } from '#contract/backtest.ts';
import type { ReconcileEnv } from '#contract/env.ts';
import type { StageConfig } from './config.ts';
import type { Flow } from './flow.ts';
import { allowTable, allowTasks, allowTicks } from './grants.ts';
import { Schedules } from './schedules.ts';
import { ServiceFunction } from './service-function.ts';

export interface ReconcileProps {
  readonly config: StageConfig;
  readonly code: lambda.Code;
  readonly environment: z.input<typeof ReconcileEnv>;
  readonly flows: { readonly backtest: Flow; readonly hyperopt: Flow };
  readonly cluster: ecs.ICluster;
  readonly jobs: dynamodb.ITableV2;
  readonly registry: dynamodb.ITableV2;
}

/**
 * Brings jobs to an end that lost their execution: at once when one ends badly, and every five minutes for the rest. It lets
 * time pass for challenges: for each when its time is up, and every five minutes for all.
 */
export class Reconcile extends Construct {
  readonly service: ServiceFunction;
  readonly schedules: Schedules;

  constructor(scope: Construct, id: string, props: ReconcileProps) {
    super(scope, id);
    this.service = new ServiceFunction(this, 'Service', {
      config: props.config,
      description: `Touchstone ${props.config.stage}: brings every job and challenge to an end`,
      code: props.code,
      environment: props.environment,
      // Ends before the next pass begins; what is left over is found again by then.
      timeout: Duration.minutes(4),
    });
    const role = this.service.function.role!;
    allowTable(role, 'jobs', props.jobs, ['GetItem', 'Query', 'UpdateItem']);
    // The ends of validations are recorded in their versions, and time passes for challenges.
    allowTicks(role, props.registry);
    const { backtest, hyperopt } = props.flows;
    for (const flow of [backtest, hyperopt]) flow.grantControl(role);
    allowTasks(role, props.cluster, ['StopTask']);
    this.#addTriggers(backtest.machine.stateMachineArn, hyperopt.machine.stateMachineArn);
    this.schedules = new Schedules(this, 'Schedules', this.service.alias);
    this.schedules.every('EveryFiveMinutes', Duration.minutes(5), 'Finds what waits, and lets time pass');
  }

  /** A lost event costs at most five minutes, so no queue holds what could not be delivered. */
  #addTriggers(backtests: string, studies: string): void {
    const target = new LambdaFunction(this.service.alias, { retryAttempts: 2 });
    new events.Rule(this, 'ValidationEnded', {
      description: 'A validation that ended is recorded in the registry',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [backtests],
          status: ['SUCCEEDED'],
          name: [{ prefix: VALIDATION_ID_PREFIX }],
        },
      },
      targets: [target],
    });
    new events.Rule(this, 'ExecutionEnded', {
      description: 'An execution that did not succeed may have left its job unfinished',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [backtests, studies], status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
      },
      targets: [target],
    });
  }
}
