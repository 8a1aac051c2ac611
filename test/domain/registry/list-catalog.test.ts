import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { type CatalogPage, type ListCatalogInput, listCatalog } from '#domain/catalog/list-catalog.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { SOME_RESULT } from '../../support/jobs.ts';
import { storeCatalog } from '../../support/stored-catalog.ts';
import { storedVersion } from '../../support/stored-version.ts';

/** Catalog on the embedded engine: rows and number of requests. */

const engine = fileEngine();
let requests: Record<string, number> = {};
beforeAll(async () => {
  engine.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        requests[commandName] = (requests[commandName] ?? 0) + 1;
        return next(args);
      },
    { step: 'initialize', name: 'countRequests' },
  );
});
beforeEach(() => {
  requests = {};
});

const cursors = { encode: encodeCursor, decode: decodeCursor };
const caller = { id: 'anonymous', groups: [], isAdmin: true };
const DEFAULTS = { caller, sort_field: 'name', sort_order: 'asc', limit: 20, offset: 0 } as const;

interface Catalog {
  list(input?: Partial<ListCatalogInput>): Promise<CatalogPage>;
  /** `model/version` of every row of the page. */
  ids(input?: Partial<ListCatalogInput>): Promise<string[]>;
}

async function catalogOf(versions: readonly StoredVersion[]): Promise<Catalog> {
  const { registry: table } = await engine.freshTables();
  await storeCatalog(engine.client, table, versions);
  const registry = new DynamoRegistryStore(engine.client, table);
  const challenges = new DynamoChallengeStore(engine.client, table);
  const list = (input: Partial<ListCatalogInput> = {}) =>
    listCatalog({ registry, challenges, clock: Date, cursors }, { ...DEFAULTS, ...input });
  return {
    list,
    ids: async (input) => (await list(input)).items.map((row) => `${row.model_name}/${row.version}`),
  };
}

interface Facts {
  readonly stage?: StoredVersion['stage'];
  readonly sharpe?: number;
  readonly drawdown?: number;
  readonly exchange?: string;
  readonly timeframe?: StoredVersion['config']['timeframe'];
  readonly pairs?: string[];
  readonly description?: string;
  readonly tags?: string[];
}

function versionOf(id: string, facts: Facts = {}): StoredVersion {
  const [name = '', number = ''] = id.split('/');
  const { config } = storedVersion(number);
  const { stage = 'Staging', description = '', tags = [], sharpe = 1, drawdown = 5, ...market } = facts;
  return storedVersion(number, {
    model_name: name,
    stage,
    description,
    tags,
    config: { ...config, strategy: name, ...market },
    metrics: { ...SOME_RESULT, sharpe_ratio: sharpe, max_drawdown_pct: drawdown },
  });
}

