import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { runInProcess } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Which trials count against a backtest, over HTTP and in the terminal. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const HOUR = 3_600_000;
const range = (start: string, end: string) => ({ start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` });
const YEAR = range('2024-01-01', '2025-01-01');

interface Changes {
  readonly pairs?: readonly string[];
  readonly date_range?: object;
  readonly exchange?: string;
  readonly collect?: string;
  readonly timeframe?: string;
}

async function run(params: object, changes: Changes, session?: string): Promise<any> {
  const config = { strategy: 'ema_crossover', timeframe: '4h', params, ...changes };
  const headers: Record<string, string> = session === undefined ? {} : { 'Touchstone-Session': session };
  const { status, body } = await platform.post('/api/v1/backtests', { config }, headers);
  expect(status, JSON.stringify(body)).toBe(201);
  return platform.until(body.job_id, 'completed');
}

/** Daily Sharpe ratio of a run with the sample deviation, from its equity. */
async function dailySharpe({ job_id, config }: any): Promise<number> {
  const { body } = await platform.get(`/api/v1/backtests/${job_id}/equity`);
  const equity: number[] = body.equity;
  const returns = equity.map((each, day) => each / (equity[day - 1] ?? config.dry_run_wallet) - 1);
  return mean(returns) / Math.sqrt(variance(returns));
}
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const variance = (values: readonly number[]) =>
  values.reduce((sum, each) => sum + (each - mean(values)) ** 2, 0) / (values.length - 1);

async function listed(jobId: string): Promise<any> {
  const { body } = await platform.get('/api/v1/backtests?limit=100');
  return body.items.find((item: any) => item.job_id === jobId);
}

const show = async (jobId: string) =>
  (await runInProcess(platform.home, ['show', jobId])).out.replaceAll(/\s+/g, ' ');

describe('trials of variants of a year', () => {
  const pairs = ['BTC/USDT:USDT'];
  const variants: any[] = [];
  let fourth: any;
  beforeAll(async () => {
    for (const fast of [8, 9, 10]) variants.push(await run({ fast }, { pairs, date_range: YEAR }, 'a'));
    for (const fast of [5, 6]) {
      await run({ fast }, { pairs, date_range: range('2024-03-01', '2024-03-04'), timeframe: '15m' }, 'a');
    }
    fourth = await run({ fast: 11 }, { pairs, date_range: YEAR }, 'a');
  });

  it('a fourth one counts three others, and no run of three days', async () => {
    expect(fourth.trials).toMatchObject({ owner: 4, strategy: 4, session: 4, returns: { count: 366 } });
    const ratios = await Promise.all([...variants, fourth].map(dailySharpe));
    const spread = Math.min(variance(ratios), 1 / 365);
    const { lowest } = fourth.trials;
    expect(lowest).toMatchObject({ scope: 'owner', trials: 4, reason: null });
    expect(lowest.sharpe_variance_daily).toBeCloseTo(spread, 10);
    // Of four standard normal values, by the formula of Bailey and Lopez de Prado.
    expect(lowest.expected_max_sharpe_daily / Math.sqrt(spread)).toBeCloseTo(1.0521228241893, 8);
    expect(fourth.trials.deflated_sharpe_ratio).toBe(lowest.deflated_sharpe_ratio);
  });

  it('lists have the ratio by the trials of now, and the job that of its completion', async () => {
    const [first] = variants;
    expect(first.trials.lowest).toMatchObject({ trials: 1 });
    const { deflation } = await listed(first.job_id);
    expect(deflation).toMatchObject({ scope: 'owner', trials: 4 });
    expect(deflation.sharpe_variance_daily).toBe(fourth.trials.lowest.sharpe_variance_daily);
    expect(deflation.deflated_sharpe_ratio).toBeLessThan(first.trials.lowest.deflated_sharpe_ratio);
    expect((await platform.get(`/api/v1/backtests/${first.job_id}`)).body.trials).toEqual(first.trials);
    expect((await listed(fourth.job_id)).deflation).toEqual(fourth.trials.lowest);
    const { out } = await runInProcess(platform.home, ['jobs']);
    expect(out).toMatch(new RegExp(`${first.job_id}.* 0\\.\\d{3}, 4 trials of the owner`));
  });

  it('lists are sorted by the ratio of now, and runs without one come last in both directions', async () => {
    for (const order of ['desc', 'asc']) {
      const query = `sort=deflated_sharpe_ratio&sort_order=${order}&limit=100`;
      const { items } = (await platform.get(`/api/v1/backtests?${query}`)).body;
      const ratios: (number | null)[] = items.map((item: any) => item.deflated_sharpe_ratio);
      const defined = ratios.filter((ratio) => ratio !== null);
      expect(items.map(({ deflation }: any) => deflation?.deflated_sharpe_ratio ?? null)).toEqual(ratios);
      expect(defined.length).toBeGreaterThan(3);
      expect(ratios.slice(defined.length)).toEqual(ratios.slice(defined.length).map(() => null));
      expect(defined).toEqual(defined.toSorted((a, b) => (order === 'asc' ? a - b : b - a)));
    }
  });

  it('command jobs filters by the session that was typed, never by TOUCHSTONE_SESSION', async () => {
    const ids = async (...args: string[]) => {
      const { out } = await runInProcess(platform.home, ['jobs', '--limit', '100', '--json', ...args]);
      return JSON.parse(out).items.map(({ job_id }: any) => job_id);
    };
    vi.stubEnv('TOUCHSTONE_SESSION', 'nothing-has-this-name');
    const all = await ids();
    expect(all).toContain(variants[0].job_id);
    expect(await ids('--session', 'a')).toContain(fourth.job_id);
    expect(await ids('--session', 'other')).toEqual([]);
    vi.unstubAllEnvs();
    expect(await ids('--param', 'fast=11.0', '--strategy', fourth.strategy)).toEqual([fourth.job_id]);
    const [best] = await ids('--sort', 'sharpe', '--asc', '--session', 'a', '--param', 'fast=11');
    expect(best).toBe(fourth.job_id);
    const { out } = await runInProcess(platform.home, ['jobs', '--param', 'fast=12345']);
    expect(out).toContain('No backtest passes the filters');
  });

  it('a new name of the session resets nothing', async () => {
    const again = await run({ fast: 12 }, { pairs, date_range: YEAR }, 'fresh');
    expect(again.trials).toMatchObject({ owner: 5, session: 1, lowest: { scope: 'owner', trials: 5 } });
    expect(again.trials.session_deflated_sharpe_ratio).toBe(again.trials.probabilistic_sharpe_ratio);
    expect(again.trials.lowest.deflated_sharpe_ratio).toBeLessThan(again.trials.probabilistic_sharpe_ratio);
    expect(await show(again.job_id)).toMatch(
      /Trial 5 on overlapping assets and dates \(5 of this strategy, 1 of this session\): deflated Sharpe ratio 0\.\d{3} by the 5 trials of the owner \(good above 0\.95, bad below 0\.9\)/,
    );
  });
});

it('runs that never trade are one trial', async () => {
  const pairs = ['BNB/USDT:USDT'];
  const changes = { pairs, date_range: range('2024-03-01', '2024-04-10'), timeframe: '1d' };
  for (const slow of [180, 190, 200]) {
    const job = await run({ fast: 45, slow }, changes);
    expect(job.result.total_trades).toBe(0);
    expect(job.trials).toMatchObject({ owner: 1, lowest: { reason: 'the daily returns do not vary' } });
  }
});

it('two days with trades have no deflated ratio, and the text says why', async () => {
  const date_range = range('2024-05-01', '2024-05-03');
  const job = await run({ fast: 5, slow: 50 }, { pairs: ['SOL/USDT:USDT'], date_range, timeframe: '5m' });
  expect(job.result.total_trades).toBeGreaterThan(1);
  expect(job.trials).toMatchObject({
    owner: 1,
    probabilistic_sharpe_ratio: null,
    deflated_sharpe_ratio: null,
    lowest: {
      deflated_sharpe_ratio: null,
      reason: 'the run has 2 daily returns, and at least 30 are needed',
    },
  });
  expect((await listed(job.job_id)).deflation).toEqual(job.trials.lowest);
  const text = await show(job.job_id);
  expect(text).toContain('deflated Sharpe ratio undefined: the run has 2 daily returns');
  expect(text).not.toContain('good above');
});

it('runs on simulated candles change nothing for a run on real ones', async () => {
  const pairs = ['ETH/USDT:USDT'];
  const date_range = range('2024-01-01', '2024-04-01');
  const real = { pairs, date_range, exchange: 'binanceusdm', collect: 'never' };
  await storeCandles('binanceusdm', pairs[0]!, Date.UTC(2023, 10, 1), Date.UTC(2024, 3, 1));
  await run({ fast: 8 }, real);
  const before = await run({ fast: 9 }, real);
  expect(before.trials).toMatchObject({ owner: 2, lowest: { reason: null } });
  for (const fast of [8, 9, 10, 11, 12]) {
    const { trials } = await run({ fast }, { pairs, date_range });
    // BTC of the other tests is no part of them.
    expect(trials.owner).toBe(fast - 7);
  }
  expect((await listed(before.job_id)).deflation).toEqual(before.trials.lowest);
  expect((await run({ fast: 9 }, real)).trials).toEqual(before.trials);
});

/** Candles of four hours whose price goes up and down. */
async function storeCandles(exchange: string, symbol: string, start: number, end: number): Promise<void> {
  const rows = (end - start) / (4 * HOUR);
  const prices = Float64Array.from(
    { length: rows + 1 },
    (_, row) => 100 + 10 * Math.sin(row / 17) + 5 * Math.sin(row / 5) + row / 100,
  );
  const { candles, dynamo } = openMarketStores(platform.info.storage);
  await candles.write(
    { exchange, symbol, timeframe: '4h' },
    {
      timestamp: Float64Array.from({ length: rows }, (_, row) => start + row * 4 * HOUR),
      open: prices.slice(0, rows),
      high: prices.slice(0, rows).map((open, row) => Math.max(open, prices[row + 1]!) + 1),
      low: prices.slice(0, rows).map((open, row) => Math.min(open, prices[row + 1]!) - 1),
      close: prices.slice(1),
      volume: new Float64Array(rows).fill(10),
    },
  );
  dynamo.destroy();
}
