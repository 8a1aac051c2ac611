import { Duration } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type * as z from 'zod';
import type { StrategyEnv } from '#contract/env.ts';
import type { StageConfig } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { allowObjects, allowTable } from './grants.ts';
import { ServiceApi } from './service-api.ts';
import { ServiceFunction } from './service-function.ts';
import { allowRepositories } from './task-image.ts';

export interface StrategyServiceProps {
  readonly config: StageConfig;
  readonly code: lambda.Code;
  readonly environment: z.input<typeof StrategyEnv>;
  readonly data: DataStack;
}

/** The strategy service: its function and its REST API. */
export class StrategyService extends Construct {
  readonly service: ServiceFunction;
  readonly api: ServiceApi;

  constructor(scope: Construct, id: string, props: StrategyServiceProps) {
    super(scope, id);
    const { config, data } = props;
    this.service = new ServiceFunction(this, 'Service', {
      config,
      description: `Touchstone ${config.stage}: the strategy service`,
      code: props.code,
      environment: props.environment,
      // One second before API Gateway would answer in its place.
      timeout: Duration.seconds(28),
    });
    const role = this.service.function.role!;
    allowTable(role, 'registry', data.tables.registry, ['GetItem', 'BatchGetItem', 'PutItem']);
    // What is registered rests on a completed backtest.
    allowTable(role, 'jobs', data.tables.jobs, ['GetItem']);
    allowObjects(role, data.results, ['GetObject']);
    allowRepositories(role, config, ['DescribeImages']);
    this.api = new ServiceApi(this, 'Api', { config, service: 'strategy', handler: this.service.alias });
  }
}
