import { describe, expect, it } from 'vitest';
import { TRADE_FIELDS } from '#contract/registry/challenge-trade.ts';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { generated, HOUR } from '../support/challenge-fixture.ts';
import { closedTotals, storeChallenge } from '../support/challenge-scenarios.ts';
import { fixture, started, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';

/** Rules on both sides of their limits. */

useOneChallengeFixture();

const DAY = 24 * HOUR;
const CANARY = { enable_canary: true };

async function tick(): Promise<readonly string[]> {
  const { changed } = await processDueChallenges(fixture.deps, (_, error) => {
    throw error;
  });
  return changed;
}

const read = async (id: string) => (await fixture.read(id)).body;
const isoAfter = (ms: number) => new Date(fixture.clock.now() + ms).toISOString();
const trade = (trade_id: string, more: object = {}) => ({
  trade_id,
  variant: 'champion',
  profit_pct: 1,
  ...more,
});
const open = (variant: string, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({
    trade_id: `${variant}-${n}`,
    variant,
    status: 'open',
    ...more,
  }));

it('a difference whose p-value is too small for the database gets its verdict', async () => {
  const { body: created } = await fixture.create({ enable_canary: false, min_trades: 100 });
  const id: string = created.challenge_id;
  const profits = (base: number) => Array.from({ length: 100 }, (_, index) => base + (index % 3) / 10);
  for (const half of [0, 50]) {
    for (const [variant, base] of [
      ['champion', 0.1],
      ['challenger', 3],
    ] as const) {
      const logged = await fixture.log(id, variant, profits(base).slice(half, half + 50));
      expect(logged.status).toBe(201);
    }
  }
  expect((await fixture.read(id)).body).toMatchObject({ status: 'completed', outcome: 'challenger_wins' });
  // Smaller than 1e-130, the least size of a number in DynamoDB.
  const { p_value_fixed, planned_look } = await fixture.evaluate(id);
  expect(p_value_fixed).toBeLessThan(1e-130);
  expect(planned_look.p_value).toBe(0);
});

describe('canary advance', () => {
  // docs/challenges.md#canary-stages: 1 h or an eighth of the duration; 20 trades or a fifth of min_trades.
  it.each([
    [168, 100, HOUR, 20],
    [4, 101, HOUR / 2, 21],
  ])(
    'challenge of %d hours and %d trades advances at its minimum dwell and trades',
    async (max_duration_hours, min_trades, dwell, least) => {
      const id = await started({ ...CANARY, max_duration_hours, min_trades });
      await fixture.log(id, 'champion', generated(12345, 60, 0));
      await fixture.log(id, 'challenger', generated(67890, least, 0));
      fixture.clock.forward(dwell - 1);
      expect(await tick()).toEqual([]);
      fixture.clock.forward(1);
      expect(await tick()).toEqual([id]);
      fixture.clock.forward(dwell);
      const profits = generated(67891, least, 0);
      await fixture.log(id, 'challenger', profits.slice(1));
      expect((await read(id)).canary_stage).toBe('stage_2');
      await fixture.log(id, 'challenger', profits.slice(0, 1));
      expect((await read(id)).canary_stage).toBe('stage_3');
    },
  );

  // docs/challenges.md#promotion: no automatic action.
  it('advance and rollback wait while trade profits have zero variance', async () => {
    for (const [challenger, varied] of [
      [1.5, { status: 'active', canary_stage: 'stage_2' }],
      [0.5, { status: 'rolled_back', reason: 'harm' }],
    ] as const) {
      const id = await started(CANARY);
      await fixture.log(id, 'champion', Array(60).fill(1));
      fixture.clock.forward(HOUR);
      await fixture.log(id, 'challenger', Array(20).fill(challenger));
      expect(await tick()).toEqual([]);
      expect(await read(id)).toMatchObject({ status: 'active', canary_stage: 'stage_1' });
      await fixture.log(id, 'champion', [1.1]);
      expect(await read(id)).toMatchObject(varied);
    }
  });
});

describe('hold reasons', () => {
  it('challenge is held after each full day without traffic', async () => {
    const id = await started(CANARY);
    for (let day = 0; day < 2; day++) {
      fixture.clock.forward(DAY - 1);
      expect(await tick()).toEqual([]);
      fixture.clock.forward(1);
      expect(await tick()).toEqual([id]);
      expect((await read(id)).hold.reason).toBe('no_traffic');
      expect((await fixture.post(id, 'resume')).body.hold).toBeNull();
    }
    expect(await tick()).toEqual([]);
  });

  // Two of two at 5 % have an exact p of 0.0025 and a chi-square of 38; three of three 0.000125.
  it('sample ratio mismatch uses the exact p-value for few assignments', async () => {
    for (const [assigned, p] of [
      [2, 0.05 ** 2],
      [3, 0.05 ** 3],
    ] as const) {
      const id = `ch-exact${assigned}`;
      await storeChallenge(fixture, id, [[1, closedTotals(0, 0, 0), closedTotals(0, 0, 0, assigned)]]);
      await fixture.log(id, 'champion', [0.1]);
      expect((await read(id)).hold?.reason ?? null).toBe(p < 0.001 ? 'sample_ratio_mismatch' : null);
      expect((await fixture.evaluate(id)).srm.p_value).toBeCloseTo(p, 9);
      await fixture.post(id, 'rollback');
    }
  });

  it('resumed hold does not return for the same cause but for another one', async () => {
    const id = 'ch-accepted';
    await storeChallenge(fixture, id, [[1, closedTotals(0, 0, 0), closedTotals(0, 0, 0, 3)]]);
    await fixture.log(id, 'champion', generated(1, 20, 0));
    expect((await read(id)).hold.reason).toBe('sample_ratio_mismatch');
    await fixture.post(id, 'resume');
    expect(await tick()).not.toContain(id);
    await fixture.post(id, 'trades', { trades: open('challenger', 20) });
    expect((await read(id)).hold.reason).toBe('open_trades');
    await fixture.post(id, 'resume');
    await fixture.log(id, 'champion', [0.1]);
    expect((await read(id)).hold).toBeNull();
    expect((await fixture.evaluate(id)).srm.status).toBe('mismatch');
  });

  it('challenge is held above an open trade imbalance of 20 points, from 20 trades per variant', async () => {
    for (const [closed, opened, held] of [
      [14, 5, false],
      [16, 4, false],
      [15, 5, true],
    ] as const) {
      const id = await started();
      await fixture.log(id, 'champion', generated(1, 20, 0));
      await fixture.post(id, 'trades', { trades: open('challenger', opened) });
      await fixture.log(id, 'challenger', generated(2, closed, 0));
      expect((await read(id)).hold?.reason ?? null).toBe(held ? 'open_trades' : null);
    }
  });

  it('manual hold accepts another reason, keeps its start and stores an empty reason as null', async () => {
    const id = await started();
    const hold = async (reason?: string) => (await fixture.post(id, 'hold', { reason })).body.hold;
    const since = isoAfter(0);
    expect(await hold('  ')).toEqual({ reason: 'manual', since, note: null });
    fixture.clock.forward(HOUR);
    expect(await hold('slippage')).toEqual({ reason: 'manual', since, note: 'slippage' });
    for (const same of ['slippage', '', undefined]) expect((await hold(same)).note).toBe('slippage');
    expect((await hold('maintenance')).note).toBe('maintenance');
    await fixture.post(id, 'rollback', { reason: '' });
    const { items } = (await fixture.read(id, '/events')).body;
    expect(items.map(({ action, reason }: any) => [action, reason])).toEqual([
      ['roll_back', null],
      ['hold', 'maintenance'],
      ['hold', 'slippage'],
      ['hold', null],
      ['create', null],
    ]);
  });
});

it('verdict passes at an open trade imbalance of 20 points and fails above', async () => {
  for (const [opened, status] of [
    [25, 'completed'],
    [26, 'active'],
  ] as const) {
    const id = `ch-gap${opened}`;
    const challenger = { ...closedTotals(99, 2, 1), open: opened };
    await storeChallenge(fixture, id, [[4, closedTotals(100, 0.4, 1), challenger]], { trades: 199 });
    await fixture.log(id, 'challenger', [2]);
    expect((await read(id)).status).toBe(status);
    const { criteria } = await fixture.evaluate(id);
    expect(criteria.find(({ name }: any) => name === 'open_trade_gap').passed).toBe(status === 'completed');
    await fixture.post(id, 'rollback');
  }
});

it('challenge ends at its last millisecond; trades opened then do not count', async () => {
  const id = await started({ max_duration_hours: 2 });
  fixture.clock.forward(2 * HOUR - 1);
  expect((await read(id)).status).toBe('active');
  await fixture.post(id, 'trades', trade('in time'));
  const { last_traffic_at } = (await fixture.deps.challenges.read(id))!;
  fixture.clock.forward(1);
  const { status, ended_at, ends_at } = await read(id);
  expect([status, ended_at]).toEqual(['expired', ends_at]);
  fixture.clock.forward(HOUR);
  const { items } = (
    await fixture.post(id, 'trades', {
      trades: [
        trade('before', { opened_at: isoAfter(-HOUR - 1) }),
        trade('at the end', { opened_at: ends_at }),
        trade('untold'),
      ],
    })
  ).body;
  expect(items.map((item: any) => item.late ?? item.error.code)).toEqual([true, 'RES005', true]);
  expect(await fixture.deps.challenges.read(id)).toMatchObject({ late: 2, last_traffic_at });
});

describe('trade identity', () => {
  it('trade that closes before it opens is rejected', async () => {
    const id = await started();
    fixture.clock.forward(HOUR);
    const ahead = isoAfter(1);
    const single = await fixture.post(id, 'trades', trade('a', { opened_at: ahead }));
    expect([single.status, single.body.detail]).toMatchObject([
      400,
      { code: 'VAL001', field: 'opened_at', context: { opened_at: ahead, closed_at: isoAfter(0) } },
    ]);
    const opened = [
      trade('b', { status: 'open', opened_at: ahead }),
      trade('c', { status: 'open', opened_at: isoAfter(0) }),
    ];
    const closes = [trade('a', { opened_at: ahead }), trade('b'), trade('c', { closed_at: isoAfter(-1) })];
    const { body } = await fixture.post(id, 'trades', { trades: [...opened, ...closes] });
    expect(body.items.map(({ error }: any) => error && [error.code, error.field])).toEqual([
      undefined,
      undefined,
      ['VAL001', 'trades.2.opened_at'],
      ['VAL001', 'trades.3.opened_at'],
      ['VAL001', 'trades.4.closed_at'],
    ]);
    expect(body.champion_trades).toBe(0);
    fixture.clock.forward(1);
    const now = await fixture.post(id, 'trades', { trades: [closes[0], closes[1], trade('c')] });
    expect([now.status, now.body.champion_trades]).toEqual([201, 3]);
  });

  it('repeated trade conflicts when any of its fields differs or is missing', async () => {
    const id = await started();
    const [start, opened_at, closed_at, later] = [0, 1, 2, 3].map((hours) => isoAfter(hours * HOUR));
    fixture.clock.forward(4 * HOUR);
    const sent = {
      ...trade('a', { profit_abs: 2, stake_amount: 200, fee_abs: 0.1, leverage: 2, pair: 'BTC/USDT:USDT' }),
      side: 'long',
      opened_at,
      closed_at,
      exit_reason: 'roi',
      exchange: 'binance',
      mode: 'live',
      assignment_key: 'k',
    };
    const changes: Record<string, unknown> = {
      variant: 'challenger',
      profit_pct: 2,
      profit_abs: 3,
      stake_amount: 201,
      fee_abs: 0.2,
      leverage: 3,
      pair: 'ETH/USDT:USDT',
      side: 'short',
      opened_at: start,
      mode: 'paper',
      closed_at: later,
      exit_reason: 'stop',
      exchange: 'okx',
      assignment_key: 'l',
    };
    // The trading mode says how the pair is written, and is not stored.
    const others = ['trade_id', 'version', 'status', 'error_message', 'trading_mode'];
    expect([...others, ...Object.keys(changes)].sort()).toEqual([...TRADE_FIELDS].sort());
    await fixture.post(id, 'trades', sent);
    const changed = Object.entries(changes).map(([name, value]) => ({ ...sent, [name]: value }));
    const optional = Object.keys(changes).filter((name) => !['variant', 'profit_pct'].includes(name));
    const without = optional.map((name) => ({ ...sent, [name]: undefined }));
    const { body } = await fixture.post(id, 'trades', { trades: [sent, ...changed, ...without] });
    expect(body.items.map((item: any) => item.duplicate ?? item.error.code)).toEqual([
      true,
      ...[...changed, ...without].map(() => 'RES005'),
    ]);
  });

  it('late trade and its new key count in the stage of its opening', async () => {
    const id = await started(CANARY);
    fixture.clock.forward(1);
    await fixture.post(id, 'advance');
    fixture.clock.forward(1);
    const stageOf = async (opened_at: string, assignment_key?: string) => {
      const opened = trade(`${opened_at} ${assignment_key}`, { opened_at, assignment_key });
      return (await fixture.post(id, 'trades', opened)).body.canary_stage;
    };
    expect(await stageOf(isoAfter(-2))).toBe('stage_1');
    expect(await stageOf(isoAfter(-1))).toBe('stage_2');
    expect(await stageOf(isoAfter(-2), 'k')).toBe('stage_1');
    const { body } = await fixture.post(id, 'assignments', { assignment_key: 'k' });
    expect(body).toMatchObject({ canary_stage: 'stage_1', repeated: true });
  });
});

describe('challenge request', () => {
  it('repeated idempotency key conflicts when any field differs', async () => {
    await fixture.post(await started(), 'rollback');
    const key = { 'Idempotency-Key': 'the-same' };
    const id = (await fixture.create({}, key)).body.challenge_id;
    const changes = {
      champion_version: '2',
      challenger_version: '1',
      min_trades: 101,
      max_duration_hours: 24,
      enable_canary: false,
      max_drawdown_pct: 10,
      max_errors: 2,
      analysis_unit: 'assignment_key',
      approval_stages: ['stage_2'],
      on_rollback: 'close',
      auto_promote: true,
      require_assignment: true,
    };
    for (const [name, value] of Object.entries(changes)) {
      const { status, body } = await fixture.create({ [name]: value }, key);
      expect([name, status, body.detail?.code]).toEqual([name, 409, 'RES005']);
    }
    expect((await fixture.create({}, key)).body.challenge_id).toBe(id);
  });

  it('error lists each missing field once and truncates long values', async () => {
    const empty = await fixture.create({ champion_version: undefined, challenger_version: undefined });
    expect(empty.body.detail.map(({ type, loc }: any) => [type, ...loc])).toEqual([
      ['missing', 'body', 'champion_version'],
      ['missing', 'body', 'challenger_version'],
    ]);
    const long = (await fixture.create({ challenger_version: 'x'.repeat(5000) })).body.detail;
    expect([long.code, long.field]).toEqual(['RES003', 'challenger_version']);
    expect(JSON.stringify(long).length).toBeLessThan(500);
    await fixture.post(await started(), 'rollback');
    const expected = await fixture.promote('2', { expected_production: 'x'.repeat(5000) });
    expect(expected.body.detail.code).toBe('RES005');
    expect(JSON.stringify(expected.body.detail).length).toBeLessThan(700);
    await fixture.promote('2');
    for (const [field, versions] of [
      ['champion_version', { champion_version: '1', challenger_version: '2' }],
      ['challenger_version', { champion_version: '2', challenger_version: '1' }],
    ] as const) {
      const { code, field: named } = (await fixture.create(versions)).body.detail;
      expect([code, named]).toEqual(['RES006', field]);
    }
  });
});
