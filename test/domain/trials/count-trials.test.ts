import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import type { TrialRecord } from '#contract/backtests/trial-ledger.ts';
import type { ClaimedJob } from '#domain/ports.ts';
import { countBacktest, countStudy } from '#domain/trials/count-trials.ts';
import { MAX_TRIAL_GROUPS } from '#domain/trials/owner-trials.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { pendingJob } from '../../support/jobs.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

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

// Daily equity from a wallet of 1000. Their Sharpe ratios per day, and the values below that follow from them, were computed with
// Python's statistics.NormalDist from the formulas of the docstrings in src/engine/stats/sharpe-ratio.ts.
const A = [1010, 1005, 1020, 1030, 1025, 1040, 1060, 1050, 1070, 1090];
const B = [995, 1000, 990, 1005, 1000, 1010, 1000, 1015, 1005, 1020];
const C = [1002, 1001, 998, 1003, 1000, 996, 1001, 999, 1004, 1006];
const FLAT = A.map(() => 1000);

const trialsOn = (client = engine.client) => new DynamoOwnerTrials(client, engine.tables.jobs);

async function count(
  changes: Changes,
  digest: string,
  equity: readonly number[] = A,
  client?: DynamoDBDocumentClient,
): Promise<TrialRecord> {
  const record = await countBacktest(trialsOn(client), jobOf(changes), { digest, equity });
  expect(record).toBeDefined();
  return record!;
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

describe('deflation by the trials of an owner', () => {
  it('a single trial is deflated to its probabilistic Sharpe ratio', async () => {
    expect(await count({ owner: newOwner() }, 'a', A)).toEqual({
      owner: 1,
      strategy: 1,
      session: null,
      sharpe_ratio_daily: expect.closeTo(0.790110438189, 11),
      probabilistic_sharpe_ratio: expect.closeTo(0.968444894813, 11),
      expected_max_sharpe_daily: 0,
      deflated_sharpe_ratio: expect.closeTo(0.968444894813, 11),
      strategy_deflated_sharpe_ratio: expect.closeTo(0.968444894813, 11),
      session_deflated_sharpe_ratio: null,
    });
  });

  it('later trials are deflated by number and variance of all trials so far', async () => {
    const owner = newOwner();
    await count({ owner }, 'a', A);
    expect(await count({ owner }, 'b', B)).toMatchObject({
      owner: 2,
      sharpe_ratio_daily: expect.closeTo(0.183792487863, 11),
      probabilistic_sharpe_ratio: expect.closeTo(0.711035743083, 11),
      expected_max_sharpe_daily: expect.closeTo(0.222835506178, 11),
      deflated_sharpe_ratio: expect.closeTo(0.452955083904, 10),
    });
    expect(await count({ owner }, 'c', C)).toMatchObject({
      owner: 3,
      expected_max_sharpe_daily: expect.closeTo(0.302882352107, 11),
      deflated_sharpe_ratio: expect.closeTo(0.339869643666, 10),
    });
  });

  it('run without trades counts and has no Sharpe ratio', async () => {
    const owner = newOwner();
    expect(await count({ owner }, 'flat', FLAT)).toMatchObject({
      owner: 1,
      sharpe_ratio_daily: null,
      probabilistic_sharpe_ratio: null,
      deflated_sharpe_ratio: null,
    });
    // One known ratio of two trials has no variance.
    expect(await count({ owner }, 'a', A)).toMatchObject({
      owner: 2,
      expected_max_sharpe_daily: null,
      deflated_sharpe_ratio: null,
      probabilistic_sharpe_ratio: expect.closeTo(0.968444894813, 11),
    });
    expect(await count({ owner }, 'b', B)).toMatchObject({
      owner: 3,
      expected_max_sharpe_daily: expect.closeTo(0.365624180034, 11),
      deflated_sharpe_ratio: expect.closeTo(0.290996141463, 10),
    });
  });

  it('all trials of a hyperopt job count, pruned ones included, and their Sharpe ratios belong to the variance', async () => {
    const owner = newOwner();
    const { config: base } = jobOf({});
    const returns = [A, B].map((equity) => equity.map((each, day) => each / (equity[day - 1] ?? 1000) - 1));
    const study = { owner, session: 'monday', base, digest: 'study', trials: 3 };
    await countStudy(trialsOn(), study, returns);
    await countStudy(trialsOn(), study, returns);
    // As above: A and B known, three trials; then C is the fourth.
    const record = await count({ owner, session: 'monday' }, 'c', C);
    expect(numbers(record)).toEqual({ owner: 4, strategy: 4, session: 4 });
    expect(record.session_deflated_sharpe_ratio).toBe(record.deflated_sharpe_ratio);
    expect(record.expected_max_sharpe_daily).toBeGreaterThan(0.3);
  });
});

describe('trials that count', () => {
  it('runs count where ranges intersect and a pair is shared', async () => {
    const owner = newOwner();
    const range = (start: string, end: string) => ({ date_range: { start, end } });
    const [january, february] = [
      range('2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z'),
      range('2025-02-01T00:00:00Z', '2025-03-01T00:00:00Z'),
    ];
    const [btc, eth] = [{ pairs: ['BTC/USDT:USDT'] }, { pairs: ['ETH/USDT:USDT'] }];
    expect((await count({ owner, ...january, ...btc }, '1')).owner).toBe(1);
    // The end is exclusive.
    expect((await count({ owner, ...february, ...btc }, '2')).owner).toBe(1);
    expect((await count({ owner, ...january, ...eth }, '3')).owner).toBe(1);
    const both = { pairs: [...btc.pairs, ...eth.pairs] };
    const middle = range('2025-01-20T00:00:00Z', '2025-02-10T00:00:00Z');
    expect((await count({ owner, ...middle, ...both }, '4')).owner).toBe(4);
    expect((await count({ owner, ...january, ...eth }, '5')).owner).toBe(3);
  });

  it('numbers of owner, strategy and session differ by what they count', async () => {
    const [owner, other] = [newOwner(), newOwner()];
    await count({ owner }, '1');
    await count({ owner: other, session: 's' }, '2');
    expect(numbers(await count({ owner, session: 's' }, '3'))).toEqual({ owner: 2, strategy: 2, session: 1 });
    const supertrend = { owner, session: 's', strategy: 'supertrend' };
    expect(numbers(await count(supertrend, '4'))).toEqual({ owner: 3, strategy: 1, session: 2 });
    expect(numbers(await count({ owner, session: 't' }, '5'))).toEqual({ owner: 4, strategy: 3, session: 1 });
  });

  it('equal digests count once per owner and session', async () => {
    const owner = newOwner();
    for (const digest of ['1', '2', '1', '3', '1', '2']) await count({ owner }, digest);
    expect((await count({ owner }, '3')).owner).toBe(3);
    expect(numbers(await count({ owner, session: 's' }, '1'))).toEqual({ owner: 3, strategy: 3, session: 1 });
    expect(numbers(await count({ owner, session: 's' }, '1'))).toEqual({ owner: 3, strategy: 3, session: 1 });
  });

  it.each(['validation', 'canary'] as const)('%s does not count', async (kind) => {
    const owner = newOwner();
    const run = { digest: '1', equity: A };
    expect(await countBacktest(trialsOn(), jobOf({ owner, kind, session: 's' }), run)).toBeUndefined();
    expect(await itemsOf(owner)).toEqual([]);
  });
});

describe('concurrency and crashes', () => {
  it('concurrent runs count exactly once each, however often their digests repeat', async () => {
    const owner = newOwner();
    const digests = Array.from({ length: 60 }, (_, index) => `d${index % 20}`);
    const records = await Promise.all(digests.map((digest) => count({ owner, session: 's' }, digest)));
    expect(Math.max(...records.map((record) => record.owner))).toBe(20);
    expect(numbers(await count({ owner, session: 's' }, 'd7'))).toEqual({
      owner: 20,
      strategy: 20,
      session: 20,
    });
  });

  it('repeated count after a crash around any write counts once', async () => {
    const owner = newOwner();
    // Digests are moved out of the group after the 12th trial: 12 items and an update more.
    let writes = 0;
    const counting = clientThat(async (send) => {
      writes++;
      return send();
    });
    const trials = Array.from({ length: 14 }, (_, index) => `p${index}`);
    for (const trial of trials) await count({ owner }, trial, A, counting);
    expect(writes).toBe(14 + 13);
    for (const dying of [1, 12, 13, 20, 24, 25, 26]) {
      for (const isBefore of [true, false]) {
        const victim = newOwner();
        let at = 0;
        const client = clientThat(async (send) => {
          if (++at === dying && isBefore) throw new Error('died');
          const result = await send();
          if (at === dying) throw new Error('died');
          return result;
        });
        for (const trial of trials) {
          await count({ owner: victim }, trial, A, client).catch(() => count({ owner: victim }, trial));
        }
        for (const trial of ['p0', 'p11', 'p12']) {
          expect((await count({ owner: victim }, trial)).owner).toBe(trials.length);
        }
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
  it('a group does not grow with its trials', async () => {
    const owner = newOwner();
    for (let trial = 0; trial < 30; trial++) await count({ owner }, String(trial));
    const items = await itemsOf(owner);
    const [group, ...runs] = items.map(({ item }) => String(item).split('#')[0]);
    expect([group, new Set(runs)]).toEqual(['GROUP', new Set(['RUN'])]);
    expect(runs).toHaveLength(24);
    expect(items[0]!.recent.size).toBe(6);
  });

  it('trials beyond the maximum number of groups are in one group, which overlaps with every run', async () => {
    const owner = newOwner();
    const day = (index: number) => ({
      date_range: {
        start: new Date(Date.UTC(2000, 0, 1 + index)).toISOString(),
        end: new Date(Date.UTC(2000, 0, 2 + index)).toISOString(),
      },
    });
    const groups = Array.from({ length: MAX_TRIAL_GROUPS }, (_, index) => ({
      job_id: `#trials#${owner}`,
      item: `GROUP#${String(index).padStart(32, '0')}`,
      schema_version: 1,
      strategy: 'x',
      pairs: 'BTC/USDT:USDT',
      trials: 1,
      epoch: 0,
      candles: { start: Date.UTC(2000, 0, 1 + index), end: Date.UTC(2000, 0, 2 + index) },
      sharpe_count: 1,
      sharpe_sum: 0.1,
      sharpe_squares: 0.01,
      recent: new Set([`x${index}`]),
    }));
    for (let from = 0; from < groups.length; from += 25) {
      const puts = groups.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
      await engine.client.send(new BatchWriteCommand({ RequestItems: { [engine.tables.jobs]: puts } }));
    }
    expect((await count({ owner, ...day(5000) }, 'far')).owner).toBe(1);
    expect((await count({ owner, ...day(6000) }, 'farther')).owner).toBe(2);
    expect((await count({ owner, ...day(6000) }, 'farther')).owner).toBe(2);
    const record = await count({ owner, ...day(0) }, 'x0');
    expect(numbers(record)).toEqual({ owner: 3, strategy: 2, session: null });
    expect(await itemsOf(owner)).toHaveLength(MAX_TRIAL_GROUPS + 1);
  });
});
