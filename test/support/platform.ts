import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { jobKey } from '#adapters/dynamo/stored-items.ts';
import { ulids } from '#adapters/ids.ts';
import { BundledTask } from '../../bin/build/bundled-task.ts';
import { type Platform, startPlatform } from '../../src/local/platform.ts';
import type { PlatformOptions } from '../../src/local/platform-options.ts';
import { poll } from './poll.ts';
import { TasksInProcess } from './tasks-in-process.ts';

/** Calls of one service; `path` begins with a slash. */
interface ServiceCalls {
  request(path: string, init?: RequestInit): Promise<Response>;
  get<T = any>(path: string): Promise<{ status: number; body: T }>;
  post<T = any>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: T }>;
}

/** Test platform; its inherited calls go to the backend. */
export interface TestPlatform extends Platform, ServiceCalls {
  readonly home: string;
  readonly strategy: ServiceCalls;
  /** Submits a backtest and waits for its end. */
  run(config: Record<string, unknown>, more?: Record<string, unknown>): Promise<any>;
  /** Process ID of the embedded database. */
  databasePid(): number;
  /** Stores a pending copy of a job without an execution: the state after a crash between both steps. */
  storeWithoutStarting(jobId: string): Promise<string>;
  /** Removes the look-ahead search of a backtest: it reads as one of a release that did not search every run. */
  forgetSearch(jobId: string): Promise<void>;
  /** Polls a backtest or hyperopt job until it is in one of the statuses. */
  until(jobId: string, ...statuses: string[]): Promise<any>;
  /** Polls a backtest or hyperopt job until it is accepted. Throws when it ends first. */
  untilJob(jobId: string, accept: (job: any) => unknown): Promise<any>;
  /** Polls a version until its validation has ended and returns the validation. */
  validated(model: string, version: string): Promise<any>;
}

export const TERMINAL = ['completed', 'failed', 'cancelled'];

/** Child process of this one with the port in its arguments: the process that listens on it. */
function listeningProcess(port: number): number {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const args = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      if (args[0]?.endsWith('dynoxide') && args.includes(String(port))) return Number(entry);
    } catch {
      // The process ended meanwhile.
    }
  }
  throw new Error(`No database listens on ${port}`);
}

function callsOf(base: string, token: string | undefined): ServiceCalls {
  // A connection that is kept may be closed by the server, whose timer is due in this process, at the moment of the next request.
  const own = { connection: 'close', ...(token && { authorization: `Bearer ${token}` }) };
  const request = (path: string, init: RequestInit = {}) =>
    fetch(`${base}${path}`, { ...init, headers: { ...own, ...(init.headers as object) } });
  const answer = async (response: Response) => ({
    status: response.status,
    body: (await response.json()) as any,
  });
  return {
    request,
    get: async (path) => answer(await request(path)),
    post: async (path, body, headers = {}) =>
      answer(
        await request(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
  };
}

export interface TestPlatformOptions extends Partial<PlatformOptions> {
  readonly keepHome?: boolean;
  /** Every task is a process that runs its sources. Default: only in `npm run test:full`, else see {@link quickTasks}. */
  readonly processes?: boolean;
  /** Token of the calls, for a platform that checks tokens. */
  readonly token?: string;
}

const bundledTask = new BundledTask();
let bundled: Promise<unknown> | undefined;

/** Runs of built-in strategies in this process, and those of files from one file: each process starts in half the time. */
async function quickTasks(): Promise<Partial<PlatformOptions>> {
  bundled ??= bundledTask.open();
  await bundled;
  return {
    tasks: (each) => new TasksInProcess(each),
    bundledTask: bundledTask.file,
    // A busy machine takes longer than a user should wait.
    taskLimits: { loadMs: 60_000 },
  };
}

/** Complete platform on free ports with its own folder. Responses are checked against the contract. */
export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'touchstone-test-'));
  const processes = options.processes ?? process.env.TASKS === 'processes';
  const platform = await startPlatform({
    home,
    ports: { backend: 0, strategy: 0, dataCollection: 0 },
    checkResponses: true,
    logLevel: 'ERROR',
    ...(!processes && (await quickTasks())),
    ...options,
  });
  const backend = callsOf(platform.info.backend_url, options.token);
  const strategy = callsOf(platform.info.strategy_service_url, options.token);
  const readJob = async (jobId: string) =>
    (
      await (jobId.startsWith('ho-')
        ? strategy.get(`/api/v1/hyperopt/${jobId}`)
        : backend.get(`/api/v1/backtests/${jobId}`))
    ).body;
  const untilJob: TestPlatform['untilJob'] = async (jobId, accept) => {
    let accepted: unknown;
    const job = await poll(
      () => readJob(jobId),
      (each) => {
        accepted = accept(each);
        return accepted || TERMINAL.includes(each.status);
      },
      `${jobId}: ${accept}`,
    );
    if (!accepted) throw new Error(`${jobId} is ${job.status}, which is not ${accept}: ${job.error}`);
    return job;
  };
  const until: TestPlatform['until'] = (jobId, ...statuses) =>
    untilJob(jobId, ({ status }) => statuses.includes(status));
  return {
    ...platform,
    home,
    ...backend,
    strategy,
    until,
    untilJob,
    validated: async (model, version) => {
      const read = () => backend.get(`/api/v1/models/${model}/versions/${version}`);
      return (await poll(read, ({ body }) => body.validation.status !== 'pending')).body.validation;
    },
    run: async (config, more = {}) => {
      const { status, body } = await backend.post('/api/v1/backtests', { config, ...more });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return until(body.job_id, ...TERMINAL);
    },
    databasePid: () => listeningProcess(Number(new URL(platform.info.storage.DYNAMODB_ENDPOINT).port)),
    storeWithoutStarting: async (jobId) => {
      const dynamo = createDocumentClient({ endpoint: platform.info.storage.DYNAMODB_ENDPOINT });
      const jobs = new DynamoJobStore(dynamo, 'Jobs');
      const { schema_version, kind, owner, ...rest } = (await jobs.get(jobId))!;
      const { created_at, updated_at, experiment_name, priority, config, execution_input, request_digest } =
        rest;
      const id = `bt-${ulids.ulid()}`;
      await new DynamoJobQueue(dynamo, 'Jobs').announce('backtest', owner, Date.now());
      await jobs.create({
        schema_version,
        kind,
        owner,
        created_at,
        updated_at,
        experiment_name,
        priority,
        config,
        request_digest,
        job_id: id,
        status: 'pending',
        revision: 1,
        attempt: 0,
        runs: 0,
        queue: { since: created_at, deferrals: 0 },
        warnings: [],
        collection: null,
        execution_input: { ...execution_input, job_id: id },
      });
      return id;
    },
    forgetSearch: async (jobId) => {
      const dynamo = createDocumentClient({ endpoint: platform.info.storage.DYNAMODB_ENDPOINT });
      const removed = { TableName: 'Jobs', Key: jobKey(jobId), UpdateExpression: 'REMOVE look_ahead' };
      await dynamo.send(new UpdateCommand(removed));
    },
    stop: async () => {
      await platform.stop();
      if (!options.keepHome && !options.home) rmSync(home, { recursive: true, force: true });
    },
  };
}