describe('listCatalog', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = await catalogOf([
      versionOf('alpha/1', { stage: 'Archived', sharpe: 9 }),
      versionOf('alpha/2', { stage: 'Production', sharpe: 0.5, drawdown: 20, tags: ['Trend', 'slow'] }),
      versionOf('alpha/10', { sharpe: -1.5, drawdown: 3, description: 'Second try of ALPHA' }),
      versionOf('alpha/11', { stage: 'None' }),
      versionOf('beta/1', {
        stage: 'Production',
        sharpe: 2.25,
        drawdown: -12.5,
        exchange: 'binanceusdm',
        timeframe: '1h',
        pairs: ['ETH/USDT:USDT', 'SOL/USDT:USDT'],
      }),
      versionOf('gamma/1', { sharpe: 10, drawdown: 0, timeframe: '1h', description: 'mean reversion' }),
    ]);
  });

  it('listCatalog returns Production and Staging versions by name and number', async () => {
    expect(await catalog.ids()).toEqual(['alpha/2', 'alpha/10', 'beta/1', 'gamma/1']);
    expect(await catalog.list()).toMatchObject({ total: 4, limit: 20, offset: 0, next_cursor: null });
  });

  it.each<[Partial<ListCatalogInput>, string[]]>([
    [{ sort_order: 'desc' }, ['gamma/1', 'beta/1', 'alpha/10', 'alpha/2']],
    [{ sort_field: 'sharpe' }, ['alpha/10', 'alpha/2', 'beta/1', 'gamma/1']],
    [{ sort_field: 'sharpe', sort_order: 'desc' }, ['gamma/1', 'beta/1', 'alpha/2', 'alpha/10']],
    [{ sort_field: 'drawdown' }, ['gamma/1', 'alpha/10', 'beta/1', 'alpha/2']],
    [{ sort_field: 'drawdown', sort_order: 'desc' }, ['alpha/2', 'beta/1', 'alpha/10', 'gamma/1']],
    [{ stage: 'Production' }, ['alpha/2', 'beta/1']],
    [{ stage: 'Staging' }, ['alpha/10', 'gamma/1']],
    [{ exchange: 'binanceusdm' }, ['beta/1']],
    [{ exchange: 'nowhere' }, []],
    [{ timeframe: '1h' }, ['beta/1', 'gamma/1']],
    [{ timeframe: '1h', stage: 'Staging' }, ['gamma/1']],
    [{ min_sharpe: 0.5 }, ['alpha/2', 'beta/1', 'gamma/1']],
    [{ min_sharpe: 0.51 }, ['beta/1', 'gamma/1']],
    [{ min_sharpe: -2, max_drawdown: 12.5 }, ['alpha/10', 'beta/1', 'gamma/1']],
    [{ max_drawdown: -12.4 }, ['alpha/10', 'gamma/1']],
    [{ max_drawdown: 0 }, ['gamma/1']],
    [{ search: 'ALPHA' }, ['alpha/2', 'alpha/10']],
    [{ search: 'second TRY' }, ['alpha/10']],
    [{ search: 'trend' }, ['alpha/2']],
    [{ search: 'sol/' }, ['beta/1']],
    [{ search: 'trend slow' }, []],
    [{ search: 'e', stage: 'Production', sort_field: 'sharpe' }, ['alpha/2', 'beta/1']],
    [{ limit: 2, offset: 1 }, ['alpha/10', 'beta/1']],
    [{ limit: 1, offset: 1, search: 'alpha' }, ['alpha/10']],
    [{ offset: 4 }, []],
  ])('listCatalog filters, sorts and pages with %j', async (input, expected) => {
    expect(await catalog.ids(input)).toEqual(expected);
  });

  it('listCatalog total counts matches on all pages', async () => {
    expect(await catalog.list({ limit: 1 })).toMatchObject({ total: 4, items: [expect.anything()] });
    expect(await catalog.list({ stage: 'Staging', limit: 1, offset: 1 })).toMatchObject({
      total: 2,
      offset: 1,
    });
    expect(await catalog.list({ timeframe: '1h', offset: 5 })).toMatchObject({ total: 2, items: [] });
  });

  it('listCatalog returns every field of a row', async () => {
    const { items } = await catalog.list({ search: 'second' });
    expect(items).toEqual([
      {
        name: 'alpha',
        model_name: 'alpha',
        version: '10',
        stage: 'Staging',
        description: 'Second try of ALPHA',
        exchange: 'sim',
        pairs: ['BTC/USDT:USDT'],
        timeframe: '5m',
        ml_engine: { enabled: false, model_type: 'none' },
        metrics: {
          total_trades: 10,
          total_profit_pct: 1.25,
          sharpe_ratio: -1.5,
          profit_factor: 1.8,
          win_rate: 60,
          max_drawdown_pct: 3,
        },
        backtest_run_id: 'bt-10',
        owner: 'anonymous',
        tags: [],
        validation_status: 'skipped',
        look_ahead: 'not_checked',
        waivers: [],
        created_at: '2026-05-01T00:00:00.000Z',
        updated_at: '2026-05-01T00:00:00.000Z',
        promoted_at: null,
        active_challenge_id: null,
        same_run_as: null,
      },
    ]);
  });

  it.each<Partial<ListCatalogInput>>([
    {},
    { sort_field: 'sharpe', sort_order: 'desc' },
    { sort_field: 'drawdown' },
    { search: 'a', sort_order: 'desc' },
    { stage: 'Production', sort_field: 'drawdown', sort_order: 'desc' },
    { min_sharpe: -2, sort_field: 'sharpe' },
  ])('listCatalog cursors lead through every page of %j', async (input) => {
    const whole = await catalog.ids(input);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await catalog.list({ ...input, limit: 1, cursor });
      expect(page).toMatchObject({ offset: seen.length, total: whole.length, limit: 1 });
      seen.push(...page.items.map((row) => `${row.model_name}/${row.version}`));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(seen).toEqual(whole);
  });

  it('listCatalog cursor resumes after an offset page', async () => {
    const { next_cursor } = await catalog.list({ limit: 1, offset: 1 });
    const next = await catalog.list({ limit: 1, cursor: next_cursor! });
    expect([next.items[0]!.name, next.offset]).toEqual(['beta', 2]);
  });

  it('listCatalog accepts a cursor with another limit', async () => {
    const { next_cursor } = await catalog.list({ limit: 1 });
    expect(await catalog.ids({ limit: 100, cursor: next_cursor! })).toEqual([
      'alpha/10',
      'beta/1',
      'gamma/1',
    ]);
  });

  it('listCatalog rejects a cursor of another list, an invalid one and one with an offset', async () => {
    const cursor = (await catalog.list({ limit: 1 })).next_cursor!;
    for (const input of [
      { stage: 'Production' },
      { search: 'a' },
      { min_sharpe: 0 },
      { max_drawdown: 50 },
      { exchange: 'sim' },
      { timeframe: '1h' },
      { sort_field: 'sharpe' },
      { sort_order: 'desc' },
    ] as const) {
      await expect(catalog.list({ ...input, cursor })).rejects.toMatchObject({
        code: 'VAL006',
        field: 'cursor',
      });
    }
    for (const broken of ['x', cursor.slice(1), encodeCursor(['1', 'alpha'], {})]) {
      await expect(catalog.list({ cursor: broken })).rejects.toMatchObject({ code: 'VAL006' });
    }
    await expect(catalog.list({ cursor, offset: 1 })).rejects.toMatchObject({
      code: 'VAL005',
      field: 'offset',
    });
  });

  it('listCatalog rejects an invalid timeframe', async () => {
    await expect(catalog.list({ timeframe: '7m' })).rejects.toMatchObject({
      code: 'VAL003',
      field: 'timeframe',
    });
  });
});

