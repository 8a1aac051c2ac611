/** A backtest from request to report: `npm run demo`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCompiled } from './compile-cache.ts';

const STRATEGY = 'ema_crossover';
const started = performance.now();
keepCompiled();
const { startPlatform } = await import('../src/local/platform.ts');
const { runBacktest } = await import('./cli/backtest.ts');
const { ApiClient } = await import('./cli/client.ts');
const { duration } = await import('./cli/output.ts');
const home = mkdtempSync(join(tmpdir(), 'touchstone-demo-'));
const platform = await startPlatform({ home, ports: { backend: 0, strategy: 0, dataCollection: 0 } });
try {
  const { backend_url } = platform.info;
  console.log(`The platform runs in this process: ${backend_url}`);
  console.log('Candles are from sim, a simulated market that needs no network.\n');
  const client = new ApiClient(backend_url);
  const request = {
    pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT', 'BNB/USDT:USDT'],
    timeframe: '1h',
  };
  console.log(`POST ${backend_url}/api/v1/backtests`);
  console.log(JSON.stringify({ config: { strategy: STRATEGY, ...request } }));
  process.exitCode = await runBacktest(client, STRATEGY, request, { wait: true });
  console.log(`\nDone in ${duration(performance.now() - started)}. Next:`);
  console.log('  npm start                               then open http://127.0.0.1:8000/docs');
  console.log(`  npx touchstone backtest ${STRATEGY}   your own backtest`);
  console.log('  docs/writing-strategies.md              your own strategy');
} finally {
  await platform.stop();
  rmSync(home, { recursive: true, force: true });
}
