import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import aslValidator from 'asl-validator';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LocalStateMachine } from '#adapters/local/state-machine.ts';
import { type Behaviour, FakeService } from '../runtime/data-proxy-server.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';

/** State machine and policy of docs/calling-the-proxy.md with the real handler of the function. */

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:data-proxy:live';
const guide = readFileSync(new URL('../../docs/calling-the-proxy.md', import.meta.url), 'utf8');
const [policy, definition] = [...guide.matchAll(/```json\n(.+?)```/gs)].map(([, block]) => block!);

const withArn = (text: string) => text.replaceAll(/\$\{DataProxyArn\}/g, ARN);

const folder = mkdtempSync(join(tmpdir(), 'touchstone-caller-'));
const file = join(folder, 'caller.asl.json');
let service: FakeService;
beforeAll(async () => {
  writeFileSync(file, definition!);
  service = await FakeService.start();
});
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

test('policy allows only the call of the proxy', () => {
  expect(JSON.parse(withArn(policy!)).Statement).toEqual([
    { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: ARN },
  ]);
});

test('documented state machine is valid ASL', () => {
  const valid = aslValidator(JSON.parse(withArn(definition!)), {
    checkArn: true,
    checkPaths: true,
  });
  expect(valid.errorsText()).toBe('');
  expect(valid.isValid).toBe(true);
});

describe('documented state machine with the proxy handler', () => {
  let handler: typeof import('#lambdas/data-proxy.ts').handler;
  beforeAll(async () => {
    vi.stubEnv('DATA_COLLECTION_URL', service.url);
    vi.stubEnv('MAX_RETRIES', '0');
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    ({ handler } = await import('#lambdas/data-proxy.ts'));
  });

  async function run(behaviour: Behaviour, input: Record<string, unknown> = {}) {
    service.behaviours = [behaviour];
    service.requests.length = 0;
    const machine = new LocalStateMachine(
      file,
      { DataProxyArn: ARN },
      {
        'arn:aws:states:::lambda:invoke': async ({ FunctionName, Payload }: Record<string, never>) => {
          expect(FunctionName).toBe(ARN);
          const payload = await handler(Payload, LAMBDA_CONTEXT as Context & never);
          return { StatusCode: 200, Payload: JSON.parse(JSON.stringify(payload)) };
        },
      },
    );
    const execution = machine.start('run-1', { symbols: ['BTC/USDT:USDT'], timeframe: '5m', ...input });
    return (await execution.result) as Record<string, any>;
  }
  const reply = (all_fresh: unknown): Behaviour => ({ status: 200, body: { all_fresh, stale_symbols: [] } });

  test('caller runs the backtest without collecting when candles are fresh', async () => {
    const output = await run(reply(true));
    expect(output.freshness.envelope.body.data.result.all_fresh).toBe(true);
    expect(output.collected).toBeUndefined();
    const { url } = service.requests[0]!;
    expect([url.pathname, url.searchParams.get('symbols'), url.searchParams.get('timeframe')]).toEqual([
      '/api/v1/freshness',
      'BTC/USDT:USDT',
      '5m',
    ]);
  });

  test.each<[string, Behaviour]>([
    ['stale candles', reply(false)],
    ['a result of another type', reply('true')],
    ['a service that is down', { status: 503, body: {} }],
    ['a service that rejects', { status: 400, body: {} }],
    ['a dropped connection', 'drop'],
  ])('caller collects first for %s', async (_, behaviour) => {
    expect((await run(behaviour)).collected).toBe('yes');
  });

  test('caller collects first for symbols that are not a list', async () => {
    expect((await run(reply(true), { symbols: 'BTC/USDT:USDT' })).collected).toBe('yes');
    expect(service.requests).toHaveLength(0);
  });
});
