import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, expect, test } from 'vitest';
import { PLATFORM_FILE } from '../../src/local/platform-info.ts';
import { startTestPlatform } from '../support/platform.ts';
import { connect, http, type McpClient, stdio } from './mcp-fixture.ts';

const home = mkdtempSync(join(tmpdir(), 'touchstone-mcp-full-'));
const clients: McpClient[] = [];
afterAll(async () => {
  await Promise.all(clients.map(({ client }) => client.close()));
  rmSync(home, { recursive: true, force: true });
});

async function start(
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<McpClient> {
  const opened = await connect(stdio(home, args, environment));
  clients.push(opened);
  return opened;
}

test('without a platform the first call starts one, which a search uses and which stops with the server', async () => {
  const agent = await start(['--tools', 'backtests,hyperopt']);
  expect(await agent.toolNames()).toContain('start_hyperopt');
  expect(existsSync(join(home, PLATFORM_FILE))).toBe(false);
  const started = await agent.call('start_hyperopt', {
    strategy: 'ema_crossover',
    timeframe: '1h',
    n_trials: 3,
    models: 'none',
    // A default range ends now: in some hours its trials have no deflated Sharpe ratio.
    date_range: { start: '2024-01-01', end: '2024-04-01' },
  });
  expect(existsSync(join(home, PLATFORM_FILE))).toBe(true);
  const { job_id } = started.data;
  const ended = await agent.call('wait_for_job', { job_id, timeout_seconds: 50 }, () => undefined);
  expect(ended.data.status).toBe('completed');
  expect(ended.content.next[0]).toMatchObject({ tool: 'get_hyperopt_result', arguments: { job_id } });
  const result = await agent.call('get_hyperopt_result', { job_id });
  expect(result.content.caveats).toContainEqual(
    expect.stringMatching(
      /^Deflated Sharpe ratio 0\.\d{3}: the probability that the best of 3 trials has skill; good from 0\.95\.$/,
    ),
  );
  expect(result.data.overfitting.trials).toBe(3);
  const { tool, arguments: args, why } = result.content.next[0];
  expect(why).toContain('without it the run repeats those of the search');
  // The suggested call is one that works.
  const best = await agent.call(tool, args);
  const run = await agent.call('wait_for_job', { job_id: best.data.job_id });
  expect(run.content.caveats).toContainEqual(expect.stringContaining(`best of 3 trials of ${job_id}`));
  // On the days of the search.
  expect(run.data.trials.sharpe_ratio_daily).toBeCloseTo(result.data.overfitting.sharpe_ratio_daily, 5);
  await agent.client.close();
  await expect.poll(() => existsSync(join(home, PLATFORM_FILE)), { timeout: 30_000 }).toBe(false);
}, 120_000);

test('server finds a platform that was started again at other ports', async () => {
  const agent = await start();
  const first = await startTestPlatform({ home });
  expect((await agent.call('get_me')).data.subject).toBe('anonymous');
  await first.stop();
  const second = await startTestPlatform({ home });
  try {
    expect((await agent.call('get_me')).text).toContain('No response from');
    expect((await agent.call('get_me')).data.subject).toBe('anonymous');
  } finally {
    await second.stop();
  }
}, 120_000);

test('server with the address of the backend has its tools only, and states when it does not respond', async () => {
  const agent = await start(['--url', 'http://127.0.0.1:1', '--tools', 'all']);
  const names = await agent.toolNames();
  expect(names).toContain('submit_backtest');
  expect(names).not.toContain('start_hyperopt');
  expect(names).not.toContain('start_collection');
  const { text, isError } = await agent.call('list_strategies');
  expect([isError, text]).toEqual([true, expect.stringContaining('No response from http://127.0.0.1:1.')]);
  expect((await agent.call('wait_for_job', { job_id: 'ho-1' })).text).toContain('does not know the address');
});

test.each(['auto', 'legacy'] as const)(
  'stopped HTTP server ends a wait that would last minutes (%s)',
  async (mode) => {
    const backend = createServer(({ url }, response) => {
      const body = url === '/api/v1/me' ? { subject: 'ada' } : { status: 'running', progress: 0.5 };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await once(backend.listen(0, '127.0.0.1'), 'listening');
    const { port } = backend.address() as AddressInfo;
    const { server, url } = await http(home, ['--url', `http://127.0.0.1:${port}`]);
    try {
      const { call, client } = await connect(new StreamableHTTPClientTransport(new URL(url)), mode);
      const waiting = Promise.withResolvers<void>();
      const ended = call('wait_for_job', { job_id: 'bt-1', timeout_seconds: 300 }, () => waiting.resolve());
      const outcome = ended.catch(() => undefined);
      await waiting.promise;
      server.kill('SIGTERM');
      expect(await once(server, 'exit')).toEqual([0, null]);
      await client.close();
      await outcome;
    } finally {
      server.kill('SIGKILL');
      backend.close();
      backend.closeAllConnections();
    }
  },
  60_000,
);
