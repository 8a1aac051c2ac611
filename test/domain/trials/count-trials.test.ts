import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import { sha256 } from '#adapters/sha256.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import type { ClaimedJob } from '#domain/ports.ts';
import { countBacktest, countStudy, trialRunOf } from '#domain/trials/count-trials.ts';
import { MAX_KEPT_TRIALS } from '#domain/trials/owner-trials.ts';
import { dailyReturns } from '#engine/metrics/equity-curve.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { pendingJob } from '../../support/jobs.ts';

const engine = fileEngine();

let owners = 0;
const newOwner = () => `owner-${owners++}`;

type Changes = Partial<ClaimedJob['config']> & {
  owner?: string;
  session?: string;
  kind?: ClaimedJob['kind'];
};

function jobOf({ owner, session, kind = 'backtest', ...config }: Changes): ClaimedJob {
  const job = pendingJob('bt-1', { kind, ...(owner && { owner }), ...(session && { session }) });
  return { ...job, config: { ...job.config, ...config }, started_at: job.created_at };
}

/** Daily equity from a wallet of 1000: `slope` a day, and a pattern of 13 days. */
const equityOf = (slope: number, waves: number, days = 40) =>
  Array.from({ length: days }, (_, index) => {
    const day = index + 1;
    return 1000 + slope * day + waves * ((7 * day * day) % 13);
  });

// Their Sharpe ratios per day, and the values below that follow from them, were computed with Python's statistics.NormalDist from the
// formulas of the docstrings in src/engine/stats/sharpe-ratio.ts.
const A = equityOf(5, 2);
const B = equityOf(2, 3);
const C = equityOf(-1, 4);
const FLAT = A.map(() => 1000);
/** The results of run `index`: no two are equal. */
const other = (index: number) => equityOf(1 + index / 64, 5);

const depsOn = (client = engine.client) => ({
  ownerTrials: new DynamoOwnerTrials(client, engine.tables.jobs),
  digest: sha256,
});

async function count(
  changes: Changes,
  equity: readonly number[],
  client?: DynamoDBDocumentClient,
): Promise<TrialRecord> {
  const record = await countBacktest(depsOn(client), jobOf(changes), equity);
  expect(record).toBeDefined();
  return record!;
}

async function countSearch(
  owner: string,
  equities: readonly (readonly number[])[],
  unknown: readonly string[] = [],
  session: string | null = null,
) {
  const { config: base } = jobOf({});
  const returns = equities.map((equity) => dailyReturns(1000, Float64Array.from(equity)));
  await countStudy(depsOn(), { owner, session, base, unknown: unknown.map(sha256) }, returns);
}

const numbers = ({ owner, strategy, session }: TrialRecord) => ({ owner, strategy, session });

async function itemsOf(owner: string): Promise<Record<string, any>[]> {
  const { Items = [] } = await engine.client.send(
    new QueryCommand({
      TableName: engine.tables.jobs,
      KeyConditionExpression: 'job_id = :partition',
      ExpressionAttributeValues: { ':partition': `#trials#${owner}` },
    }),
  );
  return Items;
}

async function store(owner: string, items: readonly Record<string, unknown>[]): Promise<void> {
  const all = items.map((item) => ({ PutRequest: { Item: { job_id: `#trials#${owner}`, ...item } } }));
  for (let from = 0; from < all.length; from += 25) {
    const RequestItems = { [engine.tables.jobs]: all.slice(from, from + 25) };
    await engine.client.send(new BatchWriteCommand({ RequestItems }));
  }
}

