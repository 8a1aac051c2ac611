import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { DynamoSignalsStore } from '#adapters/dynamo/signals-store.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { fixedStrategies, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import { DEFAULT_RELEASE_RULES } from '#contract/registry/release-rules.ts';
import type { TableNames } from '#contract/values/tables.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { CreateChallengeDeps } from '#domain/challenges/create-challenge.ts';
import { endChallenges } from '#domain/challenges/write-challenge.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { ResultStore } from '#domain/ports.ts';
import type { RegisterStrategyDeps } from '#domain/registry/register-strategy.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { createRandom } from '#engine/random.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { createService, type ServiceApp, type ServiceDeps } from '#runtime/service.ts';
import { type RegistryDeps, registryHandlers } from '#runtime/services/registry.ts';
import { type StrategyDeps, strategyHandlers } from '#runtime/services/strategy.ts';
import { memoryAudit } from './audit.ts';
import { fakeHandlers, memoryLog, post } from './backend.ts';
import { cursorKey } from './cursors.ts';
import type { TestEngine } from './engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from './jobs.ts';

export const MODEL = 'ema_crossover';
/** A completed backtest of {@link MODEL}. */
export const BACKTEST = 'bt-1';
export const IMAGE = 'registry.example/touchstone:1';
const AT = '2025-03-02T00:00:00.000Z';

export const PROVENANCE = {
  engine_version: '1.2.3',
  strategy_digest: 'a'.repeat(64),
  parameters_digest: 'b'.repeat(64),
  config_digest: 'c'.repeat(64),
  data_digest: 'd'.repeat(64),
  digest: 'e'.repeat(64),
};

/** Parts of a report that registration reads: 5-minute candles over the date range of every test job. */
export const SOME_REPORT = {
  provenance: PROVENANCE,
  data: [{ first: '2025-01-01T00:00:00.000Z', last: '2025-01-31T23:55:00.000Z' }],
};

type FixtureDeps = RegistryDeps & RegisterStrategyDeps & CreateChallengeDeps;

