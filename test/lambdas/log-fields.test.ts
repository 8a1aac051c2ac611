import { readFileSync } from 'node:fs';
import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LOG_QUERIES } from '#lib/watch/log-queries.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { BACKEND_ENVIRONMENT } from '../support/lambda-environment.ts';

/** Saved queries name fields that the log lines of the deployed functions really have. */

const TOKEN = 'a-secret-of-the-canary';
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const keep = (chunk: unknown) => {
    for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line));
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  for (const method of ['info', 'warn', 'error', 'debug', 'log'] as const) {
    vi.spyOn(console, method).mockImplementation(keep);
  }
  const environment = {
    ...BACKEND_ENVIRONMENT,
    LOG_LEVEL: 'INFO',
    CANARY_TOKEN: TOKEN,
    DATA_COLLECTION_URL: 'http://127.0.0.1:1',
    MAX_RETRIES: '0',
    HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const dynamo = mockClient(DynamoDBDocumentClient);
  const states = mockClient(SFNClient);
  dynamo.onAnyCommand().resolves({ Items: [], Responses: { series: [] } } as never);
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  const backend = await import('#lambdas/backend.ts');
  const call = (changes: Parameters<typeof gatewayEvent>[0]) =>
    backend.handler(gatewayEvent(changes), LAMBDA_CONTEXT);
  await call({ path: '/api/v1/backtests/bt-1', headers: { Authorization: `Bearer ${TOKEN}` } });
  await call({ path: '/api/v1/backtests', headers: { Authorization: 'Bearer forged' } });
  // The start of the call is recorded; then the database is down.
  dynamo.on(PutCommand).resolvesOnce({}).rejects(new Error('down'));
  await call({
    httpMethod: 'POST',
    path: '/api/v1/backtests',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ config: { strategy: 'ema_crossover', exchange: 'sim' } }),
  });
  const proxy = await import('#lambdas/data-proxy.ts');
  await proxy.handler({ operation: 'health' }, LAMBDA_CONTEXT);
  const dispatcher = await import('#lambdas/dispatcher.ts');
  await dispatcher.handler(
    { Records: [{ body: '{"detail":{"name":"bt-1-1"}}' }, { body: '{}' }] },
    LAMBDA_CONTEXT,
  );
  dynamo.onAnyCommand().rejects(new Error('down'));
  await dispatcher.handler({ Records: [{ body: '{"detail":{"name":"bt-1-1"}}' }] }, LAMBDA_CONTEXT);
  dynamo.restore();
  states.restore();
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Lines of the tasks, which are processes of their own: src/tasks/backtest.ts. */
const TASK_FIELDS = ['job_id'];
/** Fields that CloudWatch Logs adds. */
const FIELDS_OF_AWS = ['@timestamp'];

/** Paths of all values of a line: `error.message`; elements of a list are `failed.0`. */
function pathsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, `${path}.0`];
  if (typeof value !== 'object' || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, path ? `${path}.${key}` : key)),
  ];
}

const WORDS =
  /^(fields|filter|stats|sort|by|asc|desc|as|and|or|in|like|count|pct|max|min|sum|avg|bin|limit)$/;

function fieldsOf(query: string): string[] {
  const bare = query.replaceAll(/"[^"]*"|\/[^/]*\//g, ' ');
  const aliases = [...bare.matchAll(/\bas (\w+)/g)].map(([, alias]) => alias);
  return [...bare.matchAll(/(?<![\w.])[@a-z_][\w.]*/gi)]
    .map(([word]) => word)
    .filter((word) => !WORDS.test(word) && !aliases.includes(word));
}

it('filters in the runbook name only fields that log lines have', () => {
  const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
  const filters = [...runbook.matchAll(/`(filter [^`]+)`/g)].map(([, filter]) => filter!);
  expect(filters.length).toBeGreaterThan(6);
  const known = lines.flatMap((line) => pathsOf(line, ''));
  for (const filter of filters) for (const field of fieldsOf(filter)) expect(known, filter).toContain(field);
});

describe.each(LOG_QUERIES)('query "$name"', ({ query }) => {
  it('names only fields that log lines have', () => {
    const known = new Set([...lines.flatMap((line) => pathsOf(line, '')), ...TASK_FIELDS, ...FIELDS_OF_AWS]);
    const fields = fieldsOf(query);
    expect(fields.length).toBeGreaterThan(2);
    for (const field of fields) expect([...known], field).toContain(field);
  });

  it('finds lines by messages that are logged', () => {
    const wanted = [
      ...query.matchAll(/message (?:=|in|like) (?:\[([^\]]*)\]|"([^"]*)"|\/([^/]*)\/)/g),
    ].flatMap(([, list, one, part]) =>
      list ? list.split(/,\s*/).map((each) => each.slice(1, -1)) : [one ?? part!],
    );
    const found = wanted.filter((text) => lines.some(({ message }) => String(message).includes(text)));
    // Of several messages, those of rare failures are not provoked here.
    if (wanted.length > 0) expect(found.length, wanted.join()).toBeGreaterThan(0);
  });
});
