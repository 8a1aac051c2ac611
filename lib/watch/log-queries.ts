import { Stack } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { AUDIT_WRITE_FAILURE } from '#contract/values/names.ts';

interface LogQuery {
  /** Question that the query answers. docs/runbook.md lists them. */
  readonly name: string;
  readonly query: string;
  /** Constructs whose logs are read, by the beginning of their path in the stack. @default - all logs of Touchstone's code */
  readonly logs?: readonly string[];
}

const SERVICES = ['Backend/', 'JobEvents/', 'Strategy/Service/', 'Strategy/Events/', 'DataCollection/'];

/** Questions of the runbook. Their fields are those of our log lines: test/lambdas/log-fields.test.ts. */
export const LOG_QUERIES: readonly LogQuery[] = [
  {
    name: 'One request through all logs',
    query: `fields @timestamp, service, level, message, code, error.message
| filter correlation_id = "REPLACE"
| sort @timestamp`,
  },
  {
    name: 'Why a job failed',
    query: `fields @timestamp, service, level, message, error.message
| filter job_id = "REPLACE" or id = "REPLACE"
| sort @timestamp`,
  },
  {
    name: 'Calls of a user',
    query: `fields @timestamp, service, operation, path, status, code, duration_ms
| filter message = "request" and principal = "REPLACE"
| sort @timestamp desc`,
    logs: SERVICES,
  },
  {
    name: 'Slowest operations',
    query: `filter message = "request"
| stats pct(duration_ms, 99) as p99, max(duration_ms) as slowest, count(*) as calls by service, operation
| sort p99 desc`,
    logs: SERVICES,
  },
  {
    name: 'Errors by code',
    query: `filter message = "request" and status >= 400
| stats count(*) as errors by service, operation, status, code
| sort errors desc`,
    logs: SERVICES,
  },
  {
    name: 'Failures of market data',
    query: `filter message = "proxy failed"
| stats count(*) as failures by operation, upstream, failure
| sort failures desc`,
    logs: ['DataProxy/'],
  },
  {
    name: 'Jobs that were dispatched, restarted or failed',
    query: `fields @timestamp, service, message, id, dispatched.0, restarted.0, failed.0, error.message
| filter message in ["queue repaired", "executions ended", "repair failed", "failed to start execution"]
| sort @timestamp desc`,
    logs: ['Dispatcher/', 'Repair/', 'Backend/'],
  },
  {
    name: 'Cold starts',
    query: `filter message = "request"
| stats count(*) as calls, sum(cold_start) as cold_starts by function_name, bin(1h)`,
    logs: ['Backend/', 'JobEvents/', 'Strategy/Service/', 'Strategy/Events/'],
  },
  {
    name: 'Rejected tokens',
    query: `filter message = "request" and code in ["AUTH001", "AUTH002", "AUTH003"]
| stats count(*) as rejections by service, code, bin(5m)`,
    logs: SERVICES,
  },
  {
    name: 'Failed writes of the audit trail',
    query: `fields @timestamp, service, message, audit_id, outcome, code, error.message
| filter message like /${AUDIT_WRITE_FAILURE}/
| sort @timestamp desc`,
    logs: SERVICES,
  },
];

/** What the gateway answered itself, or in place of a function. Its fields are those of the access log: lib/http/service-api.ts. */
export const GATEWAY_QUERY: LogQuery = {
  name: 'Errors of the gateway',
  query: `filter status >= 400 and response_type != "-"
| stats count(*) as errors, max(integration_ms) as slowest by status, response_type, error, lambda_status, integration_error
| sort errors desc`,
};

/** Saved queries of CloudWatch Logs Insights over the logs of its stack. Create it after all others. */
export class LogQueries extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const stack = Stack.of(this);
    const groups = stack.node.findAll().filter((each) => each instanceof logs.LogGroup);
    const pathOf = (group: logs.LogGroup) => group.node.path.slice(stack.node.path.length + 1);
    // Other groups hold lines of AWS (workflows, access to the APIs) or of registered images, which could forge lines of a service.
    // A query reads one class of groups, and theirs is another.
    const own = groups.filter(
      (each) => !/^(BacktestFlow|HyperoptFlow|ImageTask)\/|AccessLog|Network/.test(pathOf(each)),
    );
    const save = (id: string, { name, query }: LogQuery, read: readonly logs.LogGroup[]) =>
      new logs.CfnQueryDefinition(this, id, {
        name: `${stack.stackName}/${name}`,
        queryString: query,
        logGroupNames: read.map((each) => each.logGroupName),
      });
    for (const [at, query] of LOG_QUERIES.entries()) {
      const { logs: prefixes = [''] } = query;
      const read = own.filter((each) => prefixes.some((prefix) => pathOf(each).startsWith(prefix)));
      save(`Query${at}`, query, read);
    }
    const access = groups.filter((each) => pathOf(each).includes('AccessLog'));
    save('GatewayQuery', GATEWAY_QUERY, access);
  }
}
