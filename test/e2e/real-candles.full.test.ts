import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFiles } from '#adapters/import/find.ts';
import { FileReader } from '#adapters/import/formats/file-reader.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Every strategy over real perpetuals, over HTTP. The candles are not part of the project. */

const DATA = join(import.meta.dirname, '../../../shared/data');
/** Not the name of an exchange: the test makes no network requests. */
const RECORDED = 'recorded';
const PAIRS = ['BTC', 'ETH', 'BNB', 'SOL'];
const present = PAIRS.every((base) => existsSync(join(DATA, `candles/${base}_USDT_USDT-5m.csv.gz`)));
if (!present) console.warn(`Skipped: no real candles in ${DATA}`);

describe.skipIf(!present)('real candles', () => {
  let platform: TestPlatform;
  let names: string[];
  beforeAll(async () => {
    platform = await startTestPlatform({ exchange: RECORDED });
    const { candles } = openMarketStores(platform.info.storage);
    const reader = new FileReader();
    for (const base of PAIRS) {
      for (const file of [
        `candles/${base}_USDT_USDT-5m`,
        `futures-funding/${base}_USDT_USDT-8h-funding_rate`,
      ]) {
        const [result] = await importFiles(await findFiles(join(DATA, `${file}.csv.gz`)), {
          store: candles,
          reader,
          clock: Date,
          exchange: RECORDED,
        });
        expect(result).toMatchObject({ outcome: 'imported' });
      }
    }
    reader.close();
    names = (await platform.get('/api/v1/strategies')).body.items.map((item: any) => item.strategy);
  });
  afterAll(() => platform.stop());

  it('every strategy trades real candles, and every report adds up', async () => {
    const pairs = PAIRS.map((base) => `${base}/USDT:USDT`);
    const end = '2025-04-05T00:00:00Z';
    const date_range = { start: '2025-03-08T00:00:00Z', end };
    // The candles cover 30 days, and training takes the first of them.
    const learning = {
      date_range: { start: '2025-03-15T00:00:00Z', end },
      ml_engine: { train_period_days: 7, backtest_period_days: 7 },
    };
    expect(names.length).toBeGreaterThanOrEqual(7);
    const jobs = await Promise.all(
      names.map((strategy) =>
        platform.run({
          strategy,
          pairs,
          timeframe: '5m',
          date_range,
          ...(strategy === 'ml_classifier' && learning),
        }),
      ),
    );
    for (const job of jobs) {
      expect(job, job.config.strategy).toMatchObject({ status: 'completed', error: null });
      const { body: report } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
      const trades: any[] = [];
      for (let page = 1; page <= report.trades.pages; page++) {
        trades.push(
          ...(await platform.get(`/api/v1/backtests/${job.job_id}/report-data?page=${page}`)).body.trades
            .items,
        );
      }
      expect(trades).toHaveLength(job.result.total_trades);
      expect(trades.length, job.config.strategy).toBeGreaterThan(0);
      expect(trades.reduce((sum, trade) => sum + trade.profit, 0)).toBeCloseTo(job.result.total_profit, 6);
      const { body: equity } = await platform.get(`/api/v1/backtests/${job.job_id}/equity`);
      // A strategy with a longer startup begins later, and the report states when.
      expect(equity.dates[0]).toBe(report.settings.first_candle.slice(0, 10));
      expect(equity.dates.at(-1)).toBe('2025-04-04');
      expect(equity.equity.at(-1)).toBeCloseTo(1000 + job.result.total_profit, 6);
    }
  }, 120_000);

  it('positions pay and receive funding', async () => {
    const job = await platform.run({
      strategy: 'buy_and_hold',
      pairs: ['BTC/USDT:USDT'],
      timeframe: '5m',
      date_range: { start: '2025-03-08T00:00:00Z', end: '2025-04-05T00:00:00Z' },
    });
    const { body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(body.trades.items).toHaveLength(1);
    expect(body.trades.items[0].funding).not.toBe(0);
    expect(body.costs.funding.amount).toBeCloseTo(-body.trades.items[0].funding, 9);
  });
});