describe('deflation by the trials of an owner', () => {
  it('a single trial is deflated to its probabilistic Sharpe ratio', async () => {
    const record = await count({ owner: newOwner() }, B);
    expect(record).toEqual({
      owner: 1,
      strategy: 1,
      session: null,
      sharpe_ratio_daily: expect.closeTo(0.169324125562, 11),
      probabilistic_sharpe_ratio: expect.closeTo(0.85394452976, 11),
      expected_max_sharpe_daily: 0,
      deflated_sharpe_ratio: record.probabilistic_sharpe_ratio,
      strategy_deflated_sharpe_ratio: record.probabilistic_sharpe_ratio,
      session_deflated_sharpe_ratio: null,
      lowest: {
        scope: 'owner',
        trials: 1,
        sharpe_variance_daily: 0,
        expected_max_sharpe_daily: 0,
        deflated_sharpe_ratio: record.probabilistic_sharpe_ratio,
        reason: null,
      },
      returns: {
        count: 40,
        digest: expect.stringMatching(/^[0-9a-f]{12}$/),
        skewness: expect.closeTo(0.004403259678, 11),
        kurtosis: expect.closeTo(2.14599636952, 11),
      },
    });
  });

  it('later trials are deflated by number and variance of all trials so far', async () => {
    const owner = newOwner();
    await count({ owner }, A);
    expect(await count({ owner }, B)).toMatchObject({
      owner: 2,
      probabilistic_sharpe_ratio: expect.closeTo(0.85394452976, 11),
      // The sample variance 0.0605 is above that of ratios without skill.
      lowest: { sharpe_variance_daily: expect.closeTo(1 / 39, 11) },
      expected_max_sharpe_daily: expect.closeTo(0.08322746371, 11),
      deflated_sharpe_ratio: expect.closeTo(0.703909043692, 11),
    });
    expect(await count({ owner }, C)).toMatchObject({
      owner: 3,
      expected_max_sharpe_daily: expect.closeTo(0.136558009525, 11),
      deflated_sharpe_ratio: expect.closeTo(0.189495725267, 11),
    });
  });

  it('run without trades counts once and has no Sharpe ratio', async () => {
    const owner = newOwner();
    expect(await count({ owner }, FLAT)).toMatchObject({
      owner: 1,
      sharpe_ratio_daily: null,
      probabilistic_sharpe_ratio: null,
      deflated_sharpe_ratio: null,
      lowest: { reason: 'the daily returns do not vary' },
    });
    // One known ratio of two trials has no variance.
    expect(await count({ owner }, A)).toMatchObject({
      owner: 2,
      expected_max_sharpe_daily: null,
      deflated_sharpe_ratio: null,
      probabilistic_sharpe_ratio: expect.closeTo(0.999125407426, 11),
      lowest: { reason: 'fewer than two of the 2 trials have a Sharpe ratio' },
    });
    // Another one, of other days and pairs.
    const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
    expect((await count({ owner, strategy: 'supertrend', pairs }, FLAT.slice(9))).owner).toBe(2);
    expect(await count({ owner }, B)).toMatchObject({
      owner: 3,
      deflated_sharpe_ratio: expect.closeTo(0.580770290804, 11),
    });
  });

  it('two days with trades give no probability', async () => {
    expect(await count({ owner: newOwner() }, [1010, 1021])).toMatchObject({
      owner: 1,
      sharpe_ratio_daily: expect.any(Number),
      probabilistic_sharpe_ratio: null,
      expected_max_sharpe_daily: null,
      deflated_sharpe_ratio: null,
      lowest: { reason: 'the run has 2 daily returns, and at least 30 are needed' },
    });
  });

  it('all trials of a hyperopt job count, pruned ones included, and equal ones once', async () => {
    const owner = newOwner();
    const study = () => countSearch(owner, [A, B, A, FLAT, FLAT.slice(1)], ['pruned', 'pruned'], 'monday');
    await study();
    await study();
    // A, B, one without trades and one pruned.
    const record = await count({ owner, session: 'monday' }, C);
    expect(numbers(record)).toEqual({ owner: 5, strategy: 5, session: 5 });
    expect(record.session_deflated_sharpe_ratio).toBe(record.deflated_sharpe_ratio);
    expect(record.lowest!.sharpe_variance_daily).toBeCloseTo(1 / 39, 11);
    // The backtest of a trial is that trial.
    expect(numbers(await count({ owner, session: 'monday' }, A))).toEqual(numbers(record));
  });
});

