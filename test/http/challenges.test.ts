import { expect, it } from 'vitest';
import { LocalEnv } from '#contract/env/env.ts';
import { readEnv } from '#runtime/env.ts';
import { challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

const engine = fileEngine();

const open = { enable_canary: false, min_trades: 120 };

it('challenge begins at 5 % with canary, at 50 % without, and is found by its model', async () => {
  const fixture = await challengeFixture(engine);
  const { status, body } = await fixture.create({
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
  expect((await fixture.read(body.challenge_id)).body).toEqual(body);
  const list = await fixture.strategy('GET', `/api/v1/models/${MODEL}/challenges`);
  expect(list.body).toEqual({ items: [body], next_cursor: null });
  const second = await fixture.create();
  expect([second.status, second.body.detail.code]).toEqual([409, 'RES005']);
  await fixture.post(body.challenge_id, 'rollback', { reason: 'enough' });
  const plain = await fixture.create({ enable_canary: false });
  expect(plain.body).toMatchObject({ canary_stage: 'stage_4', traffic_split: [0.5, 0.5] });
  const { body: events } = await fixture.read(body.challenge_id, '/events');
  expect(events.items.map(({ action, reason }: any) => [action, reason])).toEqual([
    ['roll_back', 'enough'],
    ['create', null],
  ]);
  const both = await fixture.strategy('GET', `/api/v1/models/${MODEL}/challenges?limit=1`);
  expect(both.body.items[0].challenge_id).toBe(plain.body.challenge_id);
  const rest = await fixture.strategy(
    'GET',
    `/api/v1/models/${MODEL}/challenges?limit=1&cursor=${both.body.next_cursor}`,
  );
  expect(rest.body.items[0]).toMatchObject({ challenge_id: body.challenge_id, status: 'rolled_back' });
});

it.each([
  ['an unknown challenger', { challenger_version: '9' }, 404, 'RES003', 'challenger_version'],
  ['one version twice', { challenger_version: 1 }, 400, 'VAL005', 'challenger_version'],
  ['one version twice by its alias', { challenger_version: 'champion' }, 400, 'VAL005', 'challenger_version'],
  ['min_trades of 0', { min_trades: 0 }, 400, 'VAL005', 'min_trades'],
  ['too long a duration', { max_duration_hours: 9000 }, 400, 'VAL005', 'max_duration_hours'],
])('creation rejects %s', async (_, body, status, code, field) => {
  const fixture = await challengeFixture(engine);
  const response = await fixture.create(body);
  expect([response.status, response.body.detail.code, response.body.detail.field]).toEqual([
    status,
    code,
    field,
  ]);
});

it('list of one status applies deadlines and fills its pages', async () => {
  const fixture = await challengeFixture(engine);
  const ids: Record<string, string[]> = { expired: [], rolled_back: [] };
  for (let n = 0; n < 7; n++) {
    const { body } = await fixture.create({ max_duration_hours: 1 });
    const status = n % 3 === 0 ? 'rolled_back' : 'expired';
    if (status === 'rolled_back') await fixture.post(body.challenge_id, 'rollback');
    else fixture.clock.forward(HOUR);
    ids[status]!.unshift(body.challenge_id);
  }
  const pagesOf = async (status: string, limit: number) => {
    const pages: string[][] = [];
    for (let next = ''; ; ) {
      const query = `status=${status}&limit=${limit}${next && `&cursor=${next}`}`;
      const { body } = await fixture.strategy('GET', `/api/v1/models/${MODEL}/challenges?${query}`);
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

it('catalog shows the active challenge of a model until it ends, for each way to end', async () => {
  const fixture = await challengeFixture(engine);
  const shown = async () => {
    const { body } = await fixture.get('/api/v1/catalog/strategies?sort_field=sharpe');
    expect(body.items).toHaveLength(2);
    return [...new Set(body.items.map((row: any) => row.active_challenge_id))];
  };
  const create = async () => {
    const { challenge_id } = (await fixture.create({ enable_canary: false, max_duration_hours: 5 })).body;
    expect(await shown()).toEqual([challenge_id]);
    return challenge_id as string;
  };
  expect(await shown()).toEqual([null]);
  await fixture.post(await create(), 'rollback');
  expect(await shown()).toEqual([null]);
  const won = await create();
  await fixture.log(won, 'champion', generated(12345, 100, 0));
  await fixture.log(won, 'challenger', generated(67890, 100, 1));
  expect(await shown()).toEqual([null]);
  await create();
  // The expiry is not stored yet.
  fixture.clock.forward(5 * HOUR);
  expect(await shown()).toEqual([null]);
  await fixture.register();
  await fixture.stage('3');
  const { challenge_id: last } = (await fixture.create()).body;
  const ofAll = (await fixture.get('/api/v1/catalog/strategies')).body.items;
  expect(ofAll.map((row: any) => row.active_challenge_id)).toEqual([last, last, last]);
  await fixture.promote('2');
  expect(await shown()).toEqual([null]);
});

it('effective min_trades is at least the minimum of the deployment', async () => {
  expect(readEnv(LocalEnv, {}).CHALLENGE_MIN_TRADES).toBe(100);
  expect(() => readEnv(LocalEnv, { CHALLENGE_MIN_TRADES: '99' })).toThrow(
    'CHALLENGE_MIN_TRADES is malformed',
  );
  const fixture = await challengeFixture(engine, { deps: { challengeMinTrades: 200 } });
  const { body } = await fixture.create({ ...open, min_trades: 100 });
  expect([body.min_trades, body.effective_min_trades]).toEqual([100, 200]);
  await fixture.log(body.challenge_id, 'champion', generated(12345, 199, 0));
  await fixture.log(body.challenge_id, 'challenger', generated(67890, 199, 1));
  expect(await fixture.evaluate(body.challenge_id)).toMatchObject({ planned_look: null, status: 'active' });
});

it('unknown field is ignored with a warning', async () => {
  const fixture = await challengeFixture(engine);
  const { body } = await fixture.create({ champion_version: '2', challenger_version: '1', max_drawdown: 5 });
  expect(body.max_drawdown_pct).toBeNull();
  const known = [expect.stringContaining('champion_not'), expect.stringContaining('challenger_not')];
  const said = 'Unknown key max_drawdown was ignored; did you mean max_drawdown_pct?';
  expect(body.warnings).toEqual([...known, said]);
  for (const action of ['hold', 'resume', 'advance', 'rollback']) {
    const { warnings } = (await fixture.post(body.challenge_id, action, { cmment: 'x' })).body;
    expect([action, warnings]).toEqual([
      action,
      [...known, expect.stringContaining('Unknown key cmment was ignored')],
    ]);
  }
  expect((await fixture.read(body.challenge_id)).body.warnings).toEqual(known);
});

it('archived version is rejected; a challenger outside Staging is a warning', async () => {
  const fixture = await challengeFixture(engine);
  await fixture.promote('2');
  expect((await fixture.create()).body.detail.code).toBe('RES006');
  await fixture.register();
  const { body } = await fixture.create({ champion_version: 'champion', challenger_version: 'latest' });
  expect([body.champion_version, body.challenger_version]).toEqual(['2', '3']);
  expect(body.warnings).toEqual([expect.stringContaining('challenger_not_in_staging')]);
});

it('repeated idempotency key returns the first challenge', async () => {
  const fixture = await challengeFixture(engine);
  const first = await fixture.create({}, { 'Idempotency-Key': 'k' });
  const again = await fixture.create({}, { 'Idempotency-Key': 'k' });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('Idempotent-Replay')).toBe('true');
});

it('unknown challenge returns CHL001; malformed challenge ID returns VAL005', async () => {
  const fixture = await challengeFixture(engine);
  for (const what of ['', '/evaluate', '/events', '/trades']) {
    const response = await fixture.read('ch-none', what);
    expect([what, response.status, response.body.detail.code]).toEqual([what, 404, 'CHL001']);
  }
  const posted = await fixture.post('ch-none', 'trades', {
    trade_id: 'a',
    variant: 'champion',
    profit_pct: 1,
  });
  expect(posted.body.detail.code).toBe('CHL001');
  expect((await fixture.read('x')).body.detail.code).toBe('VAL005');
});

// Vector T3 of test/engine/stats/welch.test.ts.
it('better challenger wins at the planned look, and its metrics stay fixed', async () => {
  const fixture = await challengeFixture(engine);
  const { body } = await fixture.create(open);
  const id = body.challenge_id;
  await fixture.log(id, 'champion', generated(12345, 120, 0));
  const last = await fixture.log(id, 'challenger', generated(67890, 120, 0.6));
  expect(last.body).toMatchObject({ status: 'completed', recommendation: 'PROMOTE_CHALLENGER' });
  const evaluation = await fixture.evaluate(id);
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
  const late = await fixture.log(id, 'champion', [50]);
  expect(late.body.items[0]).toMatchObject({ accepted: true, late: true });
  const { evaluated_at: _, ...frozen } = await fixture.evaluate(id);
  expect(frozen).toEqual(
    Object.fromEntries(Object.entries(evaluation).filter(([name]) => name !== 'evaluated_at')),
  );
});

// Vector T3b of test/engine/stats/welch.test.ts.
it('challenger without a significant difference continues with always-valid p-values', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create(open)).body.challenge_id;
  await fixture.log(id, 'champion', generated(12345, 120, 0));
  await fixture.log(id, 'challenger', generated(67890, 119, 0.2));
  expect(await fixture.evaluate(id)).toMatchObject({ p_value_method: 'always_valid', planned_look: null });
  await fixture.log(id, 'challenger', generated(67890, 120, 0.2).slice(119));
  const look = await fixture.evaluate(id);
  expect(look).toMatchObject({ status: 'active', recommendation: 'CONTINUE', p_value_method: 'welch' });
  expect(look.p_value).toBeCloseTo(0.093272444085, 11);
  expect(look.improvement_pct).toBeCloseTo(94.914907, 5);
  await fixture.log(id, 'champion', [0.1]);
  const after = await fixture.evaluate(id);
  expect(after.p_value_method).toBe('always_valid');
  expect(after.p_value).toBeGreaterThan(look.p_value);
  expect(after.planned_look.p_value).toBe(look.p_value);
});

// Vectors T5 and T6 of test/engine/stats/welch.test.ts.
it('zero variance gives a verdict with a warning, or none for equal means', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
  await fixture.log(id, 'champion', Array(100).fill(1));
  await fixture.log(id, 'challenger', Array(100).fill(1.2));
  const evaluation = await fixture.evaluate(id);
  expect(evaluation).toMatchObject({ status: 'completed', p_value: 0, recommendation: 'PROMOTE_CHALLENGER' });
  expect(evaluation.improvement_pct).toBeCloseTo(20, 9);
  expect(evaluation.warnings).toContainEqual(expect.stringContaining('DEGENERATE_VARIANCE'));
  const same = (await fixture.create({ enable_canary: false })).body.challenge_id;
  await fixture.log(same, 'champion', Array(100).fill(1));
  await fixture.log(same, 'challenger', Array(100).fill(1));
  expect(await fixture.evaluate(same)).toMatchObject({ status: 'active', p_value: 1, improvement_pct: 0 });
});

// docs/challenges.md#verdict-rules: above 10 %; no promotion above an open trade imbalance of 20 points.
it('improvement of exactly 10 % or a lead with too many open trades continues', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
  await fixture.log(id, 'champion', Array(100).fill(10));
  await fixture.log(id, 'challenger', Array(100).fill(11));
  const evaluation = await fixture.evaluate(id);
  expect(evaluation).toMatchObject({ status: 'active', recommendation: 'CONTINUE', improvement_pct: 10 });
  expect(evaluation.criteria).toContainEqual(
    expect.objectContaining({ name: 'improvement_pct', passed: false }),
  );
  await fixture.post(id, 'rollback', {});

  const held = (await fixture.create({ enable_canary: false })).body.challenge_id;
  const opened = Array.from({ length: 60 }, (_, i) => ({
    trade_id: `open-${i}`,
    variant: 'challenger',
    status: 'open',
  }));
  await fixture.post(held, 'trades', { trades: opened });
  await fixture.log(held, 'champion', Array(100).fill(1));
  await fixture.log(held, 'challenger', Array(100).fill(1.2));
  expect(await fixture.evaluate(held)).toMatchObject({
    status: 'active',
    recommendation: 'CONTINUE',
    p_value: 0,
  });
  const closed = opened.map((trade) => ({ ...trade, status: 'closed', profit_pct: 1.2 }));
  await fixture.post(held, 'trades', { trades: closed });
  expect(await fixture.evaluate(held)).toMatchObject({
    status: 'completed',
    recommendation: 'PROMOTE_CHALLENGER',
  });
});

it('harmful challenger is rolled back immediately; an expired one is not better', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create(open)).body.challenge_id;
  await fixture.log(id, 'champion', generated(12345, 50, 0));
  const response = await fixture.log(id, 'challenger', generated(67890, 50, -4));
  expect(response.body.status).toBe('rolled_back');
  const { body } = await fixture.read(id);
  expect(body).toMatchObject({ status: 'rolled_back', reason: 'harm', traffic_split: [1, 0] });
  expect(body.challenger_trades).toBeGreaterThanOrEqual(20);
  expect(await fixture.evaluate(id)).toMatchObject({ recommendation: 'ROLLBACK' });

  const second = (await fixture.create({ max_duration_hours: 10 })).body;
  fixture.clock.forward(10 * HOUR);
  expect((await fixture.read(second.challenge_id)).body).toMatchObject({
    status: 'expired',
    traffic_split: [1, 0],
    ended_at: second.ends_at,
  });
  expect((await fixture.evaluate(second.challenge_id)).recommendation).toBe('KEEP_CHAMPION');
  expect((await fixture.create()).status).toBe(201);
});
