import { afterAll, beforeAll, expect, it } from 'vitest';
import { LocalEnv } from '#contract/env.ts';
import { challengeWorld, generated, HOUR } from '../support/challenge-world.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL } from '../support/registry-world.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine?.stop());

const open = { enable_canary: false, min_trades: 120 };

it('a challenge begins at 5 % with canary, at 50 % without, and is found by its model', async () => {
  const world = await challengeWorld(engine);
  const { status, body } = await world.create({
    min_trades: 10,
    max_duration_hours: 24,
    enable_canary: true,
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    challenge_id: expect.stringMatching(/^ch-[0-9A-Z]{26}$/),
    model_name: MODEL,
    champion_version: '1',
    challenger_version: '2',
    status: 'active',
    canary_stage: 'stage_1',
    traffic_split: [0.95, 0.05],
    effective_min_trades: 100,
    ends_at: '2026-06-02T00:00:00.000Z',
    warnings: [],
  });
  expect((await world.read(body.challenge_id)).body).toEqual(body);
  const list = await world.strategy('GET', `/api/v1/models/${MODEL}/challenges`);
  expect(list.body).toEqual({ items: [body], next_cursor: null });
  const second = await world.create();
  expect([second.status, second.body.detail.code]).toEqual([409, 'RES005']);
  await world.post(body.challenge_id, 'rollback', { reason: 'enough' });
  const plain = await world.create({ enable_canary: false });
  expect(plain.body).toMatchObject({ canary_stage: 'stage_4', traffic_split: [0.5, 0.5] });
  const { body: events } = await world.read(body.challenge_id, '/events');
  expect(events.items.map(({ action, reason }: any) => [action, reason])).toEqual([
    ['roll_back', 'enough'],
    ['create', null],
  ]);
  const both = await world.strategy('GET', `/api/v1/models/${MODEL}/challenges?limit=1`);
  expect(both.body.items[0].challenge_id).toBe(plain.body.challenge_id);
  const rest = await world.strategy(
    'GET',
    `/api/v1/models/${MODEL}/challenges?limit=1&cursor=${both.body.next_cursor}`,
  );
  expect(rest.body.items[0]).toMatchObject({ challenge_id: body.challenge_id, status: 'rolled_back' });
});

it.each([
  ['an unknown challenger', { challenger_version: '9' }, 404, 'RES003', 'challenger_version'],
  ['one version twice', { challenger_version: 1 }, 400, 'VAL005', 'challenger_version'],
  ['one version twice by its alias', { challenger_version: 'champion' }, 400, 'VAL005', 'challenger_version'],
  ['too few trades', { min_trades: 0 }, 400, 'VAL005', 'min_trades'],
  ['too long', { max_duration_hours: 9000 }, 400, 'VAL005', 'max_duration_hours'],
])('%s is refused', async (_, body, status, code, field) => {
  const world = await challengeWorld(engine);
  const answer = await world.create(body);
  expect([answer.status, answer.body.detail.code, answer.body.detail.field]).toEqual([status, code, field]);
});

it('a list of one status has full pages, as time has made them', async () => {
  const world = await challengeWorld(engine);
  const ids: Record<string, string[]> = { expired: [], rolled_back: [] };
  for (let n = 0; n < 7; n++) {
    const { body } = await world.create({ max_duration_hours: 1 });
    const status = n % 3 === 0 ? 'rolled_back' : 'expired';
    if (status === 'rolled_back') await world.post(body.challenge_id, 'rollback');
    else world.clock.forward(HOUR);
    ids[status]!.unshift(body.challenge_id);
  }
  const pagesOf = async (status: string, limit: number) => {
    const pages: string[][] = [];
    for (let next = ''; ; ) {
      const query = `status=${status}&limit=${limit}${next && `&cursor=${next}`}`;
      const { body } = await world.strategy('GET', `/api/v1/models/${MODEL}/challenges?${query}`);
      pages.push(body.items.map(({ challenge_id }: any) => challenge_id));
      if (body.next_cursor === null) return pages;
      next = body.next_cursor;
    }
  };
  const [a, b, c, d] = ids.expired!;
  expect(await pagesOf('expired', 3)).toEqual([[a, b, c], [d]]);
  expect(await pagesOf('expired', 2)).toEqual([
    [a, b],
    [c, d],
  ]);
  expect(await pagesOf('rolled_back', 2)).toEqual([ids.rolled_back!.slice(0, 2), ids.rolled_back!.slice(2)]);
  expect(await pagesOf('active', 2)).toEqual([[]]);
});

