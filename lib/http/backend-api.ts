import { Duration } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { IMAGE_RUN_OBJECTS } from '#contract/backtests/image-run-keys.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { JobEventsEnv } from '#contract/env/job-events-env.ts';
import { APPROVAL_PARTITION } from '#contract/values/tables.ts';
import { poolVariables } from '../parts/identity.ts';
import { type Monitoring, p99 } from '../parts/monitoring.ts';
import { allowObjects, allowTable } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import type { DataStack } from '../storage/data-stack.ts';
import { ServiceApi, type ServiceApiProps } from './service-api.ts';

type Environment = EnvInput<typeof JobEventsEnv>;

interface BackendApiProps extends Pick<ServiceApiProps, 'after' | 'originTokens'> {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly data: DataStack;
  readonly backend: ServiceFunction;
  readonly dataProxy: lambda.IAlias;
  /** Code of the function that streams events. */
  readonly code: lambda.Code;
  /** Its variables that other functions have too. */
  readonly environment: Pick<Environment, 'ENVIRONMENT' | 'LOG_LEVEL' | 'RUNS_BUCKET' | 'IMAGE_ROLE_ID'>;
}

/** The backend's REST API, and the function that streams its events. */
export function addBackendApi(scope: Construct, props: BackendApiProps) {
  const { config, monitoring, backend, dataProxy, after, originTokens } = props;
  const events = jobEvents(scope, props);
  const api = new ServiceApi(scope, 'BackendApi', {
    config,
    monitoring,
    service: 'backend',
    handler: backend.alias,
    streams: events.alias,
    after,
    originTokens,
    functions: { data_proxy: dataProxy },
    alarms: {
      name: 'Backend',
      urgency: 'page',
      // Event streams last for minutes and are part of the gateway's latency, so the function's own is used.
      latency: backend.function.metricDuration(p99),
      errors:
        'At least 5 % of requests fail: users cannot submit or read backtests, or change stages of versions.',
      slow: 'At least 1 % of requests take over 5 s: users wait for the API.',
    },
  });
  return { api, events };
}

/**
 * Function that streams the backend's events of jobs. It reads jobs, collections and the event log, and owners of models and
 * challenges; it changes nothing.
 */
function jobEvents(
  scope: Construct,
  { config, monitoring, data, code, environment }: BackendApiProps,
): ServiceFunction {
  const variables: Environment = {
    ...environment,
    JOBS_TABLE: data.tables.jobs.tableName,
    SERIES_TABLE: data.tables.series.tableName,
    REGISTRY_TABLE: data.tables.registry.tableName,
    ...poolVariables('BACKEND', data.identity.pool),
  };
  const events = new ServiceFunction(scope, 'JobEvents', {
    name: 'JobEvents',
    streams: true,
    config,
    monitoring,
    description: `Touchstone ${config.stage}: streams events of jobs`,
    code,
    environment: variables,
    // One minute more than a stream lasts.
    timeout: Duration.minutes(15),
    // The function is mostly idle, and idle time is billed by memory.
    memorySize: 256,
    concurrency: config.liveViewers,
  });
  const role = events.function.role!;
  allowTable(role, 'jobs', data.tables.jobs, ['GetItem', 'BatchGetItem', 'Query'], {
    indexes: ['by-list', 'by-list-status', 'by-principal', 'by-principal-status'],
  });
  allowTable(role, 'series', data.tables.series, ['GetItem', 'BatchGetItem', 'Query'], {
    keys: ['#collections', '#collection-list'],
  });
  allowTable(role, 'registry', data.tables.registry, ['GetItem'], {
    keys: ['MODEL#*', 'CHALLENGE#*', APPROVAL_PARTITION],
  });
  allowObjects(role, data.runs, ['GetObject'], { keys: [`runs/*/${IMAGE_RUN_OBJECTS.progress}`] });
  return events;
}
