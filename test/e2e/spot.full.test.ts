import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findFiles } from '#adapters/import/find.ts';
import { FileReader } from '#adapters/import/formats/file-reader.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { expectCausal } from '../../src/testing/index.ts';
import { PAIRS, SPOT, spotFixture } from './spot-fixture.ts';
import { weekOf } from './strategy-files-fixture.ts';

/** Versions, challenges, hyperopt jobs and real candles in spot. */

const IMAGE = 'registry.example/touchstone:1.0.0';
const fixture = spotFixture();

it('registered version, its repetition and its challenge keep the mode', async () => {
  const { platform } = fixture;
  const { strategy } = platform;
  const path = '/api/v1/strategies/my_rotation';
  const versions: string[] = [];
  for (const stake_amount of [100, 50]) {
    const job = await platform.run({ ...weekOf('my_rotation'), ...SPOT, stake_amount });
    const { status, body } = await strategy.post(`${path}/register`, {
      backtest_run_id: job.job_id,
      container_image_uri: IMAGE,
      skip_validation: true,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    versions.push(body.version);
  }
  const [version] = versions;
  const staged = await platform.post(`${path}/stage`, { version });
  expect(staged.status, JSON.stringify(staged.body)).toBe(200);
  const { checks } = await platform.validated('my_rotation', version!);
  const checked = (name: string) => checks.find((each: any) => each.name === name);
  expect(checked('configuration')).toMatchObject({ status: 'passed' });
  // The candles are old; a symbol of the other mode would have no age.
  expect(checked('market_data').message).toMatch(/^Candles of 2 of 2 pairs are older/);
  const again = await platform.run(
    { strategy: 'my_rotation', date_range: { start: '2026-03-02', end: '2026-03-05' } },
    { model_version: version },
  );
  expect(again, again.error).toMatchObject({ status: 'completed', config: { ...SPOT, pairs: PAIRS } });
  const mixed = await platform.post('/api/v1/backtests', {
    config: { strategy: 'my_rotation', pairs: ['BTC/USDT:USDT'] },
    model_version: version,
  });
  expect(mixed.body.detail).toMatchObject({ code: 'VAL002', context: { format: 'BASE/QUOTE' } });

  const model = (await platform.get('/api/v1/models/my_rotation/versions')).body;
  expect(model.count).toBe(2);
  const created = await strategy.post('/api/v1/models/my_rotation/challenges', {
    champion_version: versions[0],
    challenger_version: versions[1],
    enable_canary: false,
  });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const post = (trade: object) =>
    strategy.post(`/challenges/${created.body.challenge_id}/trades`, {
      trade_id: 't1',
      variant: 'champion',
      profit_pct: 1,
      ...trade,
    });
  expect((await post({ pair: 'ETH/BTC' })).body.detail).toMatchObject({ code: 'VAL002', field: 'pair' });
  const accepted = await post({ pair: 'ETH/BTC', ...SPOT });
  expect(accepted.status, JSON.stringify(accepted.body)).toBeLessThan(300);
});

it('given signals trade spot pairs, and their shorts are ignored', async () => {
  const { platform } = fixture;
  const rows = ['02T00', '03T00', '04T00'].map((time, row) => {
    const [long, exit, short] = [0, 1, 2].map((column) => Number(column === row));
    return `2026-03-${time}:00:00Z,BTC/USDT,${long},${exit},${short}`;
  });
  const file = Buffer.from(['timestamp,pair,enter_long,exit_long,enter_short', ...rows].join('\n'));
  const sha256 = createHash('sha256').update(file).digest('hex');
  const request = { format: 'csv', name: 'spot.csv', bytes: file.length, sha256 };
  const { body } = await platform.post('/api/v1/signals', request);
  await platform.request(body.upload_url, { method: 'PUT', headers: body.upload_headers, body: file });
  const job = await platform.run({
    ...weekOf('signals'),
    ...SPOT,
    signals: body.signals_id,
    pairs: ['BTC/USDT'],
    timeframe: '1h',
    stoploss: -0.99,
    minimal_roi: {},
    trailing: null,
  });
  expect(job.status, job.error).toBe('completed');
  const { items } = (await platform.get(`/api/v1/backtests/${job.job_id}/trades`)).body;
  expect(items).toMatchObject([
    { pair: 'BTC/USDT', side: 'long', opened_at: '2026-03-02T01:00:00.000Z', exit_reason: 'exit_signal' },
  ]);
  const report = (await platform.get(`/api/v1/backtests/${job.job_id}/report-data`)).body;
  expect(report.warnings).toContain('1 short signal was ignored: spot has no shorts.');
});

it('strategy with shorts and leverage is certified in spot', async () => {
  const certificate = await expectCausal(join(fixture.folder, 'my_rotation.ts'), {
    tradingMode: 'spot',
    cuts: 5,
  });
  expect(certificate).toMatchObject({ pairs: PAIRS, findings: [] });
});

it('hyperopt job runs its trials in spot', async () => {
  const { platform } = fixture;
  const { status, body } = await platform.strategy.post('/api/v1/hyperopt', {
    strategy: 'my_rotation',
    ...SPOT,
    pairs: ['BTC/USDT'],
    models: 'none',
    spaces: ['stoploss'],
    n_trials: 2,
    workers: 1,
    date_range: weekOf('my_rotation').date_range,
    objective_metric: 'total_profit_pct',
  });
  expect(status, JSON.stringify(body)).toBe(200);
  const job = await platform.until(body.job_id, 'completed', 'failed');
  expect(job, job.error).toMatchObject({ status: 'completed', ...SPOT, pairs: ['BTC/USDT'] });
  const best = await platform.run({ strategy: 'my_rotation' }, { hyperopt_job_id: body.job_id });
  expect(best).toMatchObject({ status: 'completed', config: { ...SPOT, pairs: ['BTC/USDT'] } });
});

const DATA = join(import.meta.dirname, '../../../shared/data/candles');
const REAL = ['ETH', 'LTC', 'XLM'].map((base) => join(DATA, `${base}_BTC-5m.csv.gz`));
const present = REAL.every((file) => existsSync(file));
if (!present) console.warn(`Skipped: no real candles in ${DATA}`);

it.skipIf(!present)('spot run on real candles keeps its wallet in the quote currency', async () => {
  const { platform } = fixture;
  const { candles: store } = openMarketStores(platform.info.storage);
  const reader = new FileReader();
  for (const file of REAL) {
    const options = { store, reader, clock: Date, exchange: 'recorded' };
    expect(await importFiles(await findFiles(file), options)).toMatchObject([{ outcome: 'imported' }]);
  }
  reader.close();
  const job = await platform.run({
    strategy: 'ema_crossover',
    ...SPOT,
    exchange: 'recorded',
    collect: 'never',
    timeframe: '5m',
    pairs: ['ETH/BTC', 'LTC/BTC', 'XLM/BTC'],
    date_range: { start: '2018-01-12T00:00:00Z', end: '2018-01-30T00:00:00Z' },
    stake_amount: 0.2,
    dry_run_wallet: 1,
  });
  expect(job.status, job.error).toBe('completed');
  const { items } = (await platform.get(`/api/v1/backtests/${job.job_id}/trades?limit=5000`)).body;
  expect(new Set(items.map(({ pair }: any) => pair))).toEqual(new Set(job.config.pairs));
  const cash = items.reduce(
    (sum: number, { amount, entry_price, exit_price, fees }: any) =>
      sum + amount * (exit_price - entry_price) - fees,
    0,
  );
  // The report rounds to 8 decimals.
  expect(job.result.final_balance).toBeCloseTo(1 + cash, 6);
  expect(job.result).toMatchObject({ funding: 0 });
});