it('the catalog names the active challenge of a model from its beginning to its end, however it ends', async () => {
  const world = await challengeWorld(engine);
  const shown = async () => {
    const { body } = await world.get('/api/v1/catalog/strategies?sort_field=sharpe');
    expect(body.items).toHaveLength(2);
    return [...new Set(body.items.map((row: any) => row.active_challenge_id))];
  };
  const create = async () => {
    const { challenge_id } = (await world.create({ enable_canary: false, max_duration_hours: 5 })).body;
    expect(await shown()).toEqual([challenge_id]);
    return challenge_id as string;
  };
  expect(await shown()).toEqual([null]);
  await world.post(await create(), 'rollback');
  expect(await shown()).toEqual([null]);
  const won = await create();
  await world.log(won, 'champion', generated(12345, 100, 0));
  await world.log(won, 'challenger', generated(67890, 100, 1));
  expect(await shown()).toEqual([null]);
  await create();
  // Nobody has stored yet that it is over.
  world.clock.forward(5 * HOUR);
  expect(await shown()).toEqual([null]);
  await world.register();
  await world.stage('3');
  const { challenge_id: last } = (await world.create()).body;
  const ofAll = (await world.get('/api/v1/catalog/strategies')).body.items;
  expect(ofAll.map((row: any) => row.active_challenge_id)).toEqual([last, last, last]);
  await world.promote('2');
  expect(await shown()).toEqual([null]);
});

it('no fewer trades are enough than the deployment asks for', async () => {
  expect(LocalEnv.parse({}).CHALLENGE_MIN_TRADES).toBe(100);
  expect(LocalEnv.safeParse({ CHALLENGE_MIN_TRADES: '99' }).success).toBe(false);
  const world = await challengeWorld(engine, { deps: { challengeMinTrades: 200 } });
  const { body } = await world.create({ ...open, min_trades: 100 });
  expect([body.min_trades, body.effective_min_trades]).toEqual([100, 200]);
  await world.log(body.challenge_id, 'champion', generated(12345, 199, 0));
  await world.log(body.challenge_id, 'challenger', generated(67890, 199, 1));
  expect(await world.evaluate(body.challenge_id)).toMatchObject({ planned_look: null, status: 'active' });
});

it('what it does not know is ignored, and never silently', async () => {
  const world = await challengeWorld(engine);
  const { body } = await world.create({ champion_version: '2', challenger_version: '1', max_drawdown: 5 });
  expect(body.max_drawdown_pct).toBeNull();
  const known = [expect.stringContaining('champion_not'), expect.stringContaining('challenger_not')];
  const said = 'Unknown key max_drawdown was ignored; did you mean max_drawdown_pct?';
  expect(body.warnings).toEqual([...known, said]);
  for (const action of ['hold', 'resume', 'advance', 'rollback']) {
    const { warnings } = (await world.post(body.challenge_id, action, { cmment: 'x' })).body;
    expect([action, warnings]).toEqual([
      action,
      [...known, expect.stringContaining('Unknown key cmment was ignored')],
    ]);
  }
  expect((await world.read(body.challenge_id)).body.warnings).toEqual(known);
});

