import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSchedulerClient, SchedulerTimer } from '#adapters/aws/scheduler-timer.ts';
import { LocalChallengeTimers } from '#adapters/local/challenge-timers.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const ID = 'ch-01M7Z0DVN4R83JXD0X11CMY67W';
const TARGET = {
  group: 'touchstone-challenges',
  functionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:repair:live',
  roleArn: 'arn:aws:iam::123456789012:role/schedules',
};

describe('SchedulerTimer', () => {
  const requests: { method?: string; url?: string; body: any }[] = [];
  let answer = { status: 200, type: '', body: '{"ScheduleArn":"arn"}' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '' } = request;
    requests.push({ method, url, body: JSON.parse(body) });
    const type = answer.type ? { 'x-amzn-errortype': answer.type } : {};
    response.writeHead(answer.status, { 'content-type': 'application/json', ...type }).end(answer.body);
  });

  beforeEach(async () => {
    requests.length = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('AWS_ENDPOINT_URL_SCHEDULER', `http://127.0.0.1:${port}`);
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'x');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const at = (time: string) => new SchedulerTimer(createSchedulerClient(), TARGET).at(ID, Date.parse(time));

  it('timer creates a one-time schedule that invokes repair with the challenge and deletes itself', async () => {
    answer = { status: 200, type: '', body: '{"ScheduleArn":"arn"}' };
    await at('2026-06-08T00:00:00.000Z');
    const [{ method, url, body }] = requests as [(typeof requests)[number]];
    expect([method, url]).toEqual(['POST', `/schedules/${ID}.1780876800`]);
    const { ClientToken, ...schedule } = body;
    expect(ClientToken).toMatch(/^[\w-]{1,64}$/);
    expect(schedule).toEqual({
      GroupName: TARGET.group,
      ScheduleExpression: 'at(2026-06-08T00:00:00)',
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: {
        Arn: TARGET.functionArn,
        RoleArn: TARGET.roleArn,
        Input: `{"challenge_id":"${ID}"}`,
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 10 },
      },
    });
    // Name pattern of EventBridge Scheduler.
    expect(url!.slice('/schedules/'.length)).toMatch(/^[0-9a-zA-Z-_.]{1,64}$/);
  });

  it('timer rounds the deadline up to the next second', async () => {
    await at('2026-06-08T00:00:00.001Z');
    expect(requests[0]!.body.ScheduleExpression).toBe('at(2026-06-08T00:00:01)');
  });

  it('timer accepts an existing schedule and throws a rejection or an outage', async () => {
    answer = { status: 409, type: 'ConflictException', body: '{"Message":"exists"}' };
    await at('2026-06-08T00:00:00.000Z');
    expect(requests).toHaveLength(1);
    answer = { status: 400, type: 'ValidationException', body: '{"Message":"bad role"}' };
    await expect(at('2026-06-08T00:00:00.000Z')).rejects.toThrow('bad role');
    answer = { status: 503, type: 'InternalServerException', body: '{"Message":"x"}' };
    await expect(at('2026-06-08T00:00:00.000Z')).rejects.toMatchObject({ code: 'HTTP503' });
  });
});

describe('LocalChallengeTimers', () => {
  const DAY = 24 * 3_600_000;
  const START = Date.parse('2026-06-01T00:00:00.000Z');

  function timers() {
    vi.useFakeTimers({ now: START });
    const fired: [string, number][] = [];
    const all = new LocalChallengeTimers(Date, (id) => fired.push([id, Date.now() - START]));
    return { all, fired };
  }

  it('local timer fires once per challenge, also beyond the longest timeout of Node', async () => {
    const { all, fired } = timers();
    await all.at('near', START + 1000);
    await all.at('far', START + 365 * DAY);
    await all.at('past', START - 1);
    vi.advanceTimersByTime(0);
    expect(fired).toEqual([['past', 0]]);
    vi.advanceTimersByTime(400 * DAY);
    expect(fired.slice(1)).toEqual([
      ['near', 1000],
      ['far', 365 * DAY],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('local timer replaces an earlier deadline, waits when the clock is set back and stops', async () => {
    const { all, fired } = timers();
    await all.at('a', START + 1000);
    await all.at('a', START + 5000);
    await all.at('b', START + 2000);
    vi.advanceTimersByTime(1999);
    vi.setSystemTime(START);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1999);
    expect(fired).toEqual([['b', 2000]]);
    all.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
