import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { runBacktest } from './backtest.ts';
import { ApiClient } from './client.ts';
import { JSON_OPTION } from './options.ts';
import { duration } from './output.ts';

const STRATEGY = 'ema_crossover';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('run a backtest from request to report, on a data folder that is deleted afterwards')
    .option(...JSON_OPTION)
    .action(({ json = false }: { readonly json?: boolean }) => runDemo(json));
}

/** @param json prints the result alone */
async function runDemo(json: boolean): Promise<void> {
  const say = (text: string) => {
    if (!json) console.log(text);
  };
  const started = performance.now();
  const { startPlatform } = await import('../../src/local/platform.ts');
  const { Dashboard } = await import('../build/dashboard.ts');
  const home = mkdtempSync(join(tmpdir(), 'touchstone-demo-'));
  const dashboard = new Dashboard();
  const platform = await startPlatform({
    home,
    ports: { backend: 0, strategy: 0, dataCollection: 0 },
    dashboard: dashboard.state,
  });
  try {
    const { backend_url } = platform.info;
    say(`The platform runs in this process: ${backend_url}`);
    say('Candles are from sim, a simulated market that needs no network.\n');
    const client = new ApiClient(backend_url);
    const request = {
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT', 'BNB/USDT:USDT'],
      timeframe: '1h',
    };
    say(`POST ${backend_url}/api/v1/backtests`);
    say(JSON.stringify({ config: { strategy: STRATEGY, ...request } }));
    process.exitCode = await runBacktest(
      { client, platform: platform.info, temporary: true },
      STRATEGY,
      request,
      { wait: true, json },
    );
    say(`\nDone in ${duration(performance.now() - started)}. Next:`);
    say(
      '  npm start                                            then open http://127.0.0.1:8000, or /docs there',
    );
    say(`  ${TOUCHSTONE} backtest ${STRATEGY}   your own backtest`);
    say('  docs/writing-strategies.md                           your own strategy');
    // A terminal has a reader who opens the links. Elsewhere, such as in CI, the command ends.
    const stays = process.stdout.isTTY && !json;
    say(
      stays
        ? '\nLook at it until Ctrl-C stops the platform:'
        : '\nA terminal keeps the platform until Ctrl-C:',
    );
    say(`  dashboard  ${backend_url}`);
    say(`  report     ${backend_url}/backtests/${(await newestBacktest(client)).job_id}`);
    if (stays) {
      void dashboard.open();
      const interrupted = new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
      });
      await Promise.race([interrupted, platform.failed]);
    }
  } finally {
    await Promise.all([platform.stop(), dashboard.stop()]);
    rmSync(home, { recursive: true, force: true });
  }
}

async function newestBacktest(client: ApiClient): Promise<{ readonly job_id: string }> {
  const { items } = await client.get<{ items: [{ job_id: string }] }>('/api/v1/backtests?limit=1');
  return items[0];
}