it('an archived version is refused, one that is not in Production is named', async () => {
  const world = await challengeWorld(engine);
  await world.promote('2');
  expect((await world.create()).body.detail.code).toBe('RES006');
  await world.register();
  const { body } = await world.create({ champion_version: 'champion', challenger_version: 'latest' });
  expect([body.champion_version, body.challenger_version]).toEqual(['2', '3']);
  expect(body.warnings).toEqual([expect.stringContaining('challenger_not_in_staging')]);
});

it('a repeated key of idempotency answers the first challenge', async () => {
  const world = await challengeWorld(engine);
  const first = await world.create({}, { 'Idempotency-Key': 'k' });
  const again = await world.create({}, { 'Idempotency-Key': 'k' });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('Idempotent-Replay')).toBe('true');
});

it('an unknown challenge is CHL001, and no challenge id VAL005', async () => {
  const world = await challengeWorld(engine);
  for (const what of ['', '/evaluate', '/events', '/trades']) {
    const answer = await world.read('ch-none', what);
    expect([what, answer.status, answer.body.detail.code]).toEqual([what, 404, 'CHL001']);
  }
  const posted = await world.post('ch-none', 'trades', { trade_id: 'a', variant: 'champion', profit_pct: 1 });
  expect(posted.body.detail.code).toBe('CHL001');
  expect((await world.read('x')).body.detail.code).toBe('VAL005');
});

// Reference 3.11, T3.
it('a better challenger wins at the planned look, and its numbers stay', async () => {
  const world = await challengeWorld(engine);
  const { body } = await world.create(open);
  const id = body.challenge_id;
  await world.log(id, 'champion', generated(12345, 120, 0));
  const last = await world.log(id, 'challenger', generated(67890, 120, 0.6));
  expect(last.body).toMatchObject({ status: 'completed', recommendation: 'PROMOTE_CHALLENGER' });
  const evaluation = await world.evaluate(id);
  expect(evaluation).toMatchObject({
    status: 'completed',
    recommendation: 'PROMOTE_CHALLENGER',
    is_significant: true,
    p_value_method: 'welch',
    champion_trades: 120,
    challenger_trades: 120,
    traffic_split: [0.5, 0.5],
  });
  expect(evaluation.champion_mean).toBeCloseTo(0.406416666667, 11);
  expect(evaluation.challenger_mean).toBeCloseTo(1.192166666667, 11);
  expect(evaluation.improvement_pct).toBeCloseTo(193.336067, 5);
  expect(evaluation.p_value).toBeCloseTo(0.000705304244, 11);
  expect(evaluation.criteria.every(({ passed }: any) => passed)).toBe(true);
  const late = await world.log(id, 'champion', [50]);
  expect(late.body.items[0]).toMatchObject({ accepted: true, late: true });
  const { evaluated_at: _, ...frozen } = await world.evaluate(id);
  expect(frozen).toEqual(
    Object.fromEntries(Object.entries(evaluation).filter(([name]) => name !== 'evaluated_at')),
  );
});

// Reference 3.11, T3b.
it('a challenger that is not shown to be better goes on, its p-value always valid from then on', async () => {
  const world = await challengeWorld(engine);
  const id = (await world.create(open)).body.challenge_id;
  await world.log(id, 'champion', generated(12345, 120, 0));
  await world.log(id, 'challenger', generated(67890, 119, 0.2));
  expect(await world.evaluate(id)).toMatchObject({ p_value_method: 'always_valid', planned_look: null });
  await world.log(id, 'challenger', generated(67890, 120, 0.2).slice(119));
  const look = await world.evaluate(id);
  expect(look).toMatchObject({ status: 'active', recommendation: 'CONTINUE', p_value_method: 'welch' });
  expect(look.p_value).toBeCloseTo(0.093272444085, 11);
  expect(look.improvement_pct).toBeCloseTo(94.914907, 5);
  await world.log(id, 'champion', [0.1]);
  const after = await world.evaluate(id);
  expect(after.p_value_method).toBe('always_valid');
  expect(after.p_value).toBeGreaterThan(look.p_value);
  expect(after.planned_look.p_value).toBe(look.p_value);
});

