import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { at, BASE, exchangeFixture, RANGE } from './exchange-fixture.ts';

const HOUR = 3_600_000;
const fixture = exchangeFixture(['GAPS', 'EXACT', 'AHEAD']);
const { run, report, requests, instruments } = fixture;

describe('corrupt candle file', () => {
  const pathOf = (file: string) =>
    join(
      fixture.platform.info.storage.OBJECTS_DIRECTORY!,
      fixture.platform.info.storage.CANDLES_BUCKET,
      file,
    );
  function damage(file: string): void {
    const body = readFileSync(pathOf(file));
    body[100]! ^= 1;
    writeFileSync(pathOf(file), body);
  }

  const march = 'candles/exchange=binanceusdm/symbol=SOL_USDT_USDT/timeframe=1h/2026-03.parquet';
  it.each([
    [march, 'corrupt', damage],
    [march, 'missing', (file: string) => rmSync(pathOf(file))],
    ['funding/exchange=binanceusdm/symbol=SOL_USDT_USDT/2026-04.parquet', 'corrupt', damage],
  ])(
    '%s is %s: the run fails with its name, and the next run collects it again',
    async (file, problem, harm) => {
      const sound = await run('SOL');
      const bytes = readFileSync(pathOf(file));
      harm(file);
      const failed = await run('SOL');
      expect(failed).toMatchObject({ status: 'failed', error_code: 'DATA005', attempt: 1 });
      expect(failed.error).toContain(`${file} is ${problem}`);
      const repaired = await run('SOL');
      expect(repaired).toMatchObject({ status: 'completed', result: sound.result });
      const named = problem === 'corrupt' ? `corrupt files: ${file}` : /^\d+ candles stored$/;
      expect(repaired.collection.message).toMatch(named);
      // Funding rates are collected for the whole month, not only for the run's range.
      expect(readFileSync(pathOf(file)).equals(bytes)).toBe(file === march);
      expect((await report(repaired)).provenance).toEqual((await report(sound)).provenance);
      expect((await run('SOL')).collection).toBeNull();
    },
  );
});

describe('instruments', () => {
  const byDefault = { precision: undefined };

  it('instruments are collected with the candles and apply to later runs', async () => {
    const first = await run('EXACT', byDefault);
    expect(first).toMatchObject({ status: 'completed', config: { precision: 'none' } });
    expect(first.collection.message).toBe('1330 candles stored');
    const { provenance, biases, settings } = await report(first);
    expect(settings.precision).toBe('none');
    expect(provenance).not.toHaveProperty('instruments_digest');
    expect(biases.map(({ text }: any) => text)).toContainEqual(expect.stringContaining('Precision: none'));
    expect((await instruments()).find(({ symbol }) => symbol.startsWith('EXACT'))).toEqual({
      symbol: 'EXACT/USDT:USDT',
      amount_step: 0.001,
      min_amount: 0.001,
      max_amount: 1000,
      min_cost: 100,
      max_cost: null,
      contract_size: 1,
      price_tick: 0.1,
      collected_at: expect.stringMatching(/Z$/),
    });
    requests();
    const second = await run('EXACT', byDefault);
    expect(requests()).toBe(0);
    expect(second).toMatchObject({ status: 'completed', config: { precision: 'exchange' } });
    const exact = await report(second);
    expect(exact.settings.precision).toBe('exchange');
    const instrument =
      '{"amountStep":0.001,"contractSize":1,"maxAmount":1000,"maxCost":null,"minAmount":0.001,"minCost":100,"priceTick":0.1}';
    const digested = `[{"instrument":${instrument},"pair":"EXACT/USDT:USDT"}]`;
    expect(exact.provenance).toMatchObject({
      instruments_digest: createHash('sha256').update(digested).digest('hex'),
      data_digest: provenance.data_digest,
    });
    expect(exact.biases.map(({ text }: any) => text)).toContainEqual(
      expect.stringContaining("the exchange's present amount steps"),
    );
    // The stored precision is unchanged by later instruments.
    expect((await fixture.platform.get(`${BASE}/${first.job_id}`)).body.config.precision).toBe('none');
  });

  it('touchstone collect stores and prints instruments for the first run', async () => {
    const touchstone = (...args: string[]) => runScript(fixture.platform.home, 'bin/touchstone.ts', args);
    const collect = (...args: string[]) => touchstone('collect', ...args, '--timeframe', '1h');
    const range = ['--start', '2026-02-01', '--end', RANGE.end];
    const collected = await collect('AHEAD/USDT:USDT', ...range);
    expect(collected).toMatchObject({ code: 0, err: '' });
    // 28 days of February, 31 of March, 14 of April.
    expect(collected.out).toContain(`${(73 * 24).toLocaleString('en-US')} candles stored: binanceusdm, 1h`);
    expect(collected.out).toMatch(
      /AHEAD\/USDT:USDT │ +0\.001 │ 0\.001 to 1000 │ from 100 │ +1 │ +0\.1 │ 20\d\d-/,
    );
    const job = await run('AHEAD', { precision: 'exchange' });
    expect(job).toMatchObject({ status: 'completed', collection: null, config: { precision: 'exchange' } });
    const unlisted = await collect('UNLISTED/USDT:USDT', ...range);
    expect(unlisted).toMatchObject({ code: 1, err: expect.stringContaining(' failed: 1 of 1 series') });
    expect(unlisted.out).toContain('No instrument stored for UNLISTED/USDT:USDT');
    const listed = await touchstone('collections', 'list', '--status', 'completed');
    expect(listed.out).toMatch(/ completed │ +100 % │ +1,752 │ binanceusdm │ 1h +│ AHEAD/);
    expect(listed.out).not.toContain('UNLISTED');
    const failed = JSON.parse((await touchstone('collections', 'list', '--limit', '1', '--json')).out);
    expect(failed.items).toMatchObject([{ status: 'failed', symbols: ['UNLISTED/USDT:USDT'] }]);
    const cancelled = await touchstone('collections', 'cancel', failed.items[0].collection_id);
    expect(cancelled).toMatchObject({ code: 1, err: expect.stringContaining('is already failed') });
  });
});

describe('check for sufficient candles', () => {
  it('run with too many gaps fails with DATA002', async () => {
    // Three days of 45 and some startup candles: 6 %.
    const gap = Array.from({ length: 72 }, (_, i) => at('2026-03-10') + i * HOUR);
    for (const time of gap) fixture.server.missing.add(time);
    const job = await run('GAPS').finally(() => fixture.server.missing.clear());
    expect(job).toMatchObject({ status: 'failed', error_code: 'DATA002' });
    expect(job.error).toContain('more than 5 %');
    // The next run first fetches candles that the exchange has by then.
    expect(await run('GAPS')).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
  });
});
