import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { modelKey } from '#adapters/dynamo/registry-item.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { StoredWebhook } from '#contract/platform/stored-webhook.ts';
import { CodedError } from '#contract/values/errors.ts';
import { documentedErrors, type Operation } from '#contract/values/operation.ts';
import { OWNED_RESOURCES, type ResourceKind } from '#contract/values/sharing.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { lazy } from '#domain/shared/lazy.ts';
import type { Principal } from '#runtime/authenticate.ts';
import { createService, type ServiceApp } from '#runtime/service.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog } from '../support/backend.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingJob } from '../support/jobs.ts';
import { storedApproval } from '../support/stored-approval.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

const operations: readonly Operation[] = OPERATIONS;
const named = operations.filter(({ resource }) => resource);

const SHARED: Grant[] = [
  { principal: 'user:reader', level: 'read' },
  { principal: 'group:writers', level: 'write' },
];
/** One resource of each kind; `job` is true for items of the Jobs table. */
const SOME: Record<ResourceKind, { readonly id: string; readonly job: boolean }> = {
  backtest: { id: 'bt-1', job: true },
  hyperopt: { id: 'ho-1', job: true },
  model: { id: 'ema_crossover', job: false },
  challenge: { id: 'ch-1', job: false },
  approval: { id: 'ap-1', job: false },
  signals: { id: 'sg-1', job: false },
  webhook: { id: 'wh-1', job: false },
};

const engine = fileEngine();
let apps: Record<string, ServiceApp>;
let caller: Principal;
beforeAll(async () => {
  const { client, tables } = engine;
  for (const [kind, { id, job }] of Object.entries(SOME)) {
    if (['challenge', 'approval', 'webhook', 'signals'].includes(kind)) continue;
    const owned = { owner: 'owner', shared_with: SHARED };
    const Item = job
      ? { ...pendingJob(id), ...owned, kind, item: 'JOB' }
      : { ...modelKey(id), ...STORED_MODEL, ...owned, model_name: id };
    await client.send(new PutCommand({ TableName: job ? tables.jobs : tables.registry, Item }));
  }
  const ownership = ownershipOf({
    jobs: new DynamoJobStore(client, tables.jobs),
    registry: {
      sharing: new DynamoRegistryStore(client, tables.registry).sharing,
      hasRun: async () => false,
      approvals: {
        read: async (id) =>
          id === SOME.approval.id ? storedApproval({ model_name: SOME.model.id }) : undefined,
      },
    },
    challenges: {
      read: async (id) =>
        id === SOME.challenge.id ? storedChallenge({ model_name: SOME.model.id }) : undefined,
    },
    signals: {
      sharing: {
        find: async (id) => (id === SOME.signals.id ? { owner: 'owner', shared_with: SHARED } : undefined),
        share: async () => 'done',
        transfer: async () => 'done',
      },
    },
    webhooks: {
      find: async (id) =>
        id === SOME.webhook.id
          ? ({ owner: 'owner', shared_with: SHARED } as unknown as StoredWebhook)
          : undefined,
      change: async () => 'done',
    },
  });
  const host = { log: memoryLog().log, audit: memoryAudit().audit, authenticate: async () => caller };
  const open = (service: 'backend' | 'strategy') =>
    createService(service, REACHED as never, { ...host, ownership });
  apps = { backend: open('backend'), strategy: open('strategy') };
});

const AT = '2026-05-01T00:00:00.000Z';
const STORED_MODEL = {
  schema_version: 2,
  production_version: null,
  latest_version: 1,
  active_challenge_id: null,
  revision: 0,
  events: 1,
  last_event_id: 'e',
  created_at: AT,
  updated_at: AT,
};

/** Handlers of any group and name that throw HTTP429, to show that they were reached. */
const REACHED = lazy(async () => {
  throw new CodedError('HTTP429');
});

