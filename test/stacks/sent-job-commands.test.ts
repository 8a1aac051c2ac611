import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamoJobRetention } from '#adapters/dynamo/job-retention.ts';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import type { ResultStore } from '#domain/ports.ts';
import { removeDeleted } from '#domain/retention/remove-deleted.ts';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { arnOf, type IamRequest, isAllowed } from '../support/iam.ts';
import { pendingJob } from '../support/jobs.ts';
import { templatesOf } from '../support/stacks.ts';

/** Compares what the overview, the events of jobs, experiments and deletions send to DynamoDB with the roles of their functions. */

const stage = templatesOf('prod');
let fixture: AccessFixture;
let [ann, admin] = [] as unknown as [Person, Person];
let sent: IamRequest[] = [];
let isRecording = false;
beforeAll(async () => {
  fixture = await accessFixture();
  [ann, admin] = [fixture.person('ann', 'researcher', ['desk']), fixture.person('root', 'admin')];
  fixture.client.middlewareStack.add(
    (next, context) => (args) => {
      if (isRecording) sent.push(...requestsOf(context.commandName!.replace('Command', ''), args.input));
      return next(args);
    },
    { step: 'initialize', priority: 'high' },
  );
});
afterAll(() => fixture?.stop());

function requestsOf(command: string, input: any): IamRequest[] {
  const one = (action: string, table: string, keys: readonly unknown[], index?: string): IamRequest => {
    const store = (
      { [fixture.jobsTable]: 'Jobs', [fixture.registryTable]: 'Registry' } as Record<string, 'Jobs'>
    )[table];
    return {
      action: `dynamodb:${action}`,
      resource: arnOf(store ?? 'Series', index && `index/${index}`),
      context: { 'dynamodb:LeadingKeys': keys.map(String) },
    };
  };
  const keyOf = ({ job_id, pk, exchange }: any) => job_id ?? pk ?? exchange;
  if (command === 'Query') {
    const [, placeholder] = / = (:\w+)/.exec(input.KeyConditionExpression)!;
    return [one(command, input.TableName, [input.ExpressionAttributeValues[placeholder!]], input.IndexName)];
  }
  if (command === 'BatchGetItem') {
    return Object.entries<any>(input.RequestItems).map(([table, { Keys }]) =>
      one(command, table, Keys.map(keyOf)),
    );
  }
  if (command === 'TransactWriteItems') return input.TransactItems.flatMap(requestsOfAction);
  if (command === 'PutItem') return [one(command, input.TableName, [keyOf(input.Item)])];
  if (['GetItem', 'UpdateItem', 'DeleteItem'].includes(command))
    return [one(command, input.TableName, [keyOf(input.Key)])];
  throw new Error(`Which requests does ${command} take?`);
}

/** DynamoDB checks each action of a transaction as if it were sent alone. */
function requestsOfAction(action: any): IamRequest[] {
  const [[name, input]] = Object.entries<any>(action) as [[string, any]];
  const commands: Record<string, string> = { Put: 'PutItem', Update: 'UpdateItem', Delete: 'DeleteItem' };
  if (commands[name]) return requestsOf(commands[name], input);
  expect(name).toBe('ConditionCheck');
  return requestsOf('GetItem', input).map((request) => ({
    ...request,
    action: 'dynamodb:ConditionCheckItem',
  }));
}

async function deniedTo(role: RegExp, work: () => Promise<unknown>): Promise<string[]> {
  sent = [];
  isRecording = true;
  await work().finally(() => {
    isRecording = false;
  });
  expect(sent.length).toBeGreaterThan(4);
  const denied = sent.filter((request) => !isAllowed(stage, role, request));
  return [...new Set(denied.map(({ action, resource }) => `${action} ${resource}`))];
}

/** Reads all that a stream reads. The jobs of its cursor are not visible to the caller, so that it ends immediately. */
async function readEvents(person: Person): Promise<void> {
  const cursor = `${Date.now()},bt-hidden,ho-hidden,co-hidden`;
  expect((await person.get(`/api/v1/events?after=${cursor}`)).status).toBe(204);
}

test('function of job events may send every read of a stream', async () => {
  const denied = await deniedTo(/^JobEventsRole/, async () => {
    await readEvents(admin);
    await readEvents(ann);
  });
  expect(denied).toEqual([]);
  const indexes = sent.flatMap(({ resource }) => /index\/([\w-]+)$/.exec(resource)?.[1] ?? []);
  expect([...new Set(indexes)].sort()).toEqual([
    'by-list',
    'by-list-status',
    'by-principal',
    'by-principal-status',
  ]);
  // It reads jobs of its callers only, and changes none.
  const role = /^JobEventsRole/;
  for (const action of ['UpdateItem', 'PutItem', 'DeleteItem'])
    expect(isAllowed(stage, role, { action: `dynamodb:${action}`, resource: arnOf('Jobs') })).toBe(false);
});

