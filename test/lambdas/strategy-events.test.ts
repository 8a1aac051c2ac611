import { expect, it } from 'vitest';
import { runHyperoptWorker } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { parseEvents } from '../support/events.ts';
import { pendingHyperopt, workerDeps } from '../support/hyperopt-workers.ts';
import { streamFixture } from '../support/lambda-stream.ts';

const fixture = streamFixture(
  () => ({}),
  () => import('#lambdas/strategy-events.ts'),
  async (engine) => {
    await workerDeps(engine).hyperoptJobs.create(pendingHyperopt('ho-1'));
    const me = { worker: 0, task: 'task' };
    await runHyperoptWorker(workerDeps(engine), 'ho-1', me, new AbortController().signal);
    await workerDeps(engine).hyperoptJobs.create(pendingHyperopt('ho-2'));
  },
);

it('function streams the events of a hyperopt job after status and headers', async () => {
  await fixture.call({ path: '/api/v1/hyperopt/ho-1/events', queryStringParameters: { after: '37' } });
  expect(fixture.output.writableFinished).toBe(true);
  expect(fixture.output.sent.statusCode).toBe(200);
  expect(Object.keys(fixture.output.sent).sort()).toEqual(['headers', 'multiValueHeaders', 'statusCode']);
  expect(fixture.output.header('content-type')).toBe('text/event-stream');
  expect(fixture.output.header('x-correlation-id')).toBe('c6af9ac6-7b61-11e6-9a41-93e8deadbeef');
  expect(fixture.output.header('strict-transport-security')).toBeTruthy();
  expect(parseEvents(fixture.output.text).map(({ event, id }) => [event, id])).toEqual([
    ['snapshot', 37],
    ['trial', 38],
    ['trial', 39],
    ['trial', 40],
    ['status', 41],
  ]);
});

it.each([
  [
    'a stream without further events',
    '/api/v1/hyperopt/ho-1/events',
    { 'Last-Event-ID': '41' },
    204,
    undefined,
  ],
  ['an unknown job', '/api/v1/hyperopt/ho-none/events', {}, 404, 'OPT001'],
  ['an invalid event ID', '/api/v1/hyperopt/ho-1/events', { 'Last-Event-ID': 'x' }, 400, 'VAL005'],
  ['an invalid token', '/api/v1/hyperopt/ho-1/events', { Authorization: 'Bearer x' }, 401, 'AUTH002'],
  ['another path of the service', '/api/v1/hyperopt', {}, 404, 'HTTP404'],
])('function responds to %s without streaming', (_, path, headers, status, code) =>
  fixture.expectUnstreamed(path, headers, status, code),
);

it('function ends without an error when the client disconnects', async () => {
  const running = fixture.call({ path: '/api/v1/hyperopt/ho-2/events' });
  await expect.poll(() => fixture.output.text).toContain('event: snapshot');
  fixture.output.destroy(new Error('gone'));
  await running;
});
