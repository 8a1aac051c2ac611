import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { platformFixture } from './platform-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-results-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(
  join(folder, 'talker.ts'),
  `${readFileSync('strategies/example_pullback.ts', 'utf8').replace("'example_pullback'", "'talker'")}
console.log('loaded the talker\\u001b[2J');
`,
);

let job: any;
const touchstone = platformFixture(
  'touchstone-results-',
  { strategiesDirectory: folder },
  async (platform) => {
    const range = { start: '2024-01-01T00:00:00Z', end: '2024-01-11T00:00:00Z' };
    job = await platform.run({ strategy: 'ema_crossover', timeframe: '1h', date_range: range });
  },
);

describe('results of a completed backtest', () => {
  it('show prints the report with market change, exit reasons, biases and the source of the numbers', async () => {
    const { code, out, err } = await touchstone('show', job.job_id);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^bt-\w+: completed 20\d\d-/);
    for (const label of ['Market change %', 'Calmar ratio', 'Expectancy per trade', 'Exit reason']) {
      expect(out).toContain(label);
    }
    expect(out).toMatch(
      /^Trial 1 on overlapping assets and dates \(1 of this strategy\): deflated Sharpe ratio undefined: the\nrun has 10 daily returns, and at least 30 are needed$/m,
    );
    expect(out).toMatch(/optimistic +Orders do not move the price/);
    expect(out).toMatch(/on sim \(simulated candles\), 1h, 2024-01-01 00:00 to 2024-01-11 00:00 UTC/);
    expect(out).toMatch(/Source: data folder \S+, platform at http:\/\/127\.0\.0\.1:\d+\n$/);
    const json = JSON.parse((await touchstone('show', 'last', '--json')).out);
    expect(json.job.job_id).toBe(job.job_id);
    expect(json.report.biases.length).toBeGreaterThan(0);
    expect(json.equity.dates[0]).toBe('2024-01-01');
  });

  it('trades lists a page, prints those that match as CSV, and saves Parquet', async () => {
    const { total_trades } = job.result;
    const page = await touchstone('trades', job.job_id, '--limit', '2');
    expect(page.out).toContain(`Trades 1 to 2 of ${total_trades}. Next: --page 2`);
    const all = (await touchstone('trades', 'last', '--csv')).out.trimEnd().split('\r\n');
    expect(all).toHaveLength(total_trades + 1);
    const pair = job.config.pairs[1];
    const matching = (await touchstone('trades', 'last', '--csv', '--pair', pair)).out
      .trimEnd()
      .split('\r\n');
    expect(matching).toEqual([all[0], ...all.slice(1).filter((line) => line.includes(pair))]);
    expect(matching.length).toBeLessThan(all.length);
    const file = join(folder, 'trades.parquet');
    expect((await touchstone('trades', 'last', '--parquet', '--out', file)).out).toMatch(/^Saved .*KB\.\n$/);
    expect(readFileSync(file).subarray(0, 4).toString()).toBe('PAR1');
    expect(await touchstone('trades', 'last', '--parquet', '--side', 'long')).toMatchObject({ code: 2 });
    expect(await touchstone('trades', 'last', '--csv', '--json')).toMatchObject({ code: 2, out: '' });
    const other = await touchstone('diff', 'last', 'ho-1');
    expect([other.code, other.err]).toEqual([2, expect.stringMatching(/^ho-1 is not the ID of a backtest/)]);
  });

  it('export saves the whole report as JSON', async () => {
    const file = join(folder, 'report.json');
    const { out } = await touchstone('export', 'last', '--out', file, '--json');
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(out)).toEqual({ file, bytes: text.length });
    expect(JSON.parse(text).job_id).toBe(job.job_id);
    const missing = await touchstone('export', 'last', '--out', join(folder, 'missing/report.json'));
    expect(missing.err).toMatch(/cannot be written: .*Choose another file with --out/);
  });

  it('diff of runs with a small wallet shows money with more decimals', async () => {
    const { out } = await touchstone('rerun', job.job_id, '--wallet', '0.01', '--stake', '0.001', '--json');
    const small = JSON.parse(out).job.job_id;
    const text = (await touchstone('diff', job.job_id, small)).out;
    expect(text).toMatch(/Expectancy +│ +-?\d+\.\d{6} │ +-?\d+\.\d{6} │ +[+-]?\d+\.\d{6}/);
    expect(text).toMatch(/Market change % +│ +-?\d+\.\d\d │/);
  });

  it('rerun changes only what an option names, and diff compares the runs', async () => {
    const { code, out } = await touchstone(
      'rerun',
      job.job_id,
      '--param',
      'fast=10',
      '--fee',
      '0.002',
      '--json',
    );
    expect(code).toBe(0);
    const { job: changed, comparison } = JSON.parse(out);
    expect(changed.config).toEqual({
      ...job.config,
      fee: 0.002,
      params: { ...job.config.params, fast: 10 },
    });
    const text = (await touchstone('diff', job.job_id, 'last')).out;
    expect(text).toMatch(/fee +│ +0\.0005 │ +0\.002/);
    expect(text).toContain('Inputs: same candles, strategy source and engine');
    const compared = JSON.parse((await touchstone('diff', job.job_id, changed.job_id, '--json')).out);
    expect(comparison).toEqual(compared);
    const { settings, metrics, equity } = compared;
    expect(settings.map(({ name }: { name: string }) => name)).toEqual(['fee', 'params.fast']);
    expect(metrics.find(({ name }: { name: string }) => name === 'total_profit_pct')).toMatchObject({
      a: job.result.total_profit_pct,
      b: changed.result.total_profit_pct,
      change: changed.result.total_profit_pct - job.result.total_profit_pct,
    });
    expect(equity.a).toHaveLength(10);
  });

  it('backtest takes every setting of a run as an option', async () => {
    const { out } = await touchstone(
      'backtest',
      'ema_crossover',
      '--pairs',
      'BTC/USDT:USDT',
      '--timeframe',
      '1h',
      '--offline',
      '--json',
      '--start',
      '2024-01-02T00:00:00Z',
      '--end',
      '2024-01-04T00:00:00Z',
      '--timeframe-detail',
      '5m',
      '--stake',
      '50',
      '--wallet',
      '500',
      '--max-open-trades',
      '2',
      '--fee',
      '0.001',
      '--slippage',
      '0.0002',
      '--leverage',
      '2',
      '--fill-model',
      'conservative',
      '--precision',
      'none',
      '--seed',
      '7',
      '--stoploss',
      '-0.03',
      '--roi',
      '0=0.05',
      '--roi',
      '60=0.01',
      '--trailing',
      'positive=0.02',
      '--tradable-ratio',
      '0.8',
      '--amend-last-stake',
      '--last-stake-min',
      '0.3',
      '--order-type',
      'entry=market',
      '--timeout',
      'exit=30',
      '--ignore-entry-after',
      '4',
      '--stack',
      '--margin-mode',
      'cross',
      '--max-adjustments',
      '0',
      '--session',
      'monday',
    );
    expect(JSON.parse(out).job).toMatchObject({ session: 'monday', trials: { session: 1 } });
    expect(JSON.parse(out).job.warnings).toContain(
      'config.max_adjustments has no effect: the strategy has no callback adjustPosition',
    );
    expect(JSON.parse(out).job.config).toMatchObject({
      timeframe_detail: '5m',
      stake_amount: 50,
      dry_run_wallet: 500,
      max_open_trades: 2,
      fee: 0.001,
      slippage: 0.0002,
      leverage: 2,
      fill_model: 'conservative',
      precision: 'none',
      seed: 7,
      tradable_balance_ratio: 0.8,
      amend_last_stake_amount: true,
      last_stake_amount_min_ratio: 0.3,
      order_types: { entry: 'market', exit: 'limit' },
      unfilled_timeout: { entry: 10, exit: 30 },
      ignore_entry_after_candles: 4,
      position_stacking: true,
      margin_mode: 'cross',
      stoploss: -0.03,
      minimal_roi: { 0: 0.05, 60: 0.01 },
      trailing: { positive: 0.02 },
    });
    const byRule = await touchstone(
      'rerun',
      'last',
      '--no-timeframe-detail',
      '--ignore-entry-after',
      'none',
      '--json',
    );
    const { config: without } = JSON.parse(byRule.out).job;
    expect(without).toMatchObject({ timeframe_detail: null, seed: 7 });
    expect(without).not.toHaveProperty('ignore_entry_after_candles');
    const words = await touchstone('rerun', 'last', '--max-adjustments', 'some');
    expect(words.err).toContain('Pass an integer from 0 to');
    expect(words.err).toContain(', or none.');
    // Slippage makes prices of many digits, such as 123855.47600000001: the table has those that a market can have.
    expect((await touchstone('trades', 'last')).out).not.toMatch(/\d\.\d{9}/);
  });
});

