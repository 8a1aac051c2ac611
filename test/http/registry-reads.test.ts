import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

let engine: TestEngine;
let fixture: RegistryFixture;
const START = Date.parse('2026-01-01T00:00:00Z');
const HOUR = 3_600_000;
let now = START;
const at = (hours: number) => new Date(START + hours * HOUR).toISOString();
const models = (path: string) => fixture.get(`/api/v1/models/${MODEL}${path}`);

/** One transition per hour: versions 1 and 2 are promoted at 3 and 6, 1 returns at 7, 3 is registered at 8. */
beforeAll(async () => {
  engine = await startEngine();
  fixture = await registryFixture(engine, { deps: { clock: { now: () => now } } });
  const moves = [
    ...['1', '2'].flatMap((version) => [
      () => fixture.register(),
      () => fixture.stage(version, { comment: `stage ${version}` }),
      () => fixture.promote(version),
    ]),
    () => fixture.rollback(1, { reason: 'losses' }),
    () => fixture.register(),
  ];
  for (const move of moves) {
    now += HOUR;
    expect((await move()).status).toBeLessThan(300);
  }
});
afterAll(() => engine?.stop());

async function putAll(table: string, items: readonly Record<string, unknown>[]): Promise<void> {
  for (let at = 0; at < items.length; at += 25) {
    const part = items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
    await engine.client.send(new BatchWriteCommand({ RequestItems: { [table]: part } }));
  }
}

describe('version list', () => {
  it('list returns versions newest first, with count and aliases', async () => {
    const { body } = await models('/versions');
    expect(body).toMatchObject({ model_name: MODEL, count: 3 });
    expect(
      body.versions.map(({ version, stage, aliases, created_at }: any) => [
        version,
        stage,
        aliases,
        created_at,
      ]),
    ).toEqual([
      ['3', 'None', ['latest'], at(8)],
      ['2', 'Archived', [], at(4)],
      ['1', 'Production', ['champion'], at(1)],
    ]);
    expect(body.versions[1]).toMatchObject({ rolled_back: true, rolled_back_reason: 'losses' });
  });

  it.each(['false', 'False', '0', 'no'])(
    'list omits archived versions with include_archived=%s',
    async (value) => {
      const { body } = await models(`/versions?include_archived=${value}`);
      expect(body).toMatchObject({ count: 2, versions: [{ version: '3' }, { version: '1' }] });
    },
  );

  it('pages of the list have every version once, newest first', async () => {
    const seen: string[] = [];
    let path = '/versions?include_archived=false&limit=1';
    for (
      let cursor: string | null = '';
      cursor !== null;
      path = `${path.split('&cursor')[0]}&cursor=${cursor}`
    ) {
      const { status, body } = await models(path);
      expect([status, body.count]).toEqual([200, 1]);
      seen.push(...body.versions.map(({ version }: any) => version));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(['3', '1']);
  });

  it('a cursor of the list belongs to its model and its filter', async () => {
    const { body } = await models('/versions?limit=1');
    expect(body.next_cursor).toEqual(expect.any(String));
    const { body: other } = await models(`/versions?include_archived=false&cursor=${body.next_cursor}`);
    expect(other.detail).toMatchObject({ code: 'VAL006', field: 'cursor' });
  });

  it('a page of long versions ends below the size of a response and continues', async () => {
    const long = await registryFixture(engine);
    await long.register();
    const template = (await long.items()).find(({ sk }) => String(sk).startsWith('VERSION#'))!;
    const description = 'x'.repeat(60_000);
    const numbers = Array.from({ length: 110 }, (_, at) => String(at + 2));
    await putAll(
      long.table,
      numbers.map((version) => ({
        ...template,
        sk: `VERSION#${version.padStart(6, '0')}`,
        version,
        description,
      })),
    );
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await long.get(`/api/v1/models/${MODEL}/versions?${cursor}`);
      expect(JSON.stringify(body).length).toBeLessThan(5 * 1024 * 1024);
      seen.push(...body.versions.map(({ version }: any) => version));
      if (body.next_cursor === null) break;
      cursor = `cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual([...numbers.toReversed(), '1']);
  });

  it('include_archived that is not a boolean is rejected', async () => {
    const { status, body } = await models('/versions?include_archived=maybe');
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'include_archived' });
    expect(body.detail.context.allowed).toEqual([true, false]);
  });

  it.each([
    ['2', '2'],
    ['latest', '3'],
    ['champion', '1'],
  ])('version is found by its reference %s', async (reference, version) => {
    const { status, body } = await models(`/versions/${reference}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ version, model_name: MODEL, config: { strategy: MODEL } });
  });

  it.each(['4', '0', '01', '-1', 'first', '1e0'])(
    'unknown reference returns RES003: %s',
    async (reference) => {
      const { status, body } = await models(`/versions/${reference}`);
      expect({ status, code: body.detail.code }).toEqual({ status: 404, code: 'RES003' });
    },
  );
});