// Reference 3.11, T5 and T6.
it('trades that do not vary at all are a verdict with a warning, or none', async () => {
  const world = await challengeWorld(engine);
  const id = (await world.create({ enable_canary: false })).body.challenge_id;
  await world.log(id, 'champion', Array(100).fill(1));
  await world.log(id, 'challenger', Array(100).fill(1.2));
  const evaluation = await world.evaluate(id);
  expect(evaluation).toMatchObject({ status: 'completed', p_value: 0, recommendation: 'PROMOTE_CHALLENGER' });
  expect(evaluation.improvement_pct).toBeCloseTo(20, 9);
  expect(evaluation.warnings).toContainEqual(expect.stringContaining('DEGENERATE_VARIANCE'));
  const same = (await world.create({ enable_canary: false })).body.challenge_id;
  await world.log(same, 'champion', Array(100).fill(1));
  await world.log(same, 'challenger', Array(100).fill(1));
  expect(await world.evaluate(same)).toMatchObject({ status: 'active', p_value: 1, improvement_pct: 0 });
});

// Reference 3.12: above 10, not from 10 on. 3.9: no promotion while the arms differ by more than 20 points in open trades.
it('exactly 10 % is not enough, nor is a lead while the challenger holds its trades open', async () => {
  const world = await challengeWorld(engine);
  const id = (await world.create({ enable_canary: false })).body.challenge_id;
  await world.log(id, 'champion', Array(100).fill(10));
  await world.log(id, 'challenger', Array(100).fill(11));
  const evaluation = await world.evaluate(id);
  expect(evaluation).toMatchObject({ status: 'active', recommendation: 'CONTINUE', improvement_pct: 10 });
  expect(evaluation.criteria).toContainEqual(
    expect.objectContaining({ name: 'improvement_pct', passed: false }),
  );
  await world.post(id, 'rollback', {});

  const held = (await world.create({ enable_canary: false })).body.challenge_id;
  const opened = Array.from({ length: 60 }, (_, i) => ({
    trade_id: `open-${i}`,
    variant: 'challenger',
    status: 'open',
  }));
  await world.post(held, 'trades', { trades: opened });
  await world.log(held, 'champion', Array(100).fill(1));
  await world.log(held, 'challenger', Array(100).fill(1.2));
  expect(await world.evaluate(held)).toMatchObject({
    status: 'active',
    recommendation: 'CONTINUE',
    p_value: 0,
  });
  const closed = opened.map((trade) => ({ ...trade, status: 'closed', profit_pct: 1.2 }));
  await world.post(held, 'trades', { trades: closed });
  expect(await world.evaluate(held)).toMatchObject({
    status: 'completed',
    recommendation: 'PROMOTE_CHALLENGER',
  });
});

it('a worse challenger is rolled back as soon as it is harm, an expired one was not better', async () => {
  const world = await challengeWorld(engine);
  const id = (await world.create(open)).body.challenge_id;
  await world.log(id, 'champion', generated(12345, 50, 0));
  const answer = await world.log(id, 'challenger', generated(67890, 50, -4));
  expect(answer.body.status).toBe('rolled_back');
  const { body } = await world.read(id);
  expect(body).toMatchObject({ status: 'rolled_back', reason: 'harm', traffic_split: [1, 0] });
  expect(body.challenger_trades).toBeGreaterThanOrEqual(20);
  expect(await world.evaluate(id)).toMatchObject({ recommendation: 'ROLLBACK' });

  const second = (await world.create({ max_duration_hours: 10 })).body;
  world.clock.forward(10 * HOUR);
  expect((await world.read(second.challenge_id)).body).toMatchObject({
    status: 'expired',
    traffic_split: [1, 0],
    ended_at: second.ends_at,
  });
  expect((await world.evaluate(second.challenge_id)).recommendation).toBe('KEEP_CHAMPION');
  expect((await world.create()).status).toBe(201);
});