describe('trials that count', () => {
  it('simulated and real candles are apart', async () => {
    const owner = newOwner();
    const real = { owner, exchange: 'binanceusdm' };
    await count(real, A);
    const before = await count(real, B);
    for (let index = 0; index < 5; index++) await count({ owner, exchange: 'sim' }, other(index));
    expect(await count(real, B)).toEqual(before);
    // Another real exchange shows the same market.
    expect((await count({ owner, exchange: 'bybit' }, C)).owner).toBe(3);
    expect((await count({ owner, exchange: 'sim' }, A)).owner).toBe(6);
  });

  it('a base asset is shared, whatever it is traded against', async () => {
    const owner = newOwner();
    await count({ owner, pairs: ['BTC/USDT:USDT'] }, A);
    await count({ owner, pairs: ['ETH/USDT'] }, B);
    const trials = async (...pairs: string[]) => (await count({ owner, pairs }, C)).owner;
    expect(await trials('BTC/USDC')).toBe(2);
    expect(await trials('SOL/USDT', 'BTC/EUR', 'ETH/USDT:USDT')).toBe(3);
    expect(await trials('SOL/USDT:USDT')).toBe(1);
  });

  it('ranges count as they were requested, to the millisecond', async () => {
    const owner = newOwner();
    const range = (start: string, end: string) => ({ date_range: { start, end } });
    await count({ owner, ...range('2024-01-01T00:00:00.000Z', '2024-01-06T00:00:00.000Z') }, A);
    const long = equityOf(2, 3, 100);
    const run = range('2024-01-01T00:00:00.000Z', '2024-04-10T00:00:00.000Z');
    expect((await count({ owner, ...run }, long)).owner).toBe(2);
    const longer = range('2024-01-01T00:00:00.000Z', '2024-04-10T00:00:00.020Z');
    expect((await count({ owner: newOwner(), ...longer }, long)).owner).toBe(1);
    const other = newOwner();
    await count({ owner: other, ...range('2024-01-01T00:00:00.000Z', '2024-01-05T23:59:59.999Z') }, A);
    expect((await count({ owner: other, ...run }, long)).owner).toBe(1);
  });

  it('numbers of owner, strategy and session differ by what they count', async () => {
    const [owner, stranger] = [newOwner(), newOwner()];
    await count({ owner }, other(1));
    await count({ owner: stranger, session: 's' }, other(2));
    expect(numbers(await count({ owner, session: 's' }, other(3)))).toEqual({
      owner: 2,
      strategy: 2,
      session: 1,
    });
    const supertrend = { owner, session: 's', strategy: 'supertrend' };
    expect(numbers(await count(supertrend, other(4)))).toEqual({ owner: 3, strategy: 1, session: 2 });
    expect(numbers(await count({ owner, session: 't' }, other(5)))).toEqual({
      owner: 4,
      strategy: 3,
      session: 1,
    });
  });

  it('equal daily returns count once per owner and session', async () => {
    const owner = newOwner();
    for (const index of [1, 2, 1, 3, 1, 2]) await count({ owner }, other(index));
    expect((await count({ owner }, other(3))).owner).toBe(3);
    const repeated = { owner: 3, strategy: 3, session: 1 };
    expect(numbers(await count({ owner, session: 's' }, other(1)))).toEqual(repeated);
    expect(numbers(await count({ owner, session: 's' }, other(1)))).toEqual(repeated);
    // A copy of the strategy under another name.
    expect(numbers(await count({ owner, strategy: 'copy' }, other(1)))).toEqual({
      owner: 3,
      strategy: 1,
      session: null,
    });
  });

  it.each(['validation', 'canary'] as const)('%s does not count', async (kind) => {
    const owner = newOwner();
    expect(await countBacktest(depsOn(), jobOf({ owner, kind, session: 's' }), A)).toBeUndefined();
    expect(await itemsOf(owner)).toEqual([]);
  });
});

