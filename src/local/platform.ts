import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { LocalStrategies } from '#adapters/definitions/local-strategies.ts';
import { openAudit } from '#adapters/dynamo/audit-trail.ts';
import { storedCursorKey } from '#adapters/dynamo/cursor-key.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import { openRepair } from '#adapters/dynamo/open-repair.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { ulids } from '#adapters/ids.ts';
import { LocalChallengeTimers } from '#adapters/local/challenge-timers.ts';
import { type DataFolder, diskSpaceCheck } from '#adapters/local/data-folder.ts';
import type { Database } from '#adapters/local/dynoxide.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores } from '#adapters/open-stores.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import { checkStrategyFolder } from '#adapters/processes/sandbox.ts';
import type { TaskLimits } from '#adapters/processes/task-runner.ts';
import { StoredSignalFiles } from '#adapters/signals/stored-signal-files.ts';
import { USER_STRATEGIES } from '#adapters/strategies/strategy-files.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import { DEFAULT_RELEASE_RULES } from '#contract/registry/release-rules.ts';
import { eventSource } from '#contract/values/event-types.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { resumeTimers } from '#domain/challenges/process-due-challenges.ts';
import { endExecutions, type RepairDeps, repairChallenge, repairJobs } from '#domain/repair/repair-jobs.ts';
import { challengeListener } from '#runtime/challenge-listener.ts';
import { createLogger, type Log, runInContext } from '#runtime/log.ts';
import { openAccess } from './access.ts';
import { startEvents } from './events.ts';
import { LocalFileImports } from './file-imports.ts';
import { LOCAL_TABLES, PLATFORM_FILE, type PlatformInfo } from './platform-info.ts';
import { type PlatformOptions, TASK_LIMITS } from './platform-options.ts';
import {
  localDataProxy,
  type SharedParts,
  startBackend,
  startDataCollection,
  startStrategyService,
} from './services.ts';
import { type LocalStorage, openStorage } from './storage.ts';
import { openWebhooks } from './webhooks.ts';
import { createWorkflow, type TaskEnvironment } from './workflow.ts';

export interface Platform {
  readonly info: PlatformInfo;
  /** Rejects when the platform cannot continue because the database ended. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends requests, executions and tasks. Unfinished jobs resume at the next start. */
  stop(): Promise<void>;
}

/** Concurrent hyperopt jobs; the workers of each share the cores. */
const MAX_RUNNING_HYPEROPTS = 2;
const REPAIR_EVERY_MS = 60_000;

/** Started parts of the platform, in start order. */
class Running {
  readonly #stops: (() => unknown)[] = [];

  add(stop: () => unknown): void {
    this.#stops.push(stop);
  }

