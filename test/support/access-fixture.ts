import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoAuditTrail } from '#adapters/dynamo/audit-trail.ts';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { DynamoCollectionStore } from '#adapters/dynamo/collection-store.ts';
import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { DynamoSignalsStore } from '#adapters/dynamo/signals-store.ts';
import { DynamoTrialLedger } from '#adapters/dynamo/trial-ledger.ts';
import { DynamoWebhookStore } from '#adapters/dynamo/webhook-store.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { fixedStrategies, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import type { BacktestResult, JobIn, JobStatus } from '#contract/backtests/backtest.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import { DEFAULT_RELEASE_RULES } from '#contract/registry/release-rules.ts';

import { equitySparkline } from '#domain/backtests/equity-sparkline.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import type { HyperoptStore } from '#domain/hyperopt/hyperopt-ports.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { runBacktest } from '#engine/backtest.ts';
import { createRandom } from '#engine/random.ts';
import { withIdentityProvider } from '#runtime/identity-provider.ts';
import { createService, type ServiceApp } from '#runtime/service.ts';
import { type BackendDeps, backendHandlers } from '#runtime/services/backend.ts';
import { type StrategyDeps, strategyHandlers } from '#runtime/services/strategy.ts';
import { localPool, startIssuer } from '../../src/local/access.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { sampleInput } from '../engine/backtest-sample.ts';
import { tableOf, trade } from '../engine/metrics/samples.ts';
import { memoryLog } from './backend.ts';
import { cursorKey } from './cursors.ts';
import { startEngine } from './engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from './jobs.ts';
import { IMAGE, MODEL } from './registry-fixture.ts';

type Role = Parameters<typeof accessClaims>[0]['role'];

interface Answer {
  readonly status: number;
  /** Error code; undefined without an error. */
  readonly code: string | undefined;
  readonly body: any;
}

/** Calls of one user, or calls without a token. */
export interface Person {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Call of the strategy service; the other calls go to the backend. */
  strategy(method: string, path: string, body?: unknown): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Replaces the grants of a resource: read for each principal, write for `name!`. */
  share(path: string, ...principals: string[]): Promise<Answer>;
  register(run: string, model?: string, headers?: Record<string, string>): Promise<Answer>;
}

export interface AccessFixture {
  readonly jobs: DynamoJobStore;
  readonly hyperoptJobs: HyperoptStore;
  readonly registry: RegistryStore;
  readonly jobsTable: string;
  readonly registryTable: string;
  readonly instruments: InstrumentStore;
  readonly client: Awaited<ReturnType<typeof startEngine>>['client'];
  /** Calls with a token of the issuer for a role and further groups. */
  person(user: string, role?: Role, groups?: readonly string[]): Person;
  /** Calls without a token. */
  readonly withoutToken: Person;
  /** Calls to the same services with optional authentication. */
  readonly development: Person;
  /** Stores a backtest of an owner in a status. `result` overrides metrics of a completed one. */
  backtest(
    owner: string,
    changes?: Partial<JobIn<'pending'>>,
    status?: JobStatus,
    result?: Partial<BacktestResult>,
    lookAhead?: LookAhead,
  ): Promise<string>;
  stop(): Promise<void>;
}

const TRADES = Array.from({ length: SOME_RESULT.total_trades }, (_, day) => trade(1, day));
const AT = '2026-05-02T00:00:00.000Z';

/**
 * Both services over the embedded database with tokens of a real issuer. Responses are checked against the contract.
 * No task runs: tests change the job status.
 *
 * @param changes replaced dependencies of both services
 */