/** Bodies that pass the validation. */
const BODIES: Record<string, unknown> = {
  shareBacktest: { shared_with: [] },
  shareModel: { shared_with: [] },
  shareSignals: { shared_with: [] },
  shareHyperopt: { shared_with: [] },
  requestApproval: { action: 'promote', version: 1, reason: 'why' },
  createChallenge: { champion_version: 1, challenger_version: 2 },
  assignKey: { assignment_key: 'key' },
  logTrades: { trades: [] },
  replayWebhook: { since: '2026-01-01' },
};

/** Required queries by operation. */
const QUERIES: Record<string, string> = {
  compareVersions: '?version_a=1&version_b=2',
  routeKey: '?key=1',
};

async function codeOf(operation: Operation, as: Partial<Principal>, id: string): Promise<string> {
  caller = { id: 'stranger', roles: ['approver'], groups: [], ...as };
  const { resource, path, method, service } = operation;
  const address = path.replace(`{${resource!.id}}`, id).replaceAll(/\{\w+\}/g, '1');
  const body = operation.body && JSON.stringify(BODIES[operation.id] ?? { version: 1 });
  const headers = { 'content-type': 'application/json' };
  const query = QUERIES[operation.id] ?? '';
  const response = await apps[service]!.request(address + query, { method, headers, ...(body && { body }) });
  const { detail, message } = (await response.json()) as { detail?: { code: string }; message: string };
  return detail?.code ?? /\((\w+)\)$/.exec(message)![1]!;
}

describe.each(named.map((operation) => [operation.id, operation] as const))(
  'access to the resource of %s',
  (_, operation) => {
    const { kind, level } = operation.resource!;
    const { id } = SOME[kind];
    const rank = { read: 0, write: 1, owner: 2 }[level];
    // Webhooks belong to one user: grants, if any were stored, do not count.
    const mayBeShared = kind !== 'webhook';

    it.each([
      ['a stranger', {}, -1],
      ['a stranger of the owner’s group', { groups: ['owner', 'user:reader'] }, -1],
      ['a reader', { id: 'reader' }, 0],
      ['a writer', { groups: ['writers'] }, 1],
      ['a user with the name of that group', { id: 'writers' }, -1],
      ['its owner', { id: 'owner' }, 2],
      ['an admin', { roles: ['admin'] }, 2],
    ] as const)('access check applies to %s', async (_, as, reach) => {
      expect(await codeOf(operation, as as Partial<Principal>, id)).toBe(
        (mayBeShared || reach === 2 ? reach : -1) >= rank ? 'HTTP429' : 'AUTH005',
      );
    });

    it('missing resource returns its documented code', async () => {
      const { unknown } = OWNED_RESOURCES[kind];
      expect(await codeOf(operation, {}, `${id}0`)).toBe(unknown);
      const codes = documentedErrors(operation).map(({ code }) => code);
      expect(codes).toEqual(expect.arrayContaining(['AUTH005', unknown]));
    });
  },
);

describe('owned resources of operations', () => {
  /** Path variables of owned resources, except in operations whose resource has no owner yet. */
  const OWNED = ['job_id', 'model_name', 'challenge_id', 'approval_id', 'webhook_id', 'signals_id', 'name'];
  /** A reader may request what an approver decides, and the use case of a withdrawal checks the requester. */
  const OF_READERS = ['requestApproval', 'withdrawRequest'];
  const NOBODYS = ['getStrategy', 'registerStrategy'];

  it.each(operations.filter(({ id }) => !NOBODYS.includes(id)).map((each) => [each.id, each] as const))(
    'operation %s declares the owned resource of its path',
    (_, { id, path, resource, access, method }) => {
      const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      expect(resource?.id).toBe(variables.find((name) => OWNED.includes(name)));
      if (!resource) return;
      expect(access).not.toBe('public');
      expect(resource.level === 'read').toBe(method === 'GET' || OF_READERS.includes(id));
    },
  );

  it('service without ownership does not start', () => {
    const host = { log: memoryLog().log, audit: memoryAudit().audit, authenticate: async () => caller };
    expect(() => createService('backend', REACHED as never, host)).toThrow('names owned resources');
  });
});
