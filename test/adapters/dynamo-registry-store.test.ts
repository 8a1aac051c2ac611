import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { encodeCursor } from '#adapters/dynamo/cursor.ts';
import { idempotencyKey, modelKey, sortableNumber } from '#adapters/dynamo/registry-item.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { ulids } from '#adapters/ids.ts';
import { planTransition } from '#domain/transitions/plan-transition.ts';
import type { StageTransition } from '#domain/transitions/registry-store.ts';
import { fileEngine } from '../support/file-engine.ts';
import { storedVersion } from '../support/stored-version.ts';

const engine = fileEngine();
let store: DynamoRegistryStore;
beforeAll(async () => {
  store = new DynamoRegistryStore(engine.client, engine.tables.registry);
});

const AT = '2026-05-01T00:00:00.000Z';
const call = {
  actor: { id: 'someone', groups: [], isAdmin: false },
  idempotencyKey: null,
  correlationId: 'c',
};

/** The registration of version 1 of a model. */
function registration(model: string): StageTransition {
  const version = storedVersion('1', { model_name: model, stage: 'None' });
  const change = { action: 'register', call, at: AT, before: null, version } as const;
  return planTransition({ ids: ulids }, null, change);
}

type Middleware = (next: (args: any) => Promise<any>, context: any) => (args: any) => Promise<any>;

/** Store on a client with middleware. */
function storeWith(middleware: Middleware): DynamoRegistryStore {
  const client: DynamoDBDocumentClient = createDocumentClient({
    endpoint: engine.endpoint,
    unavailable: 'SVC005',
  });
  client.middlewareStack.add(middleware as never, { step: 'initialize', name: 'test', priority: 'low' });
  return new DynamoRegistryStore(client, engine.tables.registry);
}

const failing = (error: Error) =>
  storeWith(() => async () => {
    throw error;
  });

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

describe('cancelled transaction', () => {
  it.each([[['ConditionalCheckFailed', 'None']], [['None', 'TransactionConflict']]])(
    'commit returns conflict for the cancellation reasons %j',
    async (codes) => {
      expect(await failing(cancelled(...codes)).commit(registration('m'))).toBe('conflict');
    },
  );

  it.each([
    ['by throttling', cancelled('None', 'ThrottlingError')],
    ['by its provisioned throughput', cancelled('ProvisionedThroughputExceeded')],
    [
      'while its first attempt is in progress',
      Object.assign(new Error('in progress'), { name: 'TransactionInProgressException' }),
    ],
  ])('cancelled transaction %s is SVC005', async (_, error) => {
    await expect(failing(error).commit(registration('m'))).rejects.toMatchObject({ code: 'SVC005' });
  });

  it('commit throws an unknown cancellation reason unchanged', async () => {
    const error = cancelled('None', 'ValidationError');
    await expect(failing(error).commit(registration('m'))).rejects.toBe(error);
  });
});

it('commit returns conflict when the model read is newer than the version', async () => {
  await store.commit(registration('torn'));
  const { model, versions } = await store.read('torn', ['1']);
  const before = versions.get('1')!;
  const version = { ...before, stage: 'Production' as const };
  const archived = { version: '1', at: AT, rolledBack: null };
  const newer = { ...model!, production_version: '1' };
  const transition = planTransition({ ids: ulids }, newer, {
    action: 'promote',
    call,
    at: AT,
    before,
    version,
    archived,
  });
  expect(await store.commit(transition)).toBe('conflict');
  expect((await store.read('torn', ['1'])).versions.get('1')).toEqual(before);
});