describe('jobs of any kind', () => {
  it('logs prints the life of a backtest and what its strategy printed', async () => {
    const { out: submitted, err } = await touchstone(
      'backtest',
      'talker',
      '--start',
      '2024-01-01T00:00:00Z',
      '--end',
      '2024-01-03T00:00:00Z',
      '--json',
    );
    expect(err).toBe('');
    const { job_id } = JSON.parse(submitted).job;
    const { out } = await touchstone('logs', job_id);
    expect(out).toMatch(
      / submitted: talker, 1h, sim\n.*collection completed.*\n.* started: attempt 1, .*\n.* completed, after /,
    );
    expect(out).toMatch(/Output of its tasks:\n( +20\S+Z loaded the talker\\u\{1b\}\[2J\n)+Source: /);
    expect(JSON.parse((await touchstone('logs', job_id, '--json')).out).output[0]).toContain(
      'loaded the talker',
    );
  });

  it('logs prints the life of a hyperopt job and of a collection, and what the trials printed', async () => {
    const range = ['--start', '2024-01-01T00:00:00Z', '--end', '2024-01-11T00:00:00Z', '--timeframe', '1h'];
    const started = await touchstone(
      'hyperopt',
      'start',
      'talker',
      '--models',
      'none',
      '--trials',
      '2',
      '--watch',
      ...range,
    );
    const [id] = /ho-\w+/.exec(started.out)!;
    const { out } = await touchstone('logs', id);
    expect(out).toMatch(/ submitted: talker, 1h, sim, 2 trials\n/);
    expect(out).toMatch(
      / started\n.* failed: All 2 trials failed.*; 0 complete, 0 pruned, 2 failed trials\n/,
    );
    expect(out).toMatch(/Output of its tasks:\n(?:.*\n)*? +20\S+Z .*loaded the talker/);
    const collected = await touchstone('collect', 'SOL/USDT:USDT', ...range, '--json');
    const { collection_id } = JSON.parse(collected.out.trim().split('\n').at(-1)!);
    const life = await touchstone('logs', collection_id);
    expect(life.out).toMatch(/ submitted: SOL\/USDT:USDT, 1h, sim\n.* completed, \d+ new candles\n/);
    const { events, output } = JSON.parse((await touchstone('logs', collection_id, '--json')).out);
    expect([events.length, output]).toEqual([2, null]);
  });

  it('show, cancel and logs explain IDs that they cannot serve', async () => {
    for (const [args, text] of [
      [['show', 'my_model'], /my_model is not the ID of a job/],
      [['logs', 'ch-1'], /touchstone challenge status ch-1/],
      [['cancel', 'ch-1'], /touchstone challenge rollback ch-1/],
    ] as const) {
      const { code, err } = await touchstone(...args);
      expect(code).toBe(2);
      expect(err).toMatch(text);
    }
    expect((await touchstone('cancel', job.job_id)).err).toMatch(/RES005: The backtest is already completed/);
  });
});

describe('a request that is not followed', () => {
  it('backtest prints the warnings of its submission with --no-wait', async () => {
    const { code, out } = await touchstone(
      'backtest',
      'ema_crossover',
      '--offline',
      '--no-wait',
      '--timeframe',
      '1h',
      '--last-stake-min',
      '0.3',
      '--start',
      '2024-01-02T00:00:00Z',
      '--end',
      '2024-01-04T00:00:00Z',
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Submitted bt-\w+\nWarning: config\.last_stake_amount_min_ratio has no effect without config\.amend/,
    );
  });

  it('backtest names the format of a symbol in spot, which is the begin of the one in futures', async () => {
    const { code, err } = await touchstone(
      'backtest',
      'ema_crossover',
      '--trading-mode',
      'spot',
      '--pairs',
      'BTC/USDT:USDT',
    );
    expect(code).toBe(1);
    expect(err).toContain('With --trading-mode spot the format is BASE/QUOTE\n');
    expect(err).toContain('\nvalue: BTC/USDT:USDT\nexample: BTC/USDT\n');
  });
});
