import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataProxyClient } from '#adapters/data-proxy-client.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { serviceProbe, tableProbe } from '#adapters/health-probes.ts';
import { ulids } from '#adapters/ids.ts';
import { gzipBase64 } from '#adapters/objects/gzip.ts';
import type { MarketStores } from '#adapters/open-market-stores.ts';
import type { Stores } from '#adapters/open-stores.ts';
import { sha256 } from '#adapters/sha256.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import type { ReleaseRules } from '#contract/registry/release-rules.ts';
import { SERVICE_PREFIXES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Strategies } from '#domain/config/strategy-ports.ts';
import type { Exchanges } from '#domain/data/exchange-ports.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { MaxRunning } from '#domain/queue/lanes.ts';
import { webhookMembership } from '#domain/webhooks/webhook-membership.ts';
import type { AuditDeps } from '#runtime/audit.ts';
import type { Authenticate } from '#runtime/authenticate.ts';
import { createDataProxy, type DataProxy } from '#runtime/data-proxy/create-data-proxy.ts';
import type { ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import type { Log } from '#runtime/log.ts';
import { type RunningServer, serve } from '#runtime/serve.ts';
import { createService, type GatewayFunction, type ServiceApp } from '#runtime/service.ts';
import { type BackendDeps, backendHandlers } from '#runtime/services/backend.ts';
import { createDataCollectionService, type DataCollectionDeps } from '#runtime/services/data-collection.ts';
import { type StrategyDeps, strategyHandlers } from '#runtime/services/strategy.ts';
import type { CursorKey } from '#runtime/signed-cursors.ts';
import { VERSION } from '#runtime/version.ts';
import { type DashboardState, reportPageOf, withDashboard } from './dashboard.ts';
import { LocalDownloads } from './downloads.ts';
import type { LocalFileImports } from './file-imports.ts';
import { LocalSignalUploads } from './signal-uploads.ts';
import type { Workflow } from './workflow.ts';

const HOST = '127.0.0.1';

type App = Pick<ServiceApp, 'fetch'>;

export interface LocalServiceOptions {
  readonly port: number;
  readonly exchange: string;
  readonly checkResponses: boolean;
  readonly authenticate: Authenticate;
  readonly audit: AuditDeps;
  readonly cursorKey: CursorKey;
  /** Throws DATA005 while the disk has no room for new work. */
  readonly checkDiskSpace?: () => Promise<void>;
  readonly log: Log;
}

const listening = ({ port, log }: LocalServiceOptions) => ({
  port,
  log,
  hostname: HOST,
  loopbackOnly: true,
});

/** What the local backend and the local strategy service share. */
export interface SharedParts {
  readonly stores: Stores;
  readonly registryTable: string;
  readonly databaseEndpoint: string;
  readonly onChallengeChange?: ChallengeListener;
  readonly workflow: Workflow;
  readonly maxRunning: MaxRunning;
  readonly retention: RetentionDays;
  readonly strategies: Strategies;
  readonly rules: ReleaseRules;
}

function sharedDeps({ exchange, checkDiskSpace, log }: LocalServiceOptions, parts: SharedParts) {
  const { stores, workflow, strategies, maxRunning, retention, rules } = parts;
  return {
    ...stores,
    ...openRegistry(parts.registryTable, parts.databaseEndpoint, parts.onChallengeChange),
    ...rules,
    images: null,
    allowedRegistries: null,
    strategies,
    executions: workflow.executions,
    hyperoptExecutions: workflow.hyperoptExecutions,
    tasks: workflow.tasks,
    maxRunning,
    retention,
    ids: ulids,
    digest: sha256,
    clock: Date,
    defaultExchange: exchange,
    checkDiskSpace,
    log,
  };
}

/** What every local service is hosted with. */
const hosting = ({ port: _, exchange: __, ...host }: LocalServiceOptions) => host;

/** Serves the local backend, and at its address each other service under a prefix. */
export async function startBackend(
  options: LocalServiceOptions,
  parts: SharedParts & {
    readonly dataProxy: DataProxy;
    readonly webhookDelivery: BackendDeps['webhookDelivery'];
    /** True when `authenticate` rejects calls without a token. */
    readonly authenticationEnforced: boolean;
    readonly strategyServiceUrl: string;
    /** Other services of this process, served at the backend's address too. */
    readonly otherServices: Readonly<Partial<Record<ServiceName, App>>>;
    /** Dashboard at `/`; absent: none. */
    readonly dashboard?: (() => DashboardState) | undefined;
  },
): Promise<RunningServer> {
  const { stores, dashboard } = parts;
  const dataProxy = new DataProxyClient((event) => parts.dataProxy(event));
  const downloads = new LocalDownloads(Date, async (id) => {
    const job = await stores.jobs.get(id);
    return job !== undefined && !job.expired_at;
  });
  const signalFiles = new LocalSignalUploads(stores.resultObjects, Date);
  const services: BackendDeps = {
    ...sharedDeps(options, parts),
    downloads,
    signalFiles,
    audit: options.audit.trail,
    authenticationEnforced: parts.authenticationEnforced,
    fastLaneSeconds: 0,
    dataProxy,
    webhookDelivery: parts.webhookDelivery,
    reportPage: async () => reportPageOf(dashboard?.()),
    gzipBase64,
    encodeColumns: async (columns) =>
      (await import('#adapters/parquet/columns.ts')).writeColumnsParquet(columns),
    probes: {
      strategy_service: serviceProbe(parts.strategyServiceUrl, 'strategy'),
      data_collection: () => dataProxy.probe(),
      registry: tableProbe(stores.dynamo, 'registry', parts.registryTable),
    },
  };
  const app = createService('backend', backendHandlers(services), {
    ...hosting(options),
    onCaller: webhookMembership(services),
    ownership: ownershipOf(services),
    functions: { data_proxy: behindGateway(parts.dataProxy) },
  });
  const prefixes = Object.entries({ ...parts.otherServices, backend: app }).map(
    ([name, each]) => [SERVICE_PREFIXES[name as ServiceName], each] as const,
  );
  // Where calls need a token, the user pastes one of the command line: there are no pages to sign in at.
  const config = { stage: 'local', version: VERSION, exchange: options.exchange, auth: null };
  return serve(signalFiles.infront(downloads.infront(withDashboard(app, config, dashboard))), {
    ...listening(options),
    hasPages: true,
    prefixes: new Map(prefixes),
  });
}

/** Serves the local strategy service. */
export async function startStrategyService(
  options: LocalServiceOptions,
  parts: SharedParts,
): Promise<RunningServer & { readonly app: ServiceApp }> {
  const services: StrategyDeps = {
    ...sharedDeps(options, parts),
    probes: { registry: tableProbe(parts.stores.dynamo, 'registry', parts.registryTable) },
  };
  const app = createService('strategy', strategyHandlers(services), {
    ...hosting(options),
    ownership: ownershipOf(services),
  });
  return { ...(await serve(app, listening(options))), app };
}

/** Serves local data collection. */
export async function startDataCollection(
  options: LocalServiceOptions,
  stores: MarketStores & Pick<DataCollectionDeps, 'jobs' | 'hyperoptJobs' | 'registry'>,
  exchanges: Exchanges = openExchanges(),
  imports: LocalFileImports | null = null,
): Promise<{ readonly url: string; readonly app: App; stop(): Promise<void> }> {
  const service = createDataCollectionService(
    {
      ...stores,
      imports,
      clock: Date,
      ids: ulids,
      digest: sha256,
      defaultExchange: options.exchange,
      exchanges,
      // The data folder is locked against another platform.
      isOnlyProcess: true,
    },
    hosting(options),
  );
  const app = imports?.infront(service.app) ?? service.app;
  const server = await serve(app, listening(options));
  service.resume();
  return {
    url: server.url,
    app,
    stop: async () => {
      await server.close();
      await service.stop();
      await imports?.stop();
    },
  };
}

/** Data proxy of local mode: the Lambda's logic in this process. */
export function localDataProxy(dataCollectionUrl: string, serviceToken?: string): DataProxy {
  return createDataProxy({
    baseUrl: dataCollectionUrl,
    serviceToken,
    fetch,
    clock: Date,
    sleep: (ms) => sleep(ms),
    timeoutSignal: (ms) => AbortSignal.timeout(ms),
    requestTimeoutMs: 30_000,
    maxRetries: 2,
    newCorrelationId: randomUUID,
  });
}

/** Calls the proxy as API Gateway does: with a proxy event and a response with a string body. */
function behindGateway(proxy: DataProxy): GatewayFunction {
  return async ({ body, headers, correlationId }) => {
    const event = {
      requestContext: { requestId: correlationId },
      headers: Object.fromEntries(headers),
      body,
    };
    const response = (await proxy(event)) as ProxyHttpResponse;
    return new Response(response.body, { status: response.statusCode, headers: response.headers });
  };
}