describe('concurrency and crashes', () => {
  it('concurrent runs count exactly once each, however often they repeat', async () => {
    const owner = newOwner();
    const runs = Array.from({ length: 90 }, (_, index) => other(index % 30));
    const records = await Promise.all(runs.map((equity) => count({ owner, session: 's' }, equity)));
    expect(Math.max(...records.map((record) => record.owner))).toBe(30);
    expect(numbers(await count({ owner, session: 's' }, other(7)))).toEqual({
      owner: 30,
      strategy: 30,
      session: 30,
    });
  });

  it('a trial is one write, a repetition none, and a crash around any write counts once', async () => {
    const runs = Array.from({ length: 18 }, (_, index) => other(index));
    for (const dying of [1, 16, 17, 18]) {
      for (const isBefore of [true, false]) {
        const owner = newOwner();
        let writes = 0;
        const client = clientThat(async (send) => {
          if (++writes === dying && isBefore) throw new Error('died');
          const result = await send();
          if (writes === dying) throw new Error('died');
          return result;
        });
        for (const run of runs) await count({ owner }, run, client).catch(() => count({ owner }, run));
        expect(writes).toBe(runs.length);
        for (const run of runs) expect((await count({ owner }, run, client)).owner).toBe(runs.length);
        expect(writes).toBe(runs.length);
      }
    }
  });

  /** A client whose writes are made by `write`. */
  function clientThat(write: (send: () => Promise<unknown>) => Promise<unknown>): DynamoDBDocumentClient {
    const send = (command: unknown) => {
      const sent = () => engine.client.send(command as PutCommand);
      return command instanceof PutCommand || command instanceof UpdateCommand ? write(sent) : sent();
    };
    return new Proxy(engine.client, {
      get: (target, name) => (name === 'send' ? send : Reflect.get(target, name)),
    });
  }
});

