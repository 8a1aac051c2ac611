import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { RegistryStore, StageTransition } from '#domain/transitions/registry-store.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { type Answer, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';
import { Invariants } from '../../support/registry-invariants.ts';
import { withMethods } from '../../support/wrapped-store.ts';

const engine = fileEngine();

type Headers = Record<string, string>;
interface Case {
  readonly prepare: (fixture: RegistryFixture) => Promise<unknown>;
  readonly call: (fixture: RegistryFixture, headers?: Headers) => Promise<Answer>;
  readonly status: number;
}

const twoReleases = async (fixture: RegistryFixture) => {
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
    await fixture.promote(version);
  }
};

const CASES: Record<string, Case> = {
  'the first register': {
    prepare: async () => undefined,
    call: (fixture, headers) => fixture.register({}, headers),
    status: 201,
  },
  'a later register': {
    prepare: (fixture) => fixture.register(),
    call: (fixture, headers) => fixture.register({}, headers),
    status: 201,
  },
  stage: {
    prepare: (fixture) => fixture.register(),
    call: (fixture, headers) => fixture.stage(1, {}, headers),
    status: 200,
  },
  promote: {
    prepare: async (fixture) => {
      await twoReleases(fixture);
      await fixture.register();
      await fixture.stage(3);
    },
    call: (fixture, headers) => fixture.promote(3, {}, headers),
    status: 200,
  },
  rollback: {
    prepare: twoReleases,
    call: (fixture, headers) => fixture.rollback(1, {}, headers),
    status: 200,
  },
  stop: {
    prepare: twoReleases,
    call: (fixture, headers) => fixture.stop('2', {}, headers),
    status: 200,
  },
};

/** Fixture whose next commit fails before or after the transaction. */
async function failingFixture() {
  let fail: 'before' | 'after' | null = null;
  const down = () => new CodedError('SVC005');
  const wrap = (store: RegistryStore) =>
    withMethods(store, {
      commit: async (transition: StageTransition) => {
        const when = fail;
        fail = null;
        if (when === 'before') throw down();
        const outcome = await store.commit(transition);
        if (when === 'after') throw down();
        return outcome;
      },
    });
  const fixture = await registryFixture(engine, { wrap });
  return {
    fixture,
    failNext: (when: 'before' | 'after') => {
      fail = when;
    },
  };
}

describe.each(Object.entries(CASES))('%s', (_, { prepare, call, status }) => {
  it('call that crashes before its transaction changes nothing and applies fully on retry', async () => {
    const { fixture, failNext } = await failingFixture();
    await prepare(fixture);
    const before = await fixture.items();
    failNext('before');
    expect(await call(fixture)).toMatchObject({ status: 503, body: { detail: { code: 'SVC005' } } });
    expect(await fixture.items()).toEqual(before);
    expect((await call(fixture)).status).toBe(status);
    await new Invariants(fixture).check();
  });

  it('call that crashes after its transaction returns the same response on retry with its key', async () => {
    const { fixture, failNext } = await failingFixture();
    await prepare(fixture);
    const before = await fixture.items();
    const headers = { 'Idempotency-Key': 'k-1' };
    failNext('after');
    expect((await call(fixture, headers)).status).toBe(503);
    const after = await fixture.items();
    expect(after).not.toEqual(before);
    await new Invariants(fixture).check();
    const repeat = await call(fixture, headers);
    expect(repeat.status).toBe(status);
    expect(repeat.headers.get('Idempotent-Replay')).toBe('true');
    expect(await fixture.items()).toEqual(after);
  });
});

describe.each(['stage', 'promote', 'rollback', 'stop'])('%s without a key', (name) => {
  it('retry returns 200 without a second transition after a lost response', async () => {
    const { fixture, failNext } = await failingFixture();
    const { prepare, call } = CASES[name]!;
    await prepare(fixture);
    failNext('after');
    expect((await call(fixture)).status).toBe(503);
    const after = await fixture.items();
    expect((await call(fixture)).status).toBe(200);
    expect(await fixture.items()).toEqual(after);
  });
});

/** Client that loses the reply of its first transaction, so that the SDK sends it again. */
function clientThatLosesAReply(options: { readonly newToken: boolean }) {
  const client = createDocumentClient({ endpoint: engine.endpoint, unavailable: 'SVC005' });
  const sent: string[] = [];
  client.middlewareStack.addRelativeTo(
    (next: (args: any) => Promise<any>) => async (args: any) => {
      const isMove = (args.request as { headers?: Headers }).headers?.['x-amz-target']?.endsWith(
        'TransactWriteItems',
      );
      if (!isMove) return next(args);
      const request = args.request as { body: string | Uint8Array; headers: Headers };
      const text = request.body instanceof Uint8Array ? new TextDecoder().decode(request.body) : request.body;
      sent.push(JSON.parse(text).ClientRequestToken);
      if (sent.length === 2 && options.newToken) {
        request.body = text.replace(
          `"ClientRequestToken":"${sent[0]}"`,
          `"ClientRequestToken":"${'x'.repeat(26)}"`,
        );
      }
      const result = await next(args);
      if (sent.length > 1) return result;
      throw Object.assign(new Error('the connection was closed'), {
        code: 'ECONNRESET',
        name: 'TimeoutError',
      });
    },
    { relation: 'after', toMiddleware: 'retryMiddleware', name: 'loseAReply' },
  );
  return { client, sent };
}

