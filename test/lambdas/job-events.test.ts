import { expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { parseEvents } from '../support/events.ts';
import { pendingJob } from '../support/jobs.ts';
import { streamFixture } from '../support/lambda-stream.ts';

const PATH = '/api/v1/events';
const fixture = streamFixture(
  ({ tables }) => ({
    SERIES_TABLE: tables.series,
    REGISTRY_TABLE: tables.registry,
    RUNS_BUCKET: 'runs',
    IMAGE_ROLE_ID: 'AROAEXAMPLEID',
  }),
  () => import('#lambdas/job-events.ts'),
);

it.each([
  ['a caller without an unfinished job', PATH, {}, 204, undefined],
  ['an invalid event ID', PATH, { 'Last-Event-ID': 'x' }, 400, 'VAL005'],
  ['an invalid token', PATH, { Authorization: 'Bearer x' }, 401, 'AUTH002'],
  ['another path of the service', '/api/v1/backtests', {}, 404, 'HTTP404'],
])('function responds to %s without streaming', (_, path, headers, status, code) =>
  fixture.expectUnstreamed(path, headers, status, code),
);

it('function streams the unfinished jobs, and ends without an error when the client disconnects', async () => {
  await new DynamoJobStore(fixture.engine.client, fixture.engine.tables.jobs).create(pendingJob('bt-1'));
  const running = fixture.call({ path: PATH });
  await expect.poll(() => parseEvents(fixture.output.text)).toHaveLength(1);
  expect(fixture.output.sent.statusCode).toBe(200);
  expect(fixture.output.header('content-type')).toBe('text/event-stream');
  expect(parseEvents(fixture.output.text)[0]).toMatchObject({
    event: 'job',
    id: expect.stringMatching(/^\d{13},bt-1$/),
    data: { kind: 'backtest', id: 'bt-1', status: 'pending', progress: 0 },
  });
  fixture.output.destroy(new Error('gone'));
  await running;
});
