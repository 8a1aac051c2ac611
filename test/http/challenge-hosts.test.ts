import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { TRADES_AT_ONCE } from '#domain/challenges/challenge-store.ts';
import { type ChallengeFixture, challengeFixture } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();

/** Another host on the same tables, without the queue of the first. */
function anotherHost(first: ChallengeFixture, client?: DynamoDBDocumentClient): Promise<RegistryFixture> {
  const tables = { jobs: first.jobsTable, registry: first.table, series: '' };
  return registryFixture(engine, { tables, deps: { clock: first.clock }, ...(client && { client }) });
}

/** Multiples of 0.25: their sums are exact in any order. */
function quarters(n: number) {
  return Array.from({ length: n }, (_, i) => ({
    trade_id: `t-${i}`,
    variant: i % 2 ? 'challenger' : 'champion',
    profit_pct: ((i * 7) % 40) / 4 - 5,
  }));
}

type Quarter = ReturnType<typeof quarters>[number];

/** Expects each trade stored once: in the log, in the counters and in the sums. */
async function expectOnce(fixture: ChallengeFixture, id: string, trades: readonly Quarter[]): Promise<void> {
  const challenge = (await fixture.deps.challenges.read(id))!;
  const { items: log } = await fixture.deps.challenges.trades(id, 1000, null);
  expect(log.map(({ trade_id }) => trade_id).sort()).toEqual(trades.map(({ trade_id }) => trade_id).sort());
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, i) => log.length - i));
  expect(challenge).toMatchObject({ trades: trades.length, late: 0, misassigned: 0 });
  for (const variant of ['champion', 'challenger'] as const) {
    const profits = trades.filter((trade) => trade.variant === variant).map(({ profit_pct }) => profit_pct);
    const [totals] = challenge.stages.map((stage) => stage[variant]);
    expect(totals).toMatchObject({
      closed: profits.length,
      open: 0,
      sum: [profits.reduce((sum, profit) => sum + profit, 0), 0],
      sum_of_squares: [profits.reduce((sum, profit) => sum + profit * profit, 0), 0],
    });
  }
  // The challenger's account, in the order of the log.
  const account = { profit: 0, peak: 0, drawdown: 0 };
  for (const { variant, profit_pct } of log.toReversed()) {
    if (variant === 'champion') continue;
    account.profit += profit_pct!;
    account.peak = Math.max(account.peak, account.profit);
    account.drawdown = Math.max(account.drawdown, account.peak - account.profit);
  }
  expect(challenge.equity).toEqual(account);
}

it('200 concurrent posts over two hosts with repeats count each trade once', async () => {
  const first = await challengeFixture(engine);
  const second = await anotherHost(first);
  const id = (await first.create({ enable_canary: false, min_trades: 1000 })).body.challenge_id;
  const trades = quarters(120);
  const bodies: object[] = [
    ...trades,
    ...trades.slice(0, 60),
    ...Array.from({ length: 20 }, (_, n) => ({ trades: trades.slice(n * 6, n * 6 + 7) })),
  ];
  /** Repeats the request while the response asks for a retry. */
  const postWithRetry = async (host: RegistryFixture, body: object) => {
    for (let tries = 0; tries < 50; tries++) {
      const { status, body: response } = await host.strategy('POST', `/challenges/${id}/trades`, body);
      if (status < 300) return response;
      expect([status, response.detail.code]).toEqual([503, 'SVC005']);
    }
    throw new Error('it never came through');
  };
  const responses = await Promise.all(
    bodies.map((body, n) => postWithRetry((n * 31) % 200 < 100 ? first : second, body)),
  );
  expect(responses).toHaveLength(200);
  await expectOnce(first, id, trades);
  // At most one response per trade is not a duplicate; that response may be lost.
  const results = responses.flatMap((response) => response.items ?? [response]);
  const fresh = results.filter(({ duplicate }) => duplicate === false).map(({ trade_id }) => trade_id);
  expect(new Set(fresh).size).toBe(fresh.length);
});

/** Number of the transaction that stores the last of 100 trades. */
const LAST = 100 / TRADES_AT_ONCE;

describe('host crash within a batch', () => {
  /** Client with writes numbered from 1. `when` makes a write fail before it is sent or after it is done. */
  function failing(when: (write: number) => 'before' | 'after' | undefined): DynamoDBDocumentClient {
    const client = createDocumentClient({ endpoint: engine.endpoint });
    let writes = 0;
    client.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName !== 'TransactWriteItemsCommand') return next(args);
        const how = when(++writes);
        if (how === 'before') throw new Error('the host is gone');
        const response = await next(args);
        if (how === 'after') throw new Error('the answer is lost');
        return response;
      },
      { step: 'initialize', name: 'failing' },
    );
    return client;
  }

  it.each([
    ['before its first transaction', 1, 'before'],
    ['after its first transaction', 1, 'after'],
    ['between two transactions', 2, 'before'],
    ['before the response of the last transaction', LAST, 'after'],
  ] as const)('repeated batch counts each trade once after a crash %s', async (_, write, how) => {
    const whole = await challengeFixture(engine);
    const id = (await whole.create({ enable_canary: false, min_trades: 1000 })).body.challenge_id;
    const client = failing((n) => (n === write ? how : undefined));
    const dying = await anotherHost(whole, client);
    const trades = quarters(100);
    const path = `/challenges/${id}/trades`;
    const response = await dying.strategy('POST', path, { trades });
    expect(response.status).toBeGreaterThanOrEqual(500);
    // The stored trades are a prefix of the batch, in complete transactions.
    const { trades: stored } = (await whole.deps.challenges.read(id))!;
    expect(stored).toBe(TRADES_AT_ONCE * (how === 'after' ? write : write - 1));
    await expectOnce(whole, id, trades.slice(0, stored));
    const again = await whole.post(id, 'trades', { trades });
    expect(again.status).toBeLessThan(300);
    expect(again.body.items.every(({ accepted }: any) => accepted)).toBe(true);
    await expectOnce(whole, id, trades);
    client.destroy();
  });

  it('verdict with a lost response is not repeated', async () => {
    const whole = await challengeFixture(engine);
    const id = (await whole.create({ enable_canary: false })).body.challenge_id;
    await whole.log(
      id,
      'champion',
      Array.from({ length: 100 }, (_, n) => (n % 9) / 4 - 1),
    );
    const last = Array.from({ length: 100 }, (_, n) => ({
      trade_id: `last-${n}`,
      variant: 'challenger',
      profit_pct: (n % 9) / 4 + 1,
    }));
    const client = failing((n) => (n === LAST ? 'after' : undefined));
    const dying = await anotherHost(whole, client);
    const path = `/challenges/${id}/trades`;
    expect((await dying.strategy('POST', path, { trades: last })).status).toBeGreaterThanOrEqual(500);
    const before = [(await whole.read(id)).body, (await whole.read(id, '/events')).body];
    expect(before[0]).toMatchObject({ status: 'completed', outcome: 'challenger_wins', late_trades: 0 });
    const again = await whole.post(id, 'trades', { trades: last });
    expect([again.status, again.body.recommendation]).toEqual([200, 'PROMOTE_CHALLENGER']);
    expect([(await whole.read(id)).body, (await whole.read(id, '/events')).body]).toEqual(before);
    client.destroy();
  });
});
