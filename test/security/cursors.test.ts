import { describe, expect, it } from 'vitest';
import { encodeCursor } from '#adapters/dynamo/cursor.ts';
import { storedCursorKey } from '#adapters/dynamo/cursor-key.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { Operation, ServiceName } from '#contract/values/operation.ts';
import type { ResourceKind } from '#contract/values/sharing.ts';
import { createRandom } from '#engine/random.ts';
import type { Principal } from '#runtime/authenticate.ts';
import { createService } from '#runtime/service.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, post } from '../support/backend.ts';
import { fileEngine } from '../support/file-engine.ts';

const operations: readonly Operation[] = OPERATIONS;
const takes = (schema: Operation['query'] | Operation['body'], field: string) =>
  Object.hasOwn((schema as Operation['query'])?.shape ?? {}, field);
/** Every operation whose requests have the position of a page, and the name of that field. */
const paged = ['cursor', 'page_token'].flatMap((field) =>
  operations
    .filter(({ query, body }) => takes(query, field) || takes(body, field))
    .map((operation) => ({ operation, field })),
);

const ADMIN: Principal = { id: 'ann', roles: ['admin'], groups: [] };
const IDS: Record<ResourceKind, string> = {
  backtest: 'bt-1',
  hyperopt: 'ho-1',
  model: 'ema_crossover',
  challenge: 'ch-1',
  approval: 'ap-1',
  signals: 'sg-1',
  webhook: 'wh-1',
};
const QUERIES: Record<string, string> = { mlflowGetMetricHistory: 'run_id=bt-1&metric_key=sharpe&' };
const INNER = encodeCursor(['2026-01-01', '7'], { list: 'any' });

const engine = fileEngine();

/** A platform of its own whose lists return the cursor that they received, or {@link INNER} on the first page. */
async function platform() {
  const { registry } = await engine.freshTables();
  const cursorKey = storedCursorKey(engine.client, 'registry', registry);
  const read: unknown[] = [];
  const handler = async (request: { query?: Record<string, unknown>; body?: Record<string, unknown> }) => {
    const sent = { ...request.query, ...request.body };
    read.push(sent.cursor ?? sent.page_token);
    return { status: 200, body: { items: [], next_cursor: INNER, next_page_token: INNER } };
  };
  const group = new Proxy({}, { get: () => handler });
  const handlers = new Proxy({}, { get: () => group });
  const owned = { find: async () => ({ owner: 'ann', shared_with: [] }), share: async () => 'done' };
  const host = {
    log: memoryLog().log,
    audit: memoryAudit().audit,
    authenticate: async () => ADMIN,
    ownership: Object.fromEntries(Object.keys(IDS).map((kind) => [kind, owned])) as never,
    cursorKey,
  };
  const services: ServiceName[] = ['backend', 'strategy', 'data_collection'];
  const apps = new Map(
    services.map((name) => [name, createService(name, handlers as never, { ...host })] as const),
  );
  const list = async ({ operation, field }: (typeof paged)[number], cursor?: string) => {
    const path = operation.path
      .replaceAll('{trade_id}', '1')
      .replaceAll(/\{\w+\}/g, () => IDS[operation.resource!.kind]);
    const app = apps.get(operation.service)!;
    const sent = cursor === undefined ? {} : { [field]: cursor };
    const query = `${QUERIES[operation.id] ?? ''}${new URLSearchParams(takes(operation.query, field) ? sent : {})}`;
    const init = operation.method === 'GET' ? {} : post({ name: 'a', ...sent });
    const response = await app.request(`${path}?${query}`, init);
    return { status: response.status, body: (await response.json()) as any };
  };
  return { list, read };
}

const random = createRandom(34);
const NINES = '9'.repeat(240);
const oneOf = (text: readonly string[]) => text[Math.floor(random() * text.length)]!;
const BYTES = [...'ABCXYZabcxyz0189-_.~ %\u00e4\u{1F600}'];