it.each([
  ['the database knows the token of', false],
  ['the database no longer knows', true],
])(
  'transaction applies once when the reply is lost: %s the transaction that the SDK repeats',
  async (_, newToken) => {
    const { client, sent } = clientThatLosesAReply({ newToken });
    const fixture = await registryFixture(engine, { client });
    const { status, body } = await fixture.register();
    expect({ status, version: body.version }).toEqual({ status: 201, version: '1' });
    expect(sent).toHaveLength(2);
    expect(sent[0]).toBe(sent[1]);
    await new Invariants(fixture).check();
    client.destroy();
  },
);

/** Change of a transition that assumes another state of its version. */
function spoilBefore({ versions: [change] }: StageTransition, changes: Partial<StoredVersion>) {
  return [{ ...change!, before: { ...change!.before!, ...changes } }];
}

describe('registry transaction', () => {
  it.each([
    [
      'the model',
      (transition: StageTransition) => ({ ...transition, model: { ...transition.model, before: null } }),
    ],
    [
      'the order of events',
      (transition: StageTransition) => ({
        ...transition,
        model: { ...transition.model, before: { ...transition.model.before!, events: 99 } },
      }),
    ],
    [
      'the stage of the version',
      (transition: StageTransition) => ({
        ...transition,
        versions: spoilBefore(transition, { stage: 'Archived' }),
      }),
    ],
    [
      'the validation of the version',
      (transition: StageTransition) => ({
        ...transition,
        versions: spoilBefore(transition, { validation: { status: 'failed', checks: [], job_id: null } }),
      }),
    ],
    [
      'the version that leaves Production',
      (transition: StageTransition) => ({
        ...transition,
        archived: { ...transition.archived!, version: '1' },
      }),
    ],
    [
      'the event',
      (transition: StageTransition) => ({
        ...transition,
        event: {
          ...transition.event,
          sequence: transition.event.sequence - 1,
          at: transition.model.before!.updated_at,
        },
      }),
    ],
  ])('registry transaction stores nothing when %s has changed', async (_, spoil) => {
    let spoilt = false;
    const wrap = (store: RegistryStore) =>
      withMethods(store, { commit: (transition) => store.commit(spoilt ? spoil(transition) : transition) });
    const fixture = await registryFixture(engine, { wrap });
    await CASES.promote!.prepare(fixture);
    const before = await fixture.items();
    spoilt = true;
    const { status, body } = await fixture.promote(3);
    expect(status).toBe(409);
    expect(body.detail).toMatchObject({ code: 'RES005', context: { current_production: '2' } });
    expect(await fixture.items()).toEqual(before);
  });
});

it('transition fails after 21 attempts with exponential backoff', async () => {
  const pauses: number[] = [];
  let commits = 0;
  const wrap = (store: RegistryStore) =>
    withMethods(store, {
      commit: async () => {
        commits++;
        return 'conflict';
      },
    });
  const sleep = async (ms: number) => pauses.push(ms);
  const fixture = await registryFixture(engine, { wrap, deps: { sleep, random: () => 0.5 } });
  const { status, body } = await fixture.register();
  expect({ status, code: body.detail.code, commits }).toEqual({ status: 409, code: 'RES005', commits: 21 });
  expect(pauses).toEqual([15, 30, 60, 120, 240, ...Array(15).fill(480)]);
});

it('transition writes exactly one transaction', async () => {
  const client = createDocumentClient({ endpoint: engine.endpoint });
  const sent: string[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      sent.push(context.commandName ?? '');
      return next(args);
    },
    { step: 'initialize', name: 'count' },
  );
  const fixture = await registryFixture(engine, { client });
  const commandsOf = async (call: Promise<Answer>) => {
    sent.length = 0;
    expect((await call).status).toBeLessThan(300);
    return sent.splice(0);
  };
  const transaction = TransactWriteCommand.name.replace('Command', 'ItemsCommand');
  const once = ['BatchGetItemCommand', transaction];
  // Entering Production may end a challenge of the model.
  const ending = ['BatchGetItemCommand', 'QueryCommand', transaction];
  const key = { 'Idempotency-Key': 'a' };
  // The warning of a run that was rolled back or stopped is read afterwards.
  const warned = ['QueryCommand'];
  expect(await commandsOf(fixture.register())).toEqual([...once, ...warned]);
  expect(await commandsOf(fixture.stage(1))).toEqual([...once, ...warned]);
  expect(await commandsOf(fixture.promote(1))).toEqual([...ending, ...warned]);
  await fixture.register();
  await fixture.stage(2);
  // A promotion with every option still takes few reads and one transaction.
  expect(
    await commandsOf(
      fixture.promote(2, { expected_production: '1', comment: 'c', challenge_id: 'ch-1' }, key),
    ),
  ).toEqual([...ending, ...warned]);
  expect(await commandsOf(fixture.rollback(1))).toEqual(ending);
  expect(await commandsOf(fixture.stop(1))).toEqual(['BatchGetItemCommand', ...ending]);
  expect(await commandsOf(fixture.rollback(1))).toEqual(ending);
  expect(
    await commandsOf(
      fixture.promote(2, { expected_production: '1', comment: 'c', challenge_id: 'ch-1' }, key),
    ),
  ).toEqual(['BatchGetItemCommand', ...warned, 'BatchGetItemCommand']);
  client.destroy();
});