describe('model history', () => {
  it('history lists every transition, newest first, over all pages', async () => {
    const items: any[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const { body } = await models(`/history?limit=3${cursor && `&cursor=${cursor}`}`);
      items.push(...body.items);
      cursor = body.next_cursor;
      pages++;
    } while (cursor);
    expect(pages).toBe(3);
    expect(items.map(({ action, version, at, reason }) => [action, version, at, reason])).toEqual([
      ['register', '3', at(8), null],
      ['rollback', '1', at(7), 'losses'],
      ['promote', '2', at(6), null],
      ['stage', '2', at(5), 'stage 2'],
      ['register', '2', at(4), null],
      ['promote', '1', at(3), null],
      ['stage', '1', at(2), 'stage 1'],
      ['register', '1', at(1), null],
    ]);
    expect(items.map(({ sequence }) => sequence)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(items[1]).toMatchObject({ previous_production: '2', production: '1', archived_versions: ['2'] });
  });

  it('history entry has the correlation ID of the call', async () => {
    const own = await registryFixture(engine);
    await own.register({}, { 'X-Correlation-ID': 'my-call' });
    const { body } = await own.get(`/api/v1/models/${MODEL}/history`);
    expect(body.items[0].correlation_id).toBe('my-call');
  });

  it('history rejects an invalid cursor', async () => {
    const { status, body } = await models('/history?cursor=nonsense');
    expect({ status, code: body.detail.code }).toEqual({ status: 400, code: 'VAL006' });
  });
});

describe('Production at a time', () => {
  it.each([
    [0, null],
    [2.9, null],
    [3, '1'],
    [5.9, '1'],
    [6, '2'],
    [6.99, '2'],
    [7, '1'],
    [8, '1'],
  ])('Production at hour %d is %s', async (hours, version) => {
    const { body } = await models(`/production?at=${at(hours)}`);
    expect(body).toEqual({ model_name: MODEL, at: at(hours), version });
  });

  it('Production defaults to the current time; an invalid time is rejected', async () => {
    expect((await models('/production')).body).toEqual({ model_name: MODEL, at: at(8), version: '1' });
    const { status, body } = await models('/production?at=yesterday');
    expect({ status, code: body.detail.code }).toEqual({ status: 400, code: 'VAL005' });
  });

  it('Production at a time in the future is rejected', async () => {
    const { status, body } = await models(`/production?at=${at(8.01)}`);
    expect({ status, code: body.detail.code }).toEqual({ status: 400, code: 'VAL005' });
    expect(body.detail.context).toEqual({ value: at(8.01), max: at(8) });
  });
});

describe('Production over a range', () => {
  const first = { action: 'promote', actor: 'anonymous', reason: null };
  const back = { action: 'rollback', actor: 'anonymous', reason: 'losses' };
  const none = { action: null, actor: null, reason: null };

  it.each([
    ['before the first version', 0, 2, [[null, 0, 2, none]]],
    ['until the first version enters', 2, 3, [[null, 2, 3, none]]],
    ['of one version', 3, 6, [['1', 3, 6, first]]],
    ['within a period', 4, 5, [['1', 4, 5, first]]],
    [
      'over all versions',
      1,
      8,
      [
        [null, 1, 3, none],
        ['1', 3, 6, first],
        ['2', 6, 7, first],
        ['1', 7, 8, back],
      ],
    ],
    ['without length', 5, 5, []],
  ] as const)('range %s has its periods, half-open and without gaps', async (_, from, to, periods) => {
    const { status, body } = await models(`/production?from=${at(from)}&to=${at(to)}`);
    expect([status, body]).toEqual([
      200,
      {
        model_name: MODEL,
        from: at(from),
        to: at(to),
        periods: periods.map(([version, start, end, change]) => ({
          version,
          from: at(start),
          to: at(end),
          ...change,
        })),
      },
    ]);
  });

  it('range begins with the model and ends now by default; a later end is now', async () => {
    const since = (await models(`/production?to=${at(4)}`)).body;
    expect([since.from, since.to]).toEqual([at(1), at(4)]);
    const until = (await models(`/production?from=${at(6)}`)).body;
    expect([until.from, until.to]).toEqual([at(6), at(8)]);
    expect((await models(`/production?from=${at(6)}&to=${at(999)}`)).body).toEqual(until);
    const early = (await models('/production?to=2025-01-01')).body;
    expect(early).toMatchObject({ from: early.to, periods: [] });
  });

  it.each([
    [`from=${at(5)}&to=${at(4)}`, 'VAL001', 'from'],
    [`from=${at(8.01)}`, 'VAL001', 'from'],
    ['from=yesterday', 'VAL001', 'from'],
    ['from=2026-01-01&to=2026-02-30', 'VAL001', 'to'],
    [`at=${at(5)}&from=${at(4)}`, 'VAL005', 'at'],
    [`at=${at(5)}&to=${at(6)}`, 'VAL005', 'at'],
    [`form=${at(4)}`, 'VAL005', 'form'],
  ])('range %s is rejected', async (query, code, field) => {
    const { status, body } = await models(`/production?${query}`);
    expect([status, body.detail.code, body.detail.field]).toEqual([400, code, field]);
  });

  it('has no period of a change that another one followed in the same millisecond, and one of a stop', async () => {
    let present = START;
    const own = await registryFixture(engine, { deps: { clock: { now: () => present } } });
    for (const version of ['1', '2']) {
      await own.register();
      await own.stage(version);
      await own.promote(version);
    }
    present += HOUR;
    await own.stop('2', { reason: 'losses' });
    present += HOUR;
    const { body } = await own.get(`/api/v1/models/${MODEL}/production?from=${at(-1)}`);
    expect(body.periods).toEqual([
      { version: null, from: at(-1), to: at(0), ...none },
      { version: '2', from: at(0), to: at(1), ...first },
      { version: null, from: at(1), to: at(2), action: 'stop', actor: 'anonymous', reason: 'losses' },
    ]);
  });

  it('with more periods than a response can have is rejected, and its parts answer', async () => {
    const own = await registryFixture(engine, { deps: { clock: { now: () => START + 5000 * HOUR } } });
    await own.register();
    const template = (await own.items()).find(({ sk }) => sk.startsWith('EVENT#'))!;
    const events = Array.from({ length: 1500 }, (_, n) => {
      const production = n % 2 === 0 ? '1' : null;
      const previous_production = n % 2 === 0 ? null : '1';
      const sk = `EVENT#${at(n)}#${String(n + 2).padStart(9, '0')}`;
      const change = { production, previous_production, reason: '\u20ac'.repeat(2000) };
      return { ...template, sk, at: at(n), sequence: n + 2, action: 'promote', ...change };
    });
    await putAll(own.table, events);
    const range = async (from: string, to: string) =>
      (await own.get(`/api/v1/models/${MODEL}/production?from=${from}&to=${to}`)).body;
    const { detail } = await range(at(0), at(1500));
    expect(detail).toMatchObject({ code: 'VAL005', field: 'from' });
    const late = await range(detail.context.min, at(1500));
    const early = await range(at(0), detail.context.min);
    expect([...early.periods, ...late.periods].map(({ from }) => from)).toEqual(
      events.map((event) => event.at),
    );
    for (const part of [early, late])
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(5 * 2 ** 20);
  });
});

it('version in Production is the present one also while the clock is behind the last transition', async () => {
  let present = Date.parse('2027-01-01T00:00:00Z');
  const own = await registryFixture(engine, { deps: { clock: { now: () => present } } });
  await own.register();
  await own.stage('1');
  present = Date.parse('2026-01-01T00:00:00Z');
  await own.promote('1');
  const { body } = await own.get(`/api/v1/models/${MODEL}/production`);
  expect(body).toEqual({ model_name: MODEL, at: '2026-01-01T00:00:00.000Z', version: '1' });
});

it.each(['/versions', '/versions/1', '/history', '/production'])(
  '%s of an unknown model returns RES002',
  async (path) => {
    const { status, body } = await fixture.get(`/api/v1/models/unheard_of${path}`);
    expect(status).toBe(404);
    expect(body.detail).toMatchObject({ code: 'RES002', field: 'model_name' });
  },
);
