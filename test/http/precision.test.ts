import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { type AccessFixture, accessFixture } from '../support/access-fixture.ts';

/** Precision that a submission uses and stores. */

const BTC = 'BTC/USDT:USDT';
const ETH = 'ETH/USDT:USDT';
const RECORD: InstrumentRecord = {
  amount_step: 0.001,
  min_amount: 0.001,
  max_amount: null,
  min_cost: 100,
  max_cost: null,
  contract_size: 1,
  price_tick: 0.1,
  collected_at: '2026-05-01T00:00:00.000Z',
};

let fixture: AccessFixture;
beforeAll(async () => {
  fixture = await accessFixture();
});
afterAll(() => fixture?.stop());

/** Exchange with stored instruments of the pairs. */
let exchanges = 0;
async function exchangeWith(...pairs: string[]): Promise<string> {
  const exchange = `market${exchanges++}`;
  for (const pair of pairs) await fixture.instruments.record(exchange, pair, RECORD);
  return exchange;
}

const submit = (config: object, more: object = {}) =>
  fixture.development.post('/api/v1/backtests', {
    config: { strategy: 'ema_crossover', pairs: [BTC, ETH], ...config },
    ...more,
  });
/** The job of an accepted submission. */
async function jobOf(config: object, more: object = {}) {
  const { status, body } = await submit(config, more);
  expect(status, JSON.stringify(body)).toBe(201);
  return (await fixture.development.get(`/api/v1/backtests/${body.job_id}`)).body;
}

describe('precision of a submission', () => {
  it.each([
    ['all pairs', [BTC, ETH], 'exchange'],
    ['some pairs', [BTC], 'none'],
    ['no pair', [], 'none'],
  ])('default precision depends on the stored instruments of %s', async (_, pairs, precision) => {
    const job = await jobOf({ exchange: await exchangeWith(...pairs) });
    expect(job.config.precision).toBe(precision);
    expect(job.warnings).toEqual([]);
    // Instruments collected later do not change the stored precision.
    await fixture.instruments.record(job.config.exchange, ETH, RECORD);
    const again = (await fixture.development.get(`/api/v1/backtests/${job.job_id}`)).body;
    expect(again.config.precision).toBe(precision);
  });

  it('precision none applies when instruments are stored', async () => {
    const job = await jobOf({ exchange: await exchangeWith(BTC, ETH), precision: 'none' });
    expect(job.config.precision).toBe('none');
  });

  it('precision exchange is rejected with the pairs when an instrument is missing', async () => {
    const exchange = await exchangeWith(BTC);
    const rejected = await submit({ exchange, precision: 'exchange', pairs: [BTC, ETH, 'SOL/USDT:USDT'] });
    expect(rejected).toMatchObject({
      status: 400,
      code: 'VAL005',
      body: {
        detail: {
          field: 'config.precision',
          context: { exchange, missing: [ETH, 'SOL/USDT:USDT'] },
        },
      },
    });
    const { message } = rejected.body.detail;
    expect(message).toContain(`the instruments of ${ETH}, SOL/USDT:USDT on ${exchange}`);
    expect(message).toMatch(
      /npx --no-install touchstone collect.*POST \/api\/v1\/collections.*set config\.precision to none/,
    );
  });

  it('precision exchange on sim becomes none with a warning; the default without one', async () => {
    const asked = await jobOf({ exchange: 'sim', precision: 'exchange' });
    expect(asked.config.precision).toBe('none');
    expect(asked.warnings).toEqual([expect.stringContaining('config.precision is none: sim has no')]);
    for (const config of [{ precision: 'none' }, {}]) {
      expect(await jobOf({ exchange: 'sim', ...config })).toMatchObject({
        config: { precision: 'none' },
        warnings: [],
      });
    }
  });

  it.each(['ticks', 'EXCHANGE', ''])('rejects precision %j with the valid values', async (precision) => {
    expect(await submit({ precision })).toMatchObject({
      status: 400,
      code: 'VAL005',
      body: { detail: { field: 'config.precision', context: { allowed: ['exchange', 'none'] } } },
    });
  });

  it('rejects a number as precision', async () => {
    expect((await submit({ precision: 1 })).body.detail).toEqual([
      expect.objectContaining({ type: 'string_type', loc: ['body', 'config', 'precision'] }),
    ]);
  });
});

describe('precision of older items', () => {
  /** Removes the precision from a stored item: the shape of the previous version. */
  async function forget(at: { readonly TableName: string; readonly Key: Record<string, string> }) {
    await fixture.client.send(
      new UpdateCommand({
        ...at,
        UpdateExpression: 'REMOVE config.#precision',
        ExpressionAttributeNames: { '#precision': 'precision' },
      }),
    );
    const { Item } = await fixture.client.send(new GetCommand(at));
    expect(Item!.config).toHaveProperty('seed');
    expect(Item!.config).not.toHaveProperty('precision');
  }

  it('older job, version or run without a precision uses none', async () => {
    const exchange = await exchangeWith(BTC, ETH);
    const { config } = await jobOf({ exchange });
    expect(config.precision).toBe('exchange');
    const id = await fixture.backtest('anonymous', { config }, 'completed');
    await forget({ TableName: fixture.jobsTable, Key: { job_id: id, item: 'JOB' } });
    expect((await fixture.development.get(`/api/v1/backtests/${id}`)).body.config.precision).toBe('none');
    expect((await fixture.development.register(id)).status).toBe(201);
    const Key = { pk: 'MODEL#ema_crossover', sk: 'VERSION#000001' };
    await forget({ TableName: fixture.registryTable, Key });
    const versions = '/api/v1/models/ema_crossover/versions/1';
    expect((await fixture.development.get(versions)).body.config.precision).toBe('none');
    expect((await jobOf({}, { model_version: '1' })).config).toMatchObject({ exchange, precision: 'none' });
  });
});

describe('precision of a registered version', () => {
  let version: string;
  let exchange: string;
  beforeEach(async () => {
    exchange = await exchangeWith(BTC, ETH);
    const { config } = await jobOf({ exchange });
    const id = await fixture.backtest('anonymous', { config }, 'completed');
    version = (await fixture.development.register(id)).body.version;
  });

  it('runs of a version keep its precision unless the submission overrides it', async () => {
    const run = (config: object) => jobOf(config, { model_version: version });
    expect((await run({})).config.precision).toBe('exchange');
    expect((await run({ precision: 'none' })).config.precision).toBe('none');
    expect((await run({ exchange: 'sim' })).config.precision).toBe('none');
  });

  it('run of a version requires the instruments of its overridden pairs', async () => {
    const rejected = await submit({ pairs: [BTC, 'SOL/USDT:USDT'] }, { model_version: version });
    expect(rejected).toMatchObject({
      status: 400,
      body: { detail: { code: 'VAL005', context: { exchange, missing: ['SOL/USDT:USDT'] } } },
    });
  });
});