export async function accessFixture(
  changes: Partial<BackendDeps & StrategyDeps> = {},
): Promise<AccessFixture> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-access-'));
  const [issuer, engine] = await Promise.all([startIssuer(home, memoryLog().log), startEngine()]);
  const { client, tables } = engine;
  const jobs = new DynamoJobStore(client, tables.jobs);
  const registry = new DynamoRegistryStore(client, tables.registry);
  const hyperoptJobs = new DynamoHyperoptStore(client, tables.jobs);
  const instruments = new DynamoInstrumentStore(client, tables.series);
  const audit = { trail: new DynamoAuditTrail(client, tables.registry), clock: Date, ids: ulids };
  const { log } = memoryLog();
  const nothing = async () => undefined;
  const { report, equity } = runBacktest(sampleInput(), { digest: sha256 });
  const deps = {
    challenges: new DynamoChallengeStore(client, tables.registry),
    jobs,
    registry,
    client,
    audit: audit.trail,
    clock: Date,
    ids: ulids,
    digest: sha256,
    images: null,
    allowedRegistries: null,
    defaultExchange: 'sim',
    random: createRandom(1),
    sleep: nothing,
    ...DEFAULT_RELEASE_RULES,
    hyperoptJobs,
    signals: new DynamoSignalsStore(client, tables.jobs),
    webhooks: new DynamoWebhookStore(client, tables.jobs),
    ledger: new DynamoTrialLedger(client, tables.jobs),
    collections: new DynamoCollectionStore(client, tables.series),
    series: new DynamoSeriesStore(client, tables.series),
    instruments,
    results: {
      write: async () => SOME_RESULTS,
      read: async (_: unknown, part: string) => ({ equity, report, result: SOME_RESULT })[part],
      readTrades: async () => [],
      readCurve: nothing,
      readTradeTable: async () => ({ first: 0, table: tableOf(TRADES) }),
    },
    strategies: fixedStrategies(knownBuiltIns()),
    dataProxy: { call: async () => ({ all_fresh: true }) },
    executions: { start: nothing, stop: nothing, state: nothing },
    queue: new DynamoJobQueue(client, tables.jobs),
    maxRunning: { backtest: 1, fast: 0, hyperopt: 1 },
    strategyCosts: { get: nothing },
    fastLaneSeconds: 0,
    retention: KEEP_FOREVER,
    tasks: { stop: nothing },
    cursors: { encode: encodeCursor, decode: decodeCursor },
    probes: { strategy_service: null, data_collection: null, registry: null },
    log,
    ...changes,
  } as unknown as BackendDeps & StrategyDeps;
  const ownership = ownershipOf(deps);
  const services = (enforced: boolean): ServiceApp[] => {
    const host = {
      log,
      audit,
      cursorKey,
      ownership,
      checkResponses: true,
      authenticate: withIdentityProvider(localPool(issuer.url), { enforced }),
    };
    return [
      createService('backend', backendHandlers({ ...deps, authenticationEnforced: enforced }), host),
      createService('strategy', strategyHandlers(deps), host),
    ];
  };
  const [open, enforced] = [services(false), services(true)];
  const person: AccessFixture['person'] = (user, role = 'researcher', groups = []) => {
    const claims = accessClaims({ user, role, groups, lifetime: 600, now: Date.now() });
    const token = signToken(openIssuerKey(home), claims);
    return personOf(enforced, { authorization: `Bearer ${token}` });
  };
  const backtest: AccessFixture['backtest'] = async (
    owner,
    changes = {},
    status = 'pending',
    result = {},
    look_ahead,
  ) => {
    const id = changes.job_id ?? `bt-${ulids.ulid()}`;
    await jobs.create(pendingJob(id, { owner, ...changes }));
    if (status === 'running' || status === 'completed') await jobs.claim(id, 'task', AT);
    const outcome = {
      result: { ...SOME_RESULT, ...result } as BacktestResult,
      results: SOME_RESULTS,
      timing: SOME_TIMING,
      warnings: [],
      sparkline: equitySparkline(1000, [1010, SOME_RESULT.final_balance]),
      ...(look_ahead && { look_ahead }),
    };
    if (status === 'completed') await jobs.complete(id, 1, outcome, AT);
    if (status === 'failed') await jobs.fail(id, null, { code: 'SVC001', message: 'why' }, AT);
    if (status === 'cancelled') await jobs.cancel(id, AT);
    return id;
  };
  return {
    jobs,
    hyperoptJobs,
    registry,
    instruments,
    client,
    person,
    backtest,
    jobsTable: tables.jobs,
    registryTable: tables.registry,
    withoutToken: personOf(enforced, {}),
    development: personOf(open, {}),
    stop: async () => {
      await Promise.all([issuer.stop(), engine.stop()]);
      rmSync(home, { recursive: true });
    },
  };
}

function personOf([backend, strategy]: ServiceApp[], own: Record<string, string>): Person {
  const call = async (app: ServiceApp, method: string, path: string, body?: unknown, more = {}) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json', ...own, ...more };
    const response = await app.request(path, { method, headers, ...json });
    const text = await response.text();
    const answer = (text === '' ? {} : JSON.parse(text)) as { detail?: { code?: string } };
    return { status: response.status, code: answer.detail?.code, body: answer as any };
  };
  const put: Person['put'] = (path, body) => call(backend!, 'PUT', path, body);
  return {
    put,
    patch: (path, body) => call(backend!, 'PATCH', path, body),
    delete: (path, body, headers) => call(backend!, 'DELETE', path, body, headers),
    get: (path) => call(backend!, 'GET', path),
    strategy: (method, path, body) => call(strategy!, method, path, body),
    post: (path, body, headers) => call(backend!, 'POST', path, body, headers),
    share: (path, ...principals) =>
      put(`${path}/sharing`, {
        shared_with: principals.map((each) => ({
          principal: each.replace('!', ''),
          ...(each.endsWith('!') && { level: 'write' }),
        })),
      }),
    register: (run, model = MODEL, headers) =>
      call(
        strategy!,
        'POST',
        `/api/v1/strategies/${model}/register`,
        { backtest_run_id: run, container_image_uri: IMAGE },
        headers,
      ),
  };
}