describe('listCatalog with 10,000 versions', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = await catalogOf(
      Array.from({ length: 10_000 }, (_, i) =>
        versionOf(`strategy_${i % 500}/${1 + Math.floor(i / 500)}`, {
          stage: i % 500 < 400 && i < 500 ? 'Production' : 'Staging',
          sharpe: (i % 97) / 10,
          drawdown: i % 89,
        }),
      ),
    );
  }, 60_000);

  it.each<Partial<ListCatalogInput>>([
    {},
    { sort_field: 'sharpe', sort_order: 'desc' },
    { sort_field: 'drawdown' },
    { offset: 40 },
  ])('early page of 100 reads one index page per stage: %j', async (input) => {
    const page = await catalog.list({ ...input, limit: 100 });
    expect(page).toMatchObject({ total: 10_000, items: { length: 100 } });
    expect(requests).toEqual({ QueryCommand: 2, GetItemCommand: 1, BatchGetItemCommand: 2 });
  });

  it('next page by cursor reads one index page per stage', async () => {
    const first = await catalog.list({ limit: 100, offset: 9_000 });
    requests = {};
    const next = await catalog.list({ limit: 100, cursor: first.next_cursor! });
    expect(next).toMatchObject({ offset: 9_100, total: 10_000, items: { length: 100 } });
    expect(requests).toEqual({ QueryCommand: 2, GetItemCommand: 1, BatchGetItemCommand: 2 });
  });

  it('page of one stage reads one page of its index', async () => {
    const page = await catalog.list({ stage: 'Production', limit: 100 });
    expect(page).toMatchObject({ total: 400, items: { length: 100 } });
    expect(requests).toEqual({ QueryCommand: 1, GetItemCommand: 1, BatchGetItemCommand: 2 });
  });

  it('filtered page reads each row of its stage once', async () => {
    expect(await catalog.list({ stage: 'Production', search: 'strategy_1', limit: 100 })).toMatchObject({
      total: 111,
      items: { length: 100 },
    });
    // 150 rows, then the remaining 250 in one read.
    expect(requests).toEqual({ QueryCommand: 2, BatchGetItemCommand: 2 });
  });
});
