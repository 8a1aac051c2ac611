import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { arnOf, type IamRequest, isAllowed } from '../support/iam.ts';
import { pendingJob } from '../support/jobs.ts';
import { templatesOf } from '../support/stacks.ts';

/** Compares what the overview and the events of jobs send to DynamoDB with the roles of their functions. */

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
  if (command === 'GetItem' || command === 'UpdateItem')
    return [one(command, input.TableName, [keyOf(input.Key)])];
  throw new Error(`${command} is not a read`);
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
    ...['by-list', 'by-list-status', 'by-principal', 'by-principal-status'],
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
