import { afterAll, describe, expect, it, vi } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { createLogger } from '#runtime/log.ts';
import { capturedOutput } from '../support/captured-output.ts';
import { expectRefusal, lambdaHost, serverHost } from './hosts.ts';

/** The log is one JSON object per line; callers cannot forge lines, and it contains no secret. */

const captured = capturedOutput();
const { lines } = captured;

const log = createLogger('test', 'INFO');

const TRICKS = [
  '\n{"level":"ERROR"}',
  '\r\n',
  '\x1b[2J\x1b[31m',
  '\u009b31m',
  '\u2028',
  '\u202e',
  '\x7f',
  '\0',
];

describe('request log', async () => {
  const server = await serverHost(
    {
      getBacktest: async () => {
        throw new Error(`no such ${TRICKS.join('')}${'x'.repeat(100_000)}`);
      },
      listBacktests: async () => {
        throw new CodedError('DATA005', { cause: new Error('Authorization: Bearer abc.def.ghi refused') });
      },
    },
    { log },
    { log },
  );
  afterAll(() => server.server.close());

  it.each(TRICKS)('path with %j stays one log line', async (trick) => {
    await server.call({ path: `/x${encodeURIComponent(trick)}y`, headers: { 'x-correlation-id': 'a{}b' } });
    const [line, ...more] = lines();
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      level: 'INFO',
      message: 'request',
      correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(captured.text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|\u2028/u);
  });

  it('log omits headers and the query', async () => {
    const headers = {
      'user-agent': '"}\\n{',
      authorization: 'Bearer secret-token',
      cookie: 'secret-cookie',
      'idempotency-key': 'secret-key',
    };
    await server.call({ path: '/api/v1/health?token=secret-query', headers });
    expect(lines()).toHaveLength(1);
    expect(captured.text).not.toContain('secret');
  });

  it('error text is truncated and stays on one line', async () => {
    const { text } = await server.call({ path: '/api/v1/backtests/bt-1' });
    expect(text).not.toContain('no such');
    expect(lines().map(({ level }) => level)).toEqual(['ERROR', 'INFO']);
    expect(captured.text.length).toBeLessThan(40_000);
    expect(captured.text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|\u2028/u);
  });

  it('log omits a token in the cause of an error', async () => {
    await server.call({ path: '/api/v1/backtests' });
    expect(lines()[0]).toMatchObject({ level: 'ERROR', code: 'DATA005' });
    expect(captured.text).toContain('Bearer [left out]');
    expect(captured.text).not.toContain('abc.def');
  });
});

it('invalid event is rejected and logged as JSON only', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const call = lambdaHost();
  for (const method of ['TRACE', 'CONNECT', 'A B', 'GET\n{"level":"ERROR"}']) {
    expectRefusal(await call({ method, path: '/x' }), 400, 'HTTP400');
  }
  expect(printed).not.toHaveBeenCalled();
  // Powertools logs that there are no metrics to publish.
  expect(captured.text).not.toMatch(/ERROR|TRACE|Error/);
});

describe('secrets in the log', () => {
  it.each([
    ['Authorization', 'x'],
    ['SERVICE_TOKEN', 'x'],
    ['serviceToken', 'x'],
    ['secretAccessKey', 'x'],
    ['AWS_SECRET_ACCESS_KEY', 'x'],
    ['sessionToken', 'x'],
    ['privateKey', { d: 'x' }],
    ['password', 'x'],
  ])('value of %s is omitted at any depth', (name, value) => {
    const error = Object.assign(new Error('refused'), { config: { headers: { [name]: value } } });
    log.error('call failed', { error: new Error('outer', { cause: error }), deep: [{ [name]: value }] });
    const [line] = lines();
    expect(line!.error.cause.config.headers[name]).toBe('[left out]');
    expect(line!.deep[0][name]).toBe('[left out]');
  });

  it('values with similar names are kept', () => {
    log.info('done', { task: 'local-1', tokens: 5, secretary: 'x' });
    expect(lines()[0]).toMatchObject({ task: 'local-1', tokens: 5, secretary: 'x' });
  });
});