test('backend may send every read of the overview', async () => {
  await fixture.backtest('ann', { config: pendingJob('bt-0').config }, 'running');
  const run = await fixture.backtest('ann', { config: pendingJob('bt-0').config }, 'completed');
  await fixture.hyperoptJobs.create({ ...pendingHyperopt('ho-1'), owner: 'ann' });
  expect((await ann.register(run, 'ema_crossover')).status).toBeLessThan(300);
  const denied = await deniedTo(/^BackendRole/, async () => {
    for (const person of [ann, admin]) {
      expect((await person.get('/api/v1/overview')).body.missing).toEqual([]);
    }
  });
  expect(denied).toEqual([]);
  const tables = new Set(sent.map(({ resource }) => resource.split('/')[1]));
  expect(tables).toEqual(new Set(['Jobs', 'Registry', 'Series']));
});

const CONFIG = {
  strategy: 'ema_crossover',
  exchange: 'sim',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2024-01-01', end: '2024-02-01' },
};
const actions = () => new Set(sent.map(({ action }) => action.replace('dynamodb:', '')));
const partitions = () => new Set(sent.flatMap(({ context }) => context?.['dynamodb:LeadingKeys'] ?? []));

test('backend may send every command of experiments and of a deletion', async () => {
  const denied = await deniedTo(/^BackendRole/, async () => {
    const body = { config: CONFIG, experiment_name: 'averages' };
    const submitted = await ann.post('/api/v1/backtests', body);
    expect(submitted.status, JSON.stringify(submitted.body)).toBe(201);
    const path = `/api/v1/backtests/${submitted.body.job_id}`;
    expect((await ann.post(`${path}/cancel`)).status).toBe(200);
    expect((await ann.patch(path, { notes: 'no', tags: ['old'] })).status).toBe(200);
    // Twice: the first read records that the job has ended.
    for (let read = 0; read < 2; read++) {
      const { items } = (await ann.get('/api/v1/experiments')).body;
      expect(items).toMatchObject([{ name: 'averages', unfinished: 0 }]);
    }
    expect((await ann.delete(path)).status).toBe(204);
    expect((await ann.get('/api/v1/experiments')).body.items).toEqual([]);
  });
  expect(denied).toEqual([]);
  expect([...actions()]).toEqual(expect.arrayContaining(['GetItem', 'PutItem', 'Query', 'UpdateItem']));
  expect([...partitions()]).toEqual(expect.arrayContaining(['#experiments#ann', '#deleted']));
});

test('strategy service may put a hyperopt job into its experiment', async () => {
  const denied = await deniedTo(/^StrategyServiceRole/, async () => {
    const started = await ann.strategy('POST', '/api/v1/hyperopt', {
      ...CONFIG,
      experiment_name: 'averages',
      spaces: ['params'],
      n_trials: 10,
      models: 'none',
    });
    expect(started.status, JSON.stringify(started.body)).toBe(200);
  });
  expect(denied).toEqual([]);
  expect([...partitions()]).toContain('#experiments#ann');
});

test('repair may remove the data of a deleted job', async () => {
  const run = await fixture.backtest('ann', { experiment_name: 'averages' }, 'completed');
  expect((await ann.delete(`/api/v1/backtests/${run}`)).status).toBe(204);
  const retention = new DynamoJobRetention(fixture.client, fixture.jobsTable);
  const clock = { now: () => Date.now() + 3_600_000 };
  const results = { remove: async () => {} } as unknown as ResultStore;
  const denied = await deniedTo(/^RepairServiceRole/, async () => {
    const failed = (_: string, error: unknown) => {
      throw error;
    };
    expect(await removeDeleted({ retention, results, clock }, failed)).toBeGreaterThan(0);
  });
  expect(denied).toEqual([]);
  expect([...actions()]).toContain('DeleteItem');
});

test.each(['Repair', 'Dispatcher'])('%s may count the trials of a cancelled job', async (name) => {
  const trials = new DynamoOwnerTrials(fixture.client, fixture.jobsTable);
  const of = { strategy: 'ema_crossover', simulated: true, start: 0, end: 1, assets: ['BTC'] };
  const results = ['0123456789ab', '123456789abc'].map((digest) => ({ digest, sharpe: 0.1 }));
  const denied = await deniedTo(new RegExp(`^${name}ServiceRole`), async () => {
    await trials.count(name, { ...of, session: 'monday' }, results);
    for (const result of results) await trials.count(name, { ...of, session: null }, [result]);
  });
  expect(denied).toEqual([]);
  expect([...actions()].sort()).toEqual(['PutItem', 'Query', 'UpdateItem']);
  expect([...partitions()]).toEqual([`#trials#${name}`]);
});
