import { beforeAll, expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

/** Only trades of the challenge's own time count. */

const engine = fileEngine();
let fixture: ChallengeFixture;
beforeAll(async () => {
  fixture = await challengeFixture(engine);
});

const isoAfter = (ms: number) => new Date(fixture.clock.now() + ms).toISOString();
const trade = (trade_id: string, fields: object = {}) => ({
  trade_id,
  variant: 'challenger',
  profit_pct: 1,
  ...fields,
});

/** A new challenge that has lasted an hour, and its start. */
async function started(body: object = {}): Promise<readonly [id: string, start: string]> {
  const { active_challenge_id: active } = (await fixture.store.read(MODEL, [])).model!;
  if (active) await fixture.post(active, 'rollback');
  const { challenge_id, created_at } = (await fixture.create({ enable_canary: false, ...body })).body;
  fixture.clock.forward(HOUR);
  return [challenge_id, created_at];
}

const beforeStart = (start: string) => new Date(Date.parse(start) - 1).toISOString();

it.each([
  ['2019-03-01T00:00:00.000Z', '2019-03-02T00:00:00.000Z'],
  ['2029-03-01T00:00:00.000Z', '2029-03-02T00:00:00.000Z'],
])('200 trades of %s do not promote a version', async (opened_at, closed_at) => {
  const own = await challengeFixture(engine);
  const { challenge_id: id } = (await own.create({ enable_canary: false, auto_promote: true })).body;
  const dated = { opened_at, closed_at };
  const first = await own.log(id, 'champion', generated(12345, 100, 0), dated);
  await own.log(id, 'challenger', generated(67890, 100, 1), dated);
  expect((await own.store.read(MODEL, [])).model!.production_version).toBe('1');
  expect((await own.read(id)).body).toMatchObject({
    status: 'active',
    champion_trades: 0,
    challenger_trades: 0,
  });
  const codes = first.body.items.map(({ error }: any) => error.code);
  expect([...new Set(codes)]).toEqual(['VAL001']);
});

it('trade that closed before the start or is over 60 s in the future is VAL001 and not stored', async () => {
  const [id, start] = await started();
  const ahead = isoAfter(60_001);
  const rejected: readonly (readonly [object, field: string, start: RegExp])[] = [
    [{ closed_at: beforeStart(start) }, 'closed_at', /^closed_at is before the start of the challenge: /],
    [
      { opened_at: '2019-01-01', closed_at: '2019-01-02' },
      'closed_at',
      /^closed_at is before the start of the challenge: /,
    ],
    [{ closed_at: ahead }, 'closed_at', /^closed_at is more than 60 s in the future: /],
    [
      { opened_at: ahead, closed_at: isoAfter(2 * HOUR) },
      'closed_at',
      /^closed_at is more than 60 s in the future: /,
    ],
    [{ status: 'open', opened_at: ahead }, 'opened_at', /^opened_at is more than 60 s in the future: /],
    [
      { status: 'error', profit_pct: undefined, opened_at: ahead },
      'opened_at',
      /^opened_at is more than 60 s in the future: /,
    ],
    [
      { status: 'error', profit_pct: undefined, closed_at: '2019-01-02' },
      'closed_at',
      /^closed_at is before the start of the challenge: /,
    ],
  ];
  for (const [fields, field, message] of rejected) {
    const { status, body } = await fixture.post(id, 'trades', trade('alone', fields));
    expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL001', field]);
    expect(body.detail.message).toMatch(message);
    expect(body.detail.context).toMatchObject({ started_at: start });
  }
  // The rules need the challenge: in a batch they reject only their item, as those of versions do.
  const trades = [trade('good'), ...rejected.map(([fields], n) => trade(`bad-${n}`, fields))];
  const { status, body } = await fixture.post(id, 'trades', { trades });
  expect(status).toBe(201);
  expect(body.items.map(({ trade_id, accepted, error }: any) => [trade_id, accepted, error?.field])).toEqual([
    ['good', true, undefined],
    ...rejected.map(([, field], n) => [`bad-${n}`, false, `trades.${n + 1}.${field}`]),
  ]);
  const { items } = (await fixture.read(id, '/trades')).body;
  expect(items.map((item: any) => item.trade_id)).toEqual(['good']);
});

it('trade that closed exactly at the start, or up to 60 s ahead, counts', async () => {
  const [id, start] = await started();
  const trades = [
    trade('start', { opened_at: start, closed_at: start }),
    trade('ahead', { opened_at: isoAfter(60_000), closed_at: isoAfter(60_000) }),
  ];
  const { body } = await fixture.post(id, 'trades', { trades });
  expect(body.items.map(({ accepted, late }: any) => [accepted, late])).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(body.challenger_trades).toBe(2);
});

it('trade that opened before the start is late: it neither counts nor assigns its key', async () => {
  const [id, start] = await started({ max_errors: 1, max_drawdown_pct: 20 });
  const before = { opened_at: beforeStart(start) };
  const stored = async () => {
    const { stages, equity, late } = (await fixture.deps.challenges.read(id))!;
    return { stages, equity, late };
  };
  const empty = await stored();
  const { last_traffic_at } = (await fixture.deps.challenges.read(id))!;
  const trades = [
    trade('closed', { ...before, profit_pct: -90, assignment_key: 'k' }),
    trade('open', { ...before, status: 'open' }),
    trade('open', { profit_pct: -90 }),
    ...[1, 2, 3].map((n) => trade(`error-${n}`, { ...before, status: 'error', profit_pct: undefined })),
  ];
  const { body } = await fixture.post(id, 'trades', { trades });
  expect(body.items.map(({ accepted, late }: any) => [accepted, late])).toEqual(
    trades.map(() => [true, true]),
  );
  expect(await stored()).toEqual({ ...empty, late: 5 });
  const shown = (await fixture.read(id)).body;
  expect(shown).toMatchObject({ status: 'active', late_trades: 5, challenger_errors: 0 });
  expect((await fixture.deps.challenges.read(id))!.last_traffic_at).toBe(last_traffic_at);
  const { repeated } = (await fixture.post(id, 'assignments', { assignment_key: 'k' })).body;
  expect(repeated).toBe(false);
  expect((await fixture.evaluate(id)).warnings).toEqual([
    'late: 5 trades were opened before the start of the challenge and do not count',
  ]);
});

it.each([
  ['trade', {}],
  ['assignment_key', { analysis_unit: 'assignment_key' }],
])('open trade whose close says that it opened before the start counts no more, unit %s', async (_, unit) => {
  const [id, start] = await started(unit);
  await fixture.post(id, 'trades', trade('other', { status: 'open', profit_pct: 2 }));
  const counted = (await fixture.deps.challenges.read(id))!.stages;
  await fixture.post(id, 'trades', trade('open', { status: 'open', profit_pct: 7 }));
  const closed = trade('open', { profit_pct: 9, opened_at: beforeStart(start) });
  expect((await fixture.post(id, 'trades', closed)).body).toMatchObject({ accepted: true, late: true });
  expect((await fixture.deps.challenges.read(id))!.stages).toEqual(counted);
  expect((await fixture.post(id, 'trades', closed)).body).toMatchObject({ duplicate: true, late: true });
  expect((await fixture.read(id)).body).toMatchObject({ late_trades: 1, challenger_trades: 0 });
});