/** Cursors that no list of the platform made, from one that a list made. */
function forged(cursor: string, other: string): string[] {
  const at = () => Math.floor(random() * cursor.length);
  const replaced = Array.from({ length: 30 }, () => {
    const place = at();
    return `${cursor.slice(0, place)}${oneOf(BYTES)}${cursor.slice(place + 1)}`;
  });
  const cut = Array.from({ length: 10 }, () => cursor.slice(0, Math.max(1, at())));
  const inserted = Array.from({ length: 10 }, () => {
    const place = at();
    return `${cursor.slice(0, place)}${oneOf(BYTES)}${cursor.slice(place)}`;
  });
  const digest = cursor.slice(0, 22);
  const unsigned = cursor.slice(22);
  const position = Buffer.from(JSON.stringify([1, 'scope', [NINES, NINES, NINES, NINES]])).toString(
    'base64url',
  );
  return [
    ...[...replaced, ...cut, ...inserted].filter((each) => each !== cursor),
    unsigned,
    other,
    `${other.slice(0, 22)}${unsigned}`,
    `${digest}${position}`,
    position,
    `${'A'.repeat(22)}${unsigned}`,
    NINES,
    `${cursor}=`,
    ` ${cursor}`,
    'A'.repeat(4000),
    'null',
    '[]',
    '0',
    '-1',
  ];
}

describe('cursors', () => {
  it('every list with pages is known', () => {
    const names = paged.map(({ operation }) => operation.id);
    expect(names.length).toBeGreaterThanOrEqual(20);
    expect(names).toEqual(
      expect.arrayContaining([
        'listBacktests',
        'listCatalog',
        'listAudit',
        'getCoverage',
        'mlflowSearchRuns',
      ]),
    );
    const others = operations.filter(({ success, id }) => {
      const shape = (success[200]?.schema as Operation['query'])?.shape ?? {};
      return ('next_cursor' in shape || 'next_page_token' in shape) && !names.includes(id);
    });
    expect(others).toEqual([]);
  });

  it('a body of an operation without pages may have a field of that name', async () => {
    const operation = operations.find(({ id }) => id === 'mlflowCreateModel')!;
    const { list } = await platform();
    expect(await list({ operation, field: 'page_token' }, 'x')).toMatchObject({ status: 200 });
  });

  it.each(paged.map((each) => [each.operation.id, each] as const))(
    '%s accepts its own cursor; forged ones and those of another platform are VAL006 before the list is read',
    async (_, list) => {
      const [own, foreign] = [await platform(), await platform()];
      const name = `next_${list.field}`;
      const first = (await own.list(list)).body[name];
      const other = (await foreign.list(list)).body[name];
      expect(first).not.toBe(other);
      expect((await own.list(list, first)).status).toBe(200);
      expect(own.read).toEqual([undefined, INNER]);
      for (const cursor of forged(first, other)) {
        const { status, body } = await own.list(list, cursor);
        const detail = body.detail ?? {
          code: /\((\w+)\)$/.exec(body.message)?.[1],
          field: list.field,
          message: body.message,
        };
        expect([status, detail.code, detail.field], JSON.stringify(cursor)).toEqual([
          400,
          'VAL006',
          list.field,
        ]);
        expect(detail.message).toContain('start again from the first page');
      }
      expect(own.read).toHaveLength(2);
    },
  );

  it('all processes of a platform share a key, made once and kept in its table', async () => {
    const { registry, series } = await engine.freshTables();
    const processes = Array.from({ length: 8 }, () => storedCursorKey(engine.client, 'registry', registry));
    const keys = await Promise.all(processes.map((read) => read()));
    keys.push(await storedCursorKey(engine.client, 'registry', registry)());
    const texts = keys.map((key) => Buffer.from(key).toString('hex'));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^[0-9a-f]{64}$/);
    const other = await storedCursorKey(engine.client, 'series', series)();
    expect(Buffer.from(other).toString('hex')).not.toBe(texts[0]);
  });
});