describe('bounds', () => {
  it('an item that runs share stays below 1 KB', async () => {
    const owner = newOwner();
    for (let index = 0; index < 40; index++) await count({ owner, session: 'monday' }, other(index));
    const items = await itemsOf(owner);
    expect(items.map(({ entries }) => entries.size)).toEqual([16, 16, 8]);
    for (const { entries, ...rest } of items) {
      expect(JSON.stringify([rest, [...entries].join('')]).length).toBeLessThan(1_000);
    }
  });

  it('trials of a hyperopt job that runs count by their number, and each by itself once it has ended', async () => {
    const owner = newOwner();
    const { ownerTrials } = depsOn();
    const run = trialRunOf(jobOf({}).config, null);
    await ownerTrials.countRunning(owner, run, 'ho-1', 50);
    // Of two workers one is behind.
    await ownerTrials.countRunning(owner, run, 'ho-1', 40);
    await ownerTrials.countRunning(owner, run, 'ho-2', 7);
    expect((await count({ owner }, A)).owner).toBe(58);
    expect((await count({ owner, pairs: ['SOL/USDT'] }, A)).owner).toBe(1);
    await countSearch(owner, [B, C]);
    for (const id of ['ho-1', 'ho-2']) await ownerTrials.endRunning(owner, run, id);
    // A worker that has not noticed the end.
    await ownerTrials.countRunning(owner, run, 'ho-1', 60);
    expect((await count({ owner }, other(1))).owner).toBe(4);
  });

  it('a hyperopt job of many trials is one sum, and beyond the maximum runs are added to one', async () => {
    const owner = newOwner();
    const many = (from: number, trials: number) =>
      Array.from({ length: trials }, (_, index) => `${from + index}`);
    await countSearch(owner, [A, B], many(0, MAX_KEPT_TRIALS / 2 - 2));
    await countSearch(owner, [A, C], many(MAX_KEPT_TRIALS, MAX_KEPT_TRIALS / 2));
    await countSearch(owner, [A, C], many(MAX_KEPT_TRIALS, MAX_KEPT_TRIALS / 2));
    // A is in both, and known from the first.
    const all = MAX_KEPT_TRIALS + 1;
    expect((await itemsOf(owner)).map(({ trials }) => trials)).toContain(MAX_KEPT_TRIALS / 2 + 1);
    const run = await count({ owner, session: 's' }, other(0));
    expect(numbers(run)).toEqual({ owner: all + 1, strategy: all + 1, session: 1 });
    expect(run.lowest!.sharpe_variance_daily).toBeCloseTo(1 / 39, 11);

    const full = newOwner();
    const entries = many(0, MAX_KEPT_TRIALS / 2);
    await countSearch(full, [], entries);
    const [kept] = await itemsOf(full);
    await store(full, [
      { ...kept, item: 'GROUP2#other#000000', assets: 'SOL' },
      { ...kept, item: 'GROUP2#other#000001', assets: 'ADA' },
    ]);
    const half = MAX_KEPT_TRIALS / 2;
    expect((await count({ owner: full }, A)).owner).toBe(half + 1);
    // It counts against every later run of simulated candles, and against none of real ones.
    expect((await count({ owner: full, pairs: ['ETH/USDT'] }, B)).owner).toBe(2);
    expect((await count({ owner: full, exchange: 'bybit' }, C)).owner).toBe(1);
    expect((await count({ owner: full, exchange: 'bybit' }, B)).owner).toBe(2);
    expect((await count({ owner: full }, C)).owner).toBe(half + 3);
    const sums = (await itemsOf(full)).filter(({ item }) => item.startsWith('GROUP2#FURTHER#'));
    expect(sums.map(({ item, trials }) => [item, trials])).toEqual([
      ['GROUP2#FURTHER#real', 2],
      ['GROUP2#FURTHER#simulated', 3],
    ]);
  });
});

describe('trials that an earlier version counted', () => {
  const group = {
    schema_version: 1,
    item: `GROUP#${'0'.repeat(32)}`,
    strategy: 'ema_crossover',
    pairs: 'BTC/USDT:USDT ETH/USDT:USDT',
    candles: { start: Date.UTC(2025, 0, 1), end: Date.UTC(2025, 1, 1) },
    trials: 3,
    epoch: 1,
    sharpe_count: 2,
    sharpe_sum: 0.3,
    sharpe_squares: 0.05,
    recent: new Set(['a', 'b']),
  };

  it('count against simulated and real runs that overlap, as it is unknown which they were', async () => {
    const owner = newOwner();
    await store(owner, [group]);
    expect(numbers(await count({ owner, session: 's' }, A))).toEqual({ owner: 4, strategy: 4, session: 1 });
    const real = await count({ owner, exchange: 'binanceusdm', strategy: 'x' }, B);
    expect(numbers(real)).toEqual({ owner: 4, strategy: 1, session: null });
    // Ratios 0.1, 0.2 and that of B: variance 0.00262447.
    expect(real.lowest!.sharpe_variance_daily).toBeCloseTo(0.00262447394, 9);
    expect((await count({ owner, pairs: ['SOL/USDT'] }, C)).owner).toBe(1);
    const date_range = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
    expect((await count({ owner, date_range }, C)).owner).toBe(1);
  });

  it('those beyond the maximum of groups count against every run', async () => {
    const owner = newOwner();
    const { strategy: _, pairs: __, candles: ___, ...further } = group;
    await store(owner, [{ ...further, item: 'GROUP#FURTHER' }]);
    expect((await count({ owner, pairs: ['SOL/USDT'], strategy: 'x' }, A)).strategy).toBe(4);
  });
});
