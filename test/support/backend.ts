import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { fixedStrategies } from '#adapters/strategies/known-strategies.ts';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import type { GroupsOf } from '#contract/operations/operations.ts';
import { DEFAULT_RELEASE_RULES } from '#contract/registry/release-rules.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Ownership } from '#domain/access/access.ts';
import type { Strategies } from '#domain/config/strategy-ports.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { JobStore } from '#domain/ports.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { Handlers } from '#runtime/handler.ts';
import type { Log } from '#runtime/log.ts';
import { createService, type ServiceApp, type ServiceDeps } from '#runtime/service.ts';
import { type BackendDeps, backendHandlers } from '#runtime/services/backend.ts';
import { submissionView } from '#runtime/services/backtest-views.ts';
import type { Workflow } from '../../src/local/workflow.ts';
import { memoryAudit } from './audit.ts';
import { cursorKey } from './cursors.ts';
import { pendingJob } from './jobs.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** Log that keeps its lines in memory. */
export function memoryLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write =
    (level: string) =>
    (message: unknown, fields: unknown = {}) => {
      lines.push({ level, message: String(message), fields: fields as Record<string, unknown> });
    };
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { log: log as unknown as Log, lines };
}

/** Parts of a local backend that runs no jobs. */
export const WITHOUT_JOBS = {
  workflow: {} as Workflow,
  maxRunning: { backtest: 1, fast: 1, hyperopt: 1 },
  retention: KEEP_FOREVER,
  rules: DEFAULT_RELEASE_RULES,
  strategies: {} as Strategies,
  webhookDelivery: {} as never,
  authenticationEnforced: false,
  otherServices: {},
};

/** One pending job `bt-1` of the anonymous caller, and no models. */
export const fakeOwnership: Ownership = ownershipOf({
  jobs: {
    sharing: {
      find: async (id) => (id === 'bt-1' ? { owner: 'anonymous' } : undefined),
      share: async () => 'done',
      transfer: async () => 'done',
    },
  },
  registry: {
    sharing: { find: async () => undefined, share: async () => 'done', transfer: async () => 'done' },
    approvals: { read: async () => undefined },
    hasRun: async () => false,
  },
  challenges: { read: async () => undefined },
});

/** Dependencies of a backend with one pending job `bt-1` and no strategy. */
export function fakeBackendDeps(jobs: Partial<JobStore> = {}): BackendDeps {
  const job = pendingJob('bt-1');
  const find = async (jobId: string) => (jobId === job.job_id ? job : undefined);
  const none = async () => undefined;
  return {
    jobs: {
      create: async (created: StoredBacktestJob) => created,
      get: find,
      list: async () => ({ items: [], next: null, searched: null, count: null }),
      cancel: async (jobId: string) => ({ cancelled: true, job: await find(jobId) }),
      ...jobs,
    },
    executions: { start: none, stop: none, state: none },
    queue: {
      owners: async () => [],
      announce: none,
      leave: none,
      slots: async () => [],
      take: async () => 'taken',
      order: async () => [],
    },
    maxRunning: { backtest: 1, fast: 0, hyperopt: 1 },
    fastLaneSeconds: 0,
    tasks: { stop: none },
    results: {},
    retention: KEEP_FOREVER,
    hyperoptJobs: {},
    registry: {
      sharing: { sharedWith: async () => new Set() },
      read: async () => ({ model: undefined, versions: new Map(), reply: undefined }),
      catalog: async function* () {},
      catalogCount: async () => 0,
    },
    challenges: { activeOf: async () => new Map() },
    images: null,
    strategies: fixedStrategies([]),
    series: { getMany: async () => new Map() },
    instruments: { getMany: async () => new Map() },
    dataProxy: { call: () => Promise.reject(new CodedError('SVC004')) },
    audit: { calls: async function* () {} },
    cursors: { encode: encodeCursor, decode: decodeCursor },
    probes: { registry: none },
    ids: ulids,
    digest: sha256,
    clock: Date,
    defaultExchange: 'sim',
    authenticationEnforced: false,
    log: memoryLog().log,
  } as unknown as BackendDeps;
}

/** The response to an accepted submission. */
export function accepted(job: StoredBacktestJob) {
  return {
    status: 201 as const,
    body: submissionView(job),
    headers: { Location: `backtests/${job.job_id}` },
  };
}

/** Handlers of the backend that replace those of their group, by the id of their operation. */
export type HandlerChanges = Partial<UnionToIntersection<Handlers<'backend'>[GroupsOf<'backend'>]>>;

type UnionToIntersection<U> = (U extends unknown ? (of: U) => void : never) extends (of: infer I) => void
  ? I
  : never;

/** Handlers over {@link fakeBackendDeps} that accept every submission as `bt-1`. */
export function fakeHandlers(changes: HandlerChanges = {}): Handlers<'backend'> {
  const all: Readonly<Record<string, unknown>> = {
    submitBacktest: async () => accepted(pendingJob('bt-1')),
    ...changes,
  };
  const changed = <T extends object>(group: T) =>
    new Proxy(group, { get: (target, id, self) => all[String(id)] ?? Reflect.get(target, id, self) });
  const groups = Object.entries(backendHandlers(fakeBackendDeps()));
  return Object.fromEntries(
    groups.map(([name, group]) => [name, changed(group)]),
  ) as unknown as Handlers<'backend'>;
}

/** Backend application with fake handlers. Every response is checked against the contract. */
export function backendApp(
  changes: HandlerChanges = {},
  deps: Partial<ServiceDeps> = {},
): { app: ServiceApp; lines: LogLine[] } {
  return appOf(fakeHandlers(changes), deps);
}

/** Backend application over other dependencies. Every response is checked against the contract. */
export function backendOver(changes: object): ServiceApp {
  return appOf(backendHandlers({ ...fakeBackendDeps(), ...changes })).app;
}

function appOf(handlers: Handlers<'backend'>, deps: Partial<ServiceDeps> = {}) {
  const { log, lines } = memoryLog();
  const app = createService('backend', handlers, {
    ownership: fakeOwnership,
    log,
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    cursorKey,
    checkResponses: true,
    ...deps,
  });
  return { app, lines };
}

/** POST of a JSON value, or of an unchanged string. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