  /** Stops the last first; a second call does nothing. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

/**
 * Starts Touchstone in this process: services, embedded database, state machines and task runner, on one data folder. Jobs
 * that a crash left unfinished are started again.
 *
 * @throws Error when the folder or a port is in use, or the database does not start; all started parts are stopped first
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const running = new Running();
  try {
    const opened = await openStorage(options);
    running.add(() => opened.stop());
    checkStrategyFolder(options.strategiesDirectory ?? USER_STRATEGIES, opened.folder.path);
    const info = await startServices(options, opened, running);
    return { info, failed: failureOf(opened.database), stop: () => running.stop() };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** What every part of the platform is built on. */
interface Foundation {
  readonly options: PlatformOptions;
  readonly folder: DataFolder;
  readonly storage: LocalStorage['storage'];
  readonly stores: ReturnType<typeof openStores>;
  readonly running: Running;
  readonly log: Log;
}

/** Long because it is the list of the parts in the order of their start. */
async function startServices(
  options: PlatformOptions,
  { folder, storage }: LocalStorage,
  running: Running,
): Promise<PlatformInfo> {
  const log = createLogger('touchstone', options.logLevel ?? 'WARN');
  const stores = openStores(storage);
  const foundation = { options, folder, storage, stores, running, log };
  const webhookDelivery = await startDelivery(foundation);
  const strategies = openStrategies(foundation);
  const access = await openAccess(folder.path, options.auth ?? false, log);
  running.add(() => access.stop());
  const service = { ...serviceOptions(foundation), authenticate: access.authenticate };
  const data = await startDataCollection(
    { ...service, authenticate: access.authenticateAtData, port: options.ports.dataCollection },
    {
      ...stores,
      ...openMarketStores(storage, stores.dynamo),
      registry: openRegistry(LOCAL_TABLES.registry, storage.DYNAMODB_ENDPOINT).registry,
    },
    exchangesOf(foundation),
    openImports(foundation, service),
  );
  running.add(() => data.stop());
  const dataProxy = localDataProxy(data.url, access.serviceToken);
  const { repair, timers, ...jobs } = openJobs(foundation, dataProxy);
  const shared: SharedParts = { ...jobs, stores, ...registryOf(foundation), strategies };
  const strategy = await startStrategyService({ ...service, port: options.ports.strategy }, shared);
  running.add(() => strategy.close());
  const backend = await startBackend(
    { ...service, port: options.ports.backend },
    {
      ...shared,
      dataProxy,
      strategyServiceUrl: strategy.url,
      webhookDelivery,
      dashboard: options.dashboard,
      otherServices: { strategy: strategy.app, data_collection: data.app },
      authenticationEnforced: options.auth ?? false,
    },
  );
  running.add(() => backend.close());
  await keepRepairing(repair, running, log);
  await resumeTimers(repair.registry.challenges, timers);
  await webhookDelivery.waker.resume();

  const info: PlatformInfo = {
    pid: process.pid,
    exchange: service.exchange,
    backend_url: backend.url,
    strategy_service_url: strategy.url,
    data_collection_url: data.url,
    issuer_url: access.issuerUrl,
    storage,
  };
  announce(folder, info, running);
  return info;
}

/** Webhooks, and the stream of the tables' changes that wakes them. */
async function startDelivery({ options, folder, storage, stores, running, log }: Foundation) {
  const delivery = openWebhooks(stores, options.webhooksAllowLoopback ?? false, storage, log);
  running.add(() => delivery.waker.stop());
  const source = eventSource('local', folder.id);
  const events = await startEvents({
    dynamo: stores.dynamo,
    endpoint: storage.DYNAMODB_ENDPOINT,
    folder: folder.path,
    source,
    log,
    dbPath: options.dynamodbEndpoint ? undefined : folder.dbPath,
    events: stores.events,
    deliver: (each) => delivery.waker.deliver(each),
  });
  running.add(() => events.stop());
  return { ...delivery, eventSource: source };
}

function openStrategies({ options, running, log }: Foundation): LocalStrategies {
  const strategies = new LocalStrategies({
    folder: options.strategiesDirectory,
    compiled: compileCache(),
    ...(options.taskLimits?.loadMs && { loadLimitMs: options.taskLimits.loadMs }),
    onBroken: (file) => log.warn('strategy file cannot be used', { ...file }),
  });
  running.add(() => strategies.close());
  // Starts reading now, so that the first request does not wait.
  void strategies.list();
  return strategies;
}

/** Options of all services. */
function serviceOptions({ options, folder, storage, stores, log }: Foundation) {
  const { exchange = SIMULATED, checkResponses = false } = options;
  const trail = openAudit(LOCAL_TABLES.registry, storage.DYNAMODB_ENDPOINT, options.auditDays);
  return {
    exchange,
    checkResponses,
    log,
    audit: { trail, clock: Date, ids: ulids },
    cursorKey: storedCursorKey(stores.dynamo, 'registry', LOCAL_TABLES.registry),
    checkDiskSpace: diskSpaceCheck(folder.path, options.minFreeDiskMb ?? 256),
  };
}

function openImports({ folder, storage, log }: Foundation, service: ReturnType<typeof serviceOptions>) {
  return new LocalFileImports({
    folder: join(folder.path, 'imports'),
    storage,
    platformExchange: service.exchange,
    clock: Date,
    ids: ulids,
    checkDiskSpace: service.checkDiskSpace,
    log,
  });
}

function exchangesOf({ options, log }: Foundation) {
  return openExchanges({
    url: options.exchangeUrl,
    intervalMs: options.exchangeIntervalMs,
    onRetry: (call) => log.warn('retrying exchange request', { ...call, error: call.error as Error }),
  });
}

const registryOf = ({ storage }: Foundation) => ({
  registryTable: LOCAL_TABLES.registry,
  databaseEndpoint: storage.DYNAMODB_ENDPOINT,
});

/** Workflows of jobs, deadlines of challenges, and the repair of both. */
function openJobs(foundation: Foundation, dataProxy: ReturnType<typeof localDataProxy>) {
  const { options, folder, storage, stores, running, log } = foundation;
  const limits = { ...TASK_LIMITS, ...options.taskLimits };
  const workflow = createWorkflow({
    stores,
    jobsTable: LOCAL_TABLES.jobs,
    dataProxy,
    environment: taskEnvironment(options, storage, limits),
    temporary: folder.temporaryPath,
    limits,
    bundledTask: options.bundledTask,
    tasks: options.tasks,
    nodeOptions: options.taskMemoryMb ? [`--max-old-space-size=${options.taskMemoryMb}`] : [],
    onEnd: (execution) =>
      inContext(() => endExecutions(repair, [execution])).then(
        () => undefined,
        (error: unknown) => repair.onError(execution, error),
      ),
    log,
  });
  running.add(() => workflow.stop());
  const timers = new LocalChallengeTimers(Date, (id) =>
    inContext(() => repairChallenge(repair, id)).catch((error) => repair.onError(id, error)),
  );
  running.add(() => timers.stop());
  const onChallengeChange = challengeListener({ log, timer: timers });
  const maxRunning = {
    backtest: options.concurrency ?? availableParallelism(),
    // Every task is a process of this machine: a second lane would have the same cores.
    fast: 0,
    hyperopt: MAX_RUNNING_HYPEROPTS,
  };
  const retention = options.retention ?? KEEP_FOREVER;
  const rules = { ...DEFAULT_RELEASE_RULES, ...options.rules };
  const repair = openRepair({
    ...stores,
    retention: {
      days: retention,
      retention: stores.jobRetention,
      results: stores.results,
      signals: stores.signals,
      signalFiles: new StoredSignalFiles(stores.resultObjects),
    },
    maxRunning,
    executions: workflow.executions,
    hyperoptExecutions: workflow.hyperoptExecutions,
    tasks: workflow.tasks,
    ...registryOf(foundation),
    onChallengeChange,
    promotions: rules,
    log,
  });
  return { repair, timers, workflow, onChallengeChange, maxRunning, retention, rules };
}

/** Repairs now without a grace period, because no job of the last platform is running; then every minute. */
async function keepRepairing(repair: RepairDeps, running: Running, log: Log): Promise<void> {
  await inContext(() => repairJobs({ ...repair, graceMs: 0 }));
  const timer = setInterval(() => {
    inContext(() => repairJobs(repair)).catch((error) => log.error('repair failed', error as Error));
  }, REPAIR_EVERY_MS);
  running.add(() => clearInterval(timer));
}

/** Runs work outside a request with a new correlation id. */
function inContext<T>(work: () => Promise<T>): Promise<T> {
  return runInContext({ correlationId: randomUUID() }, work);
}

function announce(folder: DataFolder, info: PlatformInfo, running: Running): void {
  const file = join(folder.path, PLATFORM_FILE);
  // It names the address of the database, which asks for no password. A file that is left over keeps its mode.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  running.add(() => rmSync(file, { force: true }));
}

function failureOf(database: Database): Promise<never> {
  const failed = database.lost.then((reason) => {
    throw new Error(reason);
  });
  // The caller decides whether to wait for this promise.
  failed.catch(() => undefined);
  return failed;
}

function taskEnvironment(
  options: PlatformOptions,
  storage: LocalStorage['storage'],
  limits: TaskLimits,
): TaskEnvironment {
  return {
    ...storage,
    LOG_LEVEL: options.logLevel ?? 'WARN',
    TRIAL_LIMIT_SECONDS: wholeSeconds(limits.taskMs),
    TRIAL_STALL_SECONDS: wholeSeconds(limits.stallMs),
    ...(options.exchangeUrl ? { EXCHANGE_URL: options.exchangeUrl } : {}),
    ...(options.exchangeIntervalMs ? { EXCHANGE_INTERVAL_MS: String(options.exchangeIntervalMs) } : {}),
    ...(options.strategiesDirectory ? { STRATEGIES_DIRECTORY: options.strategiesDirectory } : {}),
  };
}

/** Rounded up, at least 1. */
function wholeSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}
