import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL } from '../support/registry-fixture.ts';
import { actionsOf, type Statement, statements, templatesOf } from '../support/stacks.ts';

/** Compares the commands that challenges send to the Registry table with the roles of the functions. */

/** One action on partitions of the table or of one of its indexes. */
interface Sent {
  readonly action: string;
  readonly index: string | undefined;
  readonly keys: readonly string[];
}

let engine: TestEngine;
let client: DynamoDBDocumentClient;
let fixture: ChallengeFixture;
let sent: Sent[] = [];

beforeAll(async () => {
  engine = await startEngine();
  client = createDocumentClient({ endpoint: engine.endpoint });
  client.middlewareStack.add(
    (next, context) => (args) => {
      sent.push(...sentBy(context.commandName!, args.input));
      return next(args);
    },
    { step: 'initialize', priority: 'high' },
  );
  fixture = await challengeFixture(engine, { client });
});
afterAll(async () => {
  client?.destroy();
  await engine?.stop();
});

function sentBy(command: string, input: any): Sent[] {
  const one = (action: string, pk: string, index?: string) => [{ action, index, keys: [pk] }];
  if (command === 'GetItemCommand') return one('GetItem', input.Key.pk);
  if (command === 'PutItemCommand') return one('PutItem', input.Item.pk);
  if (command === 'QueryCommand') {
    const [, placeholder] = /^\w+ = (:\w+)/.exec(input.KeyConditionExpression)!;
    return one('Query', input.ExpressionAttributeValues[placeholder!], input.IndexName);
  }
  if (command === 'BatchGetItemCommand') {
    const keys = Object.values<any>(input.RequestItems).flatMap(({ Keys }) => Keys.map(({ pk }: any) => pk));
    return [{ action: 'BatchGetItem', index: undefined, keys }];
  }
  if (command !== 'TransactWriteItemsCommand') throw new Error(`What does ${command} take?`);
  return input.TransactItems.flatMap(({ Put, Update, ConditionCheck, Delete }: any) => {
    if (Put) return one('PutItem', Put.Item.pk);
    if (Update) return one('UpdateItem', Update.Key.pk);
    return one(ConditionCheck ? 'ConditionCheckItem' : 'DeleteItem', (ConditionCheck ?? Delete).Key.pk);
  });
}

const stage = templatesOf('prod');

/** True when one statement allows the whole request: key conditions apply to a whole request. */
function matches({ Condition = {}, ...statement }: Statement, { action, index, keys }: Sent, effect: string) {
  if (statement.Effect !== effect || !actionsOf(statement).includes(`dynamodb:${action}`)) return false;
  const resources = [statement.Resource].flat().map((resource) => JSON.stringify(resource));
  const isOurs = (text: string) =>
    text.includes('Registry') && (index ? text.includes(`/index/${index}"`) : !text.includes('/index/'));
  if (!resources.some(isOurs)) return false;
  return Object.entries(Condition).every(([operator, condition]) => {
    const patterns = [(condition as any)['dynamodb:LeadingKeys']].flat() as string[];
    const isLike = (key: string) =>
      patterns.some((pattern) =>
        pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
      );
    if (operator === 'ForAllValues:StringLike') return keys.every(isLike);
    expect(operator).toBe('ForAnyValue:StringLike');
    return keys.some(isLike);
  });
}

function deniedTo(role: RegExp, requests: readonly Sent[]): Sent[] {
  const own = statements(stage).filter(({ id }) => role.test(id));
  return requests.filter((request) => {
    const by = (effect: string) => own.some(({ statement }) => matches(statement, request, effect));
    return !by('Allow') || by('Deny');
  });
}

async function recorded(work: () => Promise<unknown>): Promise<Sent[]> {
  sent = [];
  await work();
  expect(sent.length).toBeGreaterThan(0);
  return sent;
}

const tick = () =>
  processDueChallenges(fixture.deps, (_, error) => {
    throw error;
  });

/** Runs every operation of a challenge from creation to promotion, and every list. */
async function everything(): Promise<void> {
  const key = { 'Idempotency-Key': 'created' };
  const created = await fixture.create({ enable_canary: false }, key);
  const id = created.body.challenge_id;
  await fixture.post(id, 'assignments', { assignment_key: 'a' });
  await fixture.log(id, 'champion', [1], { status: 'open', assignment_key: 'b' });
  await fixture.log(id, 'champion', generated(12345, 120, 0));
  await fixture.post(id, 'hold', { reason: 'wait' }, { 'Idempotency-Key': 'held' });
  await fixture.post(id, 'resume');
  await fixture.log(id, 'challenger', generated(67890, 240, 0.6));
  for (const what of ['', '/evaluate', '/trades', '/events', '/evaluations']) await fixture.read(id, what);
  await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=a`);
  await fixture.strategy('GET', `/api/v1/models/${MODEL}/challenges`);
  await fixture.strategy('GET', '/api/v1/challenges');
  const promoted = await fixture.post(id, 'promote', {});
  expect([promoted.status, promoted.body.promoted_at]).toEqual([200, expect.any(String)]);
  for (const end of ['advance', 'rollback']) {
    const { challenge_id } = (await fixture.create({ challenger_version: '1' })).body;
    await fixture.post(challenge_id, end);
    if (end === 'advance') await fixture.post(challenge_id, 'rollback');
  }
}

describe('strategy function', () => {
  test('strategy function may send every command of challenge requests', async () => {
    const requests = await recorded(everything);
    const kinds = new Set(requests.map(({ action }) => action));
    expect([...kinds].sort()).toEqual(['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem']);
    expect(deniedTo(/^StrategyServiceRole/, requests)).toEqual([]);
    // The role of the service does not allow the index that only repair runs read.
    expect(deniedTo(/^StrategyServiceRole/, await recorded(tick)).map(({ index }) => index)).toEqual([
      'active-challenges',
    ]);
  });
});

describe('repair function', () => {
  test('repair function may send every command of challenge processing, and no idempotency or audit write', async () => {
    await fixture.register();
    await fixture.stage('3');
    const { body } = await fixture.create({
      champion_version: '2',
      challenger_version: '3',
      enable_canary: false,
      auto_promote: true,
      max_duration_hours: 1,
    });
    expect(body.status, JSON.stringify(body)).toBe('active');
    const requests = await recorded(async () => {
      fixture.clock.forward(HOUR);
      expect(await tick()).toMatchObject({ changed: [body.challenge_id] });
    });
    expect(requests).toContainEqual({
      action: 'Query',
      index: 'active-challenges',
      keys: ['unfinished'],
    });
    expect(deniedTo(/^RepairServiceRole/, requests)).toEqual([]);
    const others = ['IDEM#ada', 'AUDIT#2026-06', 'SHARE#x'].map((pk) => ({
      action: 'PutItem',
      index: undefined,
      keys: [pk],
    }));
    expect(deniedTo(/^RepairServiceRole/, others)).toEqual(others);
  });

  test('repair function may send every command of an automatic promotion', async () => {
    const requests = await recorded(() => fixture.promote('3'));
    expect(requests.map(({ keys }) => keys[0])).toContain('CATALOG');
    expect(deniedTo(/^RepairServiceRole/, requests)).toEqual([]);
  });
});
