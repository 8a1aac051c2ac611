import { CodedError } from '#contract/errors.ts';
import type { Ownership } from '#domain/access.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { Log } from '#runtime/log.ts';
import { createService, type ServiceApp, type ServiceDeps } from '#runtime/service.ts';
import { type BackendUseCases, backendHandlers } from '#runtime/services/backend.ts';
import type { RegistryDeps } from '#runtime/services/registry.ts';
import { memoryAudit } from './audit.ts';
import { pendingJob } from './jobs.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A log that keeps its lines. */
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

/** One pending job, `bt-1`, and no models, all of them anonymous' own. */
export const fakeOwnership: Ownership = ownershipOf({
  jobs: {
    sharing: {
      find: async (id) => (id === 'bt-1' ? { owner: 'anonymous' } : undefined),
      share: async () => 'done',
    },
  },
  registry: { sharing: { find: async () => undefined, share: async () => 'done' } },
  challenges: { read: async () => undefined },
});

/** A registry without a model. */
const emptyRegistry = {
  registry: {
    sharing: { sharedWith: async () => new Set() },
    read: async () => ({ model: undefined, versions: new Map(), reply: undefined }),
    catalog: async function* () {},
    catalogCount: async () => 0,
  },
  challenges: { activeOf: async () => new Map() },
  clock: Date,
} as unknown as RegistryDeps;

/** Use cases that know one pending job, `bt-1`, and one strategy, `demo`. */
export function fakeUseCases(changes: Partial<BackendUseCases> = {}): BackendUseCases {
  const job = pendingJob('bt-1');
  const find = async (jobId: string) => {
    if (jobId !== job.job_id) throw new CodedError('RES001', { field: 'job_id', context: { job_id: jobId } });
    return job;
  };
  const notCompleted = async () => {
    throw new CodedError('RES005', { status: 400, field: 'job_id', context: { status: 'pending' } });
  };
  return {
    ownership: fakeOwnership,
    submitBacktest: async () => job,
    listBacktests: async () => ({ items: [], next: null }),
    getBacktest: find,
    cancelBacktest: find,
    readEquity: notCompleted,
    readReport: notCompleted,
    listStrategies: async () => ({ items: [], broken: [] }),
    getStrategy: () => {
      throw new CodedError('RES004', { field: 'name' });
    },
    listDataSymbols: async () => ({ exchange: 'sim', symbols: [], count: 0 }),
    checkDataFreshness: async () => {
      throw new CodedError('SVC004');
    },
    registry: emptyRegistry,
    listAudit: async () => ({ items: [], next: null }),
    checkHealth: async () => ({ status: 'healthy', dependencies: { registry: 'healthy' } }),
    ...changes,
  };
}

/** The backend's application over fake use cases, with every response held to the contract. */
export function backendApp(
  changes: Partial<BackendUseCases> = {},
  deps: Partial<ServiceDeps> = {},
): { app: ServiceApp; lines: LogLine[] } {
  const { log, lines } = memoryLog();
  const app = createService('backend', backendHandlers(fakeUseCases(changes)), {
    ownership: fakeOwnership,
    log,
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    checkResponses: true,
    ...deps,
  });
  return { app, lines };
}

/** A POST of a JSON value, or of a text as it is. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