export interface Answer {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

export interface RegistryFixture {
  readonly store: RegistryStore;
  readonly table: string;
  readonly jobs: DynamoJobStore;
  readonly jobsTable: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  register(body?: Record<string, unknown>, headers?: Record<string, string>, model?: string): Promise<Answer>;
  stage(version: unknown, more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  promote(
    version: unknown,
    more?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  rollback(
    version: unknown,
    more?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Stops the model, whose version in Production is expected to be `version`; undefined: any. */
  stop(version: unknown, more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** A call of the strategy service. */
  strategy(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Raw request to the strategy service. */
  request(path: string, init: RequestInit): Promise<Answer>;
  readonly deps: FixtureDeps;
  /** All stored items of the model. */
  items(): Promise<Record<string, any>[]>;
  /** Stores another completed backtest. */
  backtest(jobId: string, strategy?: string, result?: BacktestResult): Promise<void>;
}

/** Results of every backtest: {@link SOME_RESULT}, and a report with {@link PROVENANCE}. */
export const someResults = {
  read: async (_: unknown, part: string) => (part === 'report' ? SOME_REPORT : SOME_RESULT),
} as unknown as ResultStore;

export interface FixtureOptions {
  readonly deps?: Partial<Omit<FixtureDeps, 'registry' | 'challenges'>>;
  readonly service?: Partial<ServiceDeps>;
  /** Default: the client of the engine. */
  readonly client?: DynamoDBDocumentClient;
  /** Default: new empty tables. */
  readonly tables?: TableNames;
  /** Wraps the store of the use cases. */
  readonly wrap?: (store: RegistryStore) => RegistryStore;
  /** Called on changes of challenges. */
  readonly onChallengeChange?: ChallengeListener;
}

/** Registry of both services over empty tables, with one completed backtest. Delays take no time. */
export async function registryFixture(
  engine: Pick<TestEngine, 'client' | 'freshTables'>,
  options: FixtureOptions = {},
): Promise<RegistryFixture> {
  const { deps: changes = {}, service = {}, client = engine.client, wrap = (store) => store } = options;
  const tables = options.tables ?? (await engine.freshTables());
  const store = new DynamoRegistryStore(client, tables.registry, options.onChallengeChange);
  const jobs = new DynamoJobStore(engine.client, tables.jobs);
  const challenges = new DynamoChallengeStore(client, tables.registry, options.onChallengeChange);
  const deps: FixtureDeps = {
    jobs,
    results: someResults,
    strategies: fixedStrategies(knownBuiltIns()),
    signals: new DynamoSignalsStore(engine.client, tables.jobs),
    dataProxy: { call: async () => FRESH },
    defaultExchange: 'sim',
    images: null,
    allowedRegistries: null,
    stagingChecks: null,
    ...DEFAULT_RELEASE_RULES,
    hyperoptJobs: { get: async () => undefined, setEvidence: async () => true },
    cursors: { encode: encodeCursor, decode: decodeCursor },
    clock: Date,
    ids: ulids,
    digest: sha256,
    endChallenges: (production) => endChallenges(challenges, production),
    random: createRandom(1),
    sleep: async () => undefined,
    ...changes,
    registry: wrap(store),
    challenges,
  };
  const { log } = memoryLog();
  const ownership = ownershipOf(deps);
  const host = {
    log,
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    cursorKey,
    checkResponses: true,
    ownership,
    ...service,
  };
  const backend = createService(
    'backend',
    { ...fakeHandlers(), registry: registryHandlers(deps, ownership) },
    host,
  );
  const strategyDeps = {
    ...deps,
    log,
    probes: { registry: null },
    retention: KEEP_FOREVER,
  } as unknown as StrategyDeps;
  const strategy = createService('strategy', strategyHandlers(strategyDeps), host);
  const backtest: RegistryFixture['backtest'] = async (jobId, name = MODEL, result = SOME_RESULT) => {
    const job = pendingJob(jobId);
    await jobs.create({ ...job, config: { ...job.config, strategy: name } });
    await jobs.claim(jobId, 'task', AT);
    const outcome = { result, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
    await jobs.complete(jobId, 1, outcome, AT);
  };
  await backtest(BACKTEST);
  return {
    store,
    table: tables.registry,
    jobs,
    jobsTable: tables.jobs,
    backtest,
    deps,
    get: (path, headers = {}) => send(backend, path, { headers }),
    strategy: (method, path, body, headers = {}) =>
      send(strategy, path, method === 'GET' ? { headers } : post(body ?? {}, headers)),
    request: (path, init) => send(strategy, path, init),
    register: (body = {}, headers = {}, model = MODEL) =>
      send(
        strategy,
        `/api/v1/strategies/${model}/register`,
        post({ backtest_run_id: BACKTEST, container_image_uri: IMAGE, ...body }, headers),
      ),
    stage: (version, more = {}, headers = {}) =>
      send(backend, `/api/v1/strategies/${MODEL}/stage`, post({ version, ...more }, headers)),
    promote: (version, more = {}, headers = {}) =>
      send(backend, `/api/v1/strategies/${MODEL}/promote`, post({ version, ...more }, headers)),
    rollback: (version, more = {}, headers = {}) =>
      send(backend, `/api/v1/models/${MODEL}/rollback`, post({ version, ...more }, headers)),
    stop: (version, more = {}, headers = {}) =>
      send(
        backend,
        `/api/v1/models/${MODEL}/stop`,
        post({ expected_production: version, reason: 'losses', ...more }, headers),
      ),
    items: () => itemsOf(engine.client, tables.registry),
  };
}

const FRESH = {
  all_fresh: true,
  stale_symbols: [],
  exchange: 'sim',
  stale_threshold_hours: 24,
  symbols: [],
};

async function send(app: ServiceApp, path: string, init: RequestInit): Promise<Answer> {
  const response = await app.request(path, init);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

async function itemsOf(client: DynamoDBDocumentClient, table: string): Promise<Record<string, any>[]> {
  const pages = paginateQuery(
    { client },
    {
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :model',
      ExpressionAttributeValues: { ':model': `MODEL#${MODEL}` },
    },
  );
  const items: Record<string, any>[] = [];
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
}