describe('idempotency record', () => {
  const record = {
    principal: 'p',
    key: 'kept',
    request_digest: 'd',
    body: { a: null },
    stored_at: 100,
    expires_at: 200,
  };

  it('idempotency record conflicts with an unexpired or concurrent one', async () => {
    expect(await store.saveIdempotencyRecord(record)).toBe('done');
    expect((await store.read('m', [], record)).idempotencyRecord).toEqual(record);
    expect(await store.saveIdempotencyRecord({ ...record, stored_at: 199, expires_at: 299 })).toBe(
      'conflict',
    );
    expect(await store.saveIdempotencyRecord({ ...record, stored_at: 200, expires_at: 300 })).toBe('done');
    const conflict = new TransactionConflictException({ message: 'conflict', $metadata: {} });
    expect(await failing(conflict).saveIdempotencyRecord(record)).toBe('conflict');
  });
});

describe('DynamoRegistryStore read', () => {
  it('registry read retries unprocessed keys', async () => {
    await store.commit(registration('left_out'));
    let asked = 0;
    const leavesOut = (times: number) =>
      storeWith((next) => async (args) => {
        if (asked++ >= times) return next(args);
        return { output: { Responses: {}, UnprocessedKeys: args.input.RequestItems } };
      });
    const state = await leavesOut(2).read('left_out', ['1']);
    expect(asked).toBe(3);
    expect([state.model?.latest_version, state.versions.get('1')?.version]).toEqual([1, '1']);
  });

  it('registry read sends one request for any number of items', async () => {
    const commands: string[] = [];
    const counting = storeWith((next, { commandName }) => (args) => {
      commands.push(commandName);
      return next(args);
    });
    await counting.read('left_out', ['1', '2', '1'], { principal: 'p', key: 'k' });
    expect(commands).toEqual(['BatchGetItemCommand']);
  });

  it('registry read rejects an invalid item with its key and the field', async () => {
    const Item = { ...modelKey('broken'), schema_version: 2, model_name: 'broken' };
    await engine.client.send(new PutCommand({ TableName: engine.tables.registry, Item }));
    await expect(store.read('broken', [])).rejects.toMatchObject({
      code: 'SVC001',
      message: expect.stringContaining('MODEL#broken META cannot be read: owner: '),
    });
  });
});

it('history rejects a cursor of another model', async () => {
  await store.commit(registration('paged'));
  const model = (await store.read('paged', [])).model!;
  const version = storedVersion('1', { model_name: 'paged' });
  const change = {
    action: 'stage',
    call,
    at: AT,
    before: (await store.read('paged', ['1'])).versions.get('1')!,
    version,
  } as const;
  const transition = planTransition({ ids: ulids }, model, change);
  expect(await store.commit(transition)).toBe('done');
  const { items, next } = await store.history('paged', 1, null);
  expect(items.map(({ action }) => action)).toEqual(['stage']);
  const rest = await store.history('paged', 1, next);
  expect({ actions: rest.items.map(({ action }) => action), next: rest.next }).toEqual({
    actions: ['register'],
    next: null,
  });
  await expect(store.history('other', 1, next)).rejects.toMatchObject({ code: 'VAL006' });
  // Forged cursors at keys that are not events.
  for (const position of ['META', 'VERSION#000001', 'EVENT#', 'x']) {
    const made = encodeCursor([position], { list: 'history', model: 'paged' });
    await expect(store.history('paged', 1, made)).rejects.toMatchObject({ code: 'VAL006' });
  }
});

it('idempotency key differs for every pair of principal and key', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', '#') }), { minLength: 4, maxLength: 4 }),
      (t) => {
        const [a, b] = [
          idempotencyKey({ principal: t[0]!, key: t[1]! }),
          idempotencyKey({ principal: t[2]!, key: t[3]! }),
        ];
        const same = t[0] === t[2] && t[1] === t[3];
        expect(a.pk === b.pk && a.sk === b.sk).toBe(same);
      },
    ),
  );
});

it('sortableNumber strings sort in numeric order', () => {
  const number = fc.double({ noNaN: true });
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [x, y] = [sortableNumber(a), sortableNumber(b)];
      expect(x).toMatch(/^[0-9a-f]{16}$/);
      expect(x < y ? -1 : x > y ? 1 : 0).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});
