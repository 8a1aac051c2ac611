import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoDeliveryStore, DynamoWebhookStore } from '#adapters/dynamo/webhook-store.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { HttpsSender } from '#adapters/webhooks/https-sender.ts';
import { webhookSignatures } from '#adapters/webhooks/signatures.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { Clock } from '#domain/ports.ts';
import { addDeliveries } from '#domain/webhooks/deliveries.ts';
import { runLane } from '#domain/webhooks/run-lane.ts';
import { webhookMembership } from '#domain/webhooks/webhook-membership.ts';
import type { WebhookRequest, WebhookResponse } from '#domain/webhooks/webhook-ports.ts';
import type { Principal } from '#runtime/authenticate.ts';
import { createService } from '#runtime/service.ts';
import { webhookHandlers } from '#runtime/services/webhooks.ts';
import { memoryAudit } from './audit.ts';
import { fakeHandlers, memoryLog } from './backend.ts';
import { cursorKey } from './cursors.ts';
import type { TestEngine } from './engine.ts';
import { pendingJob } from './jobs.ts';

const START = Date.parse('2026-05-01T12:00:00.000Z');

/** Webhooks over empty tables, with a clock that the test sets, unless it passes one, and receivers that it scripts. */
export async function webhookFixture(engine: TestEngine, real?: Clock) {
  const tables = await engine.freshTables();
  let now = START;
  const clock = real ?? { now: () => now };
  const jobs = new DynamoJobStore(engine.client, tables.jobs);
  const webhooks = new DynamoWebhookStore(engine.client, tables.jobs);
  const deliveries = new DynamoDeliveryStore(engine.client, tables.jobs, clock);
  const events = new DynamoEventLog(engine.client, tables.jobs, clock);
  const done = async () => 'done' as const;
  const none = async () => undefined;
  const noModels = {
    sharing: { find: none, share: done, transfer: done },
    approvals: { read: none },
    hasRun: async () => false,
  };
  const ownership = ownershipOf({
    jobs,
    registry: noModels,
    challenges: { read: async () => undefined },
    webhooks,
  });
  const sent: WebhookRequest[] = [];
  let respond = async (_: WebhookRequest): Promise<Partial<WebhookResponse>> => ({ status: 204 });
  const checks = new HttpsSender({ userAgent: 'test' });
  const sender = {
    urlProblem: (url: string) => checks.urlProblem(url),
    send: async (request: WebhookRequest): Promise<WebhookResponse> => {
      sent.push(request);
      const { status = null, ...more } = await respond(request);
      const error = status !== null && status < 300 ? null : `HTTP ${status}`;
      return { status, error, duration_ms: 1, ...more };
    },
  };
  const { log, lines } = memoryLog();
  const woken: string[] = [];
  const waker = { wake: async (id: string) => void woken.push(id) };
  const deps = {
    webhooks,
    deliveries,
    events,
    ownership,
    sender,
    waker,
    clock,
    log,
    signatures: webhookSignatures,
    ids: ulids,
    digest: sha256,
    eventSource: SOURCE,
    random: () => 0.5,
    cursors: { encode: encodeCursor, decode: decodeCursor },
    maxReplayed: 5,
  };
  let caller: Principal = { id: 'ada', roles: ['researcher'], groups: [] };
  const { audit, calls } = memoryAudit();
  const app = createService(
    'backend',
    { ...fakeHandlers(), webhooks: webhookHandlers(deps) },
    {
      ownership,
      onCaller: webhookMembership(deps),
      audit,
      cursorKey,
      log,
      authenticate: async () => caller,
      checkResponses: true,
    },
  );
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await app.request(`/api/v1/webhooks${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as any) };
  };
  return {
    deps,
    sent,
    calls,
    lines,
    woken,
    call,
    tables,
    as: (principal: Partial<Principal>) => {
      caller = { id: 'ada', roles: ['researcher'], groups: [], ...principal };
    },
    advance: (ms: number) => {
      now += ms;
    },
    now: () => now,
    answer: (next: typeof respond) => {
      respond = next;
    },
    /** ID of a new webhook. */
    create: async (body: object = {}): Promise<any> => {
      const created = await call('POST', '', { url: 'https://hooks.example.com/a', ...body });
      if (created.status !== 201) throw new Error(JSON.stringify(created.body));
      return created.body;
    },
    /** A stored job of a user. */
    job: async (id: string, owner: string) => {
      await jobs.create({ ...pendingJob(id), owner });
    },
    share: (id: string, principal: string) => jobs.sharing.share(id, [], [{ principal, level: 'read' }]),
    /** Logs events and adds their deliveries, as the platform does. */
    publish: async (...published: PlatformEvent[]) => {
      await events.append(published);
      return addDeliveries(deps, published);
    },
    lane: (id: string, worker = 'worker') => runLane(deps, id, worker),
    deliveries: async (id: string) => (await call('GET', `/${id}/deliveries`)).body.items as any[],
  };
}

const SOURCE = 'touchstone/local/1';

/** An event of a backtest. */
export function backtestEvent(jobId: string, sequence = 1, type = 'backtest.started'): PlatformEvent {
  const subject = `backtests/${jobId}`;
  const data = { job_id: jobId, strategy: 's', experiment_name: null, exchange: 'sim', timeframe: '1h' };
  return {
    specversion: '1.0',
    id: `${subject}#${sequence}#${type}`,
    source: SOURCE,
    type,
    subject,
    time: new Date(START + sequence * 1_000).toISOString(),
    datacontenttype: 'application/json',
    sequence,
    data: { ...data, pairs: [] },
  } as unknown as PlatformEvent;
}
