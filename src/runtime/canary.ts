import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import middy from '@middy/core';
import * as z from 'zod';
import { CANARY_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { CANARY_INTERVAL_MS } from '#contract/env/canary.ts';
import type { Digest } from '#contract/values/digest.ts';
import {
  CANARY_OWNER,
  CORRELATION_HEADER,
  METRICS,
  SERVICE_PREFIXES,
  SIMULATED,
} from '#contract/values/names.ts';
import type { Clock } from '#domain/ports.ts';
import { idFromKey } from '#domain/shared/idempotency-key.ts';
import { serviceMetrics } from './metrics.ts';

export interface CanaryDeps {
  /** Address of the backend, with a slash at its end. */
  readonly baseUrl: string;
  /** Address of the dashboard, with a slash at its end; undefined without one. */
  readonly webUrl?: string | undefined;
  readonly token: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly sleep: (ms: number) => Promise<void>;
  /** Creates a signal that aborts after a number of milliseconds. */
  readonly timeoutSignal: (ms: number) => AbortSignal;
}

export interface CanaryReport {
  /** Backtest of the previous run. */
  readonly jobId: string;
  /** What failed; empty when nothing did. */
  readonly failures: readonly string[];
  /** Time from the submission of the previous backtest to its end, s; absent unless it completed. */
  readonly durationS?: number;
  /** Why the dashboard does not work; null when it does, absent without one. */
  readonly dashboard?: string | null;
}

/**
 * A week of simulated hourly candles: their collection needs no exchange, and the first run stores them for all others. The
 * run costs the minimum of a task.
 */
const SUBMISSION = {
  experiment_name: 'canary',
  config: {
    strategy: 'ema_crossover',
    exchange: SIMULATED,
    pairs: ['BTC/USDT:USDT'],
    timeframe: '1h',
    date_range: { start: '2024-01-01', end: '2024-01-08' },
  },
};

/** Time limit of one request, and the pauses before it is repeated, ms. */
const REQUEST_MS = 10_000;
const PAUSES_MS = [1_000, 2_000];

/** Fields of a backtest that a run reads. */
const Job = z.object({
  status: z.string(),
  error: z.string().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
});
const Failure = z.object({ detail: z.object({ code: z.string(), message: z.string() }) });

/**
 * Checks the backtest that the previous run submitted, and submits the next one. The keys of both derive from the time, so
 * that a run needs no memory and a repeated one changes nothing. A backtest that has not ended after a whole interval failed:
 * it is cancelled and leaves its slot to the next one. Does not throw.
 */
export async function runCanary(deps: CanaryDeps): Promise<CanaryReport> {
  const run = Math.floor(deps.clock.now() / CANARY_INTERVAL_MS);
  const { webUrl } = deps;
  const loading =
    webUrl === undefined ? undefined : attempt('dashboard', () => loadDashboard(deps, run, webUrl));
  const previous = await attempt('check', () => checkBacktest(deps, run - 1));
  const next = await attempt('submission', () => submitBacktest(deps, run));
  const dashboard = await loading;
  const failures = [previous, next].flatMap(({ failure }) => failure ?? []);
  const durationS = previous.result?.durationS;
  return {
    jobId: jobIdOf(deps, run - 1),
    failures,
    ...(durationS !== undefined && { durationS }),
    ...(dashboard && { dashboard: dashboard.failure ?? null }),
  };
}

async function attempt<T>(step: string, work: () => Promise<T>): Promise<{ result?: T; failure?: string }> {
  try {
    return { result: await work() };
  } catch (error) {
    return { failure: `${step}: ${(error as Error).message}` };
  }
}

async function checkBacktest(deps: CanaryDeps, run: number): Promise<{ durationS?: number }> {
  const path = `/api/v1/backtests/${jobIdOf(deps, run)}`;
  const response = await request(deps, run, 'GET', path);
  // The first run, or the previous one reported that its submission failed.
  if (response.status === 404) return {};
  const { status, error, created_at, finished_at } = Job.parse(await expectStatus(response, 200));
  if (status === 'completed' && finished_at) {
    return { durationS: (Date.parse(finished_at) - Date.parse(created_at)) / 1000 };
  }
  if (status !== 'pending' && status !== 'running') {
    throw new Error(`the backtest is ${status}${error ? `: ${error}` : ''}`);
  }
  // Its failure is not of interest: the slot is freed when the job ends.
  await request(deps, run, 'POST', `${path}/cancel`).catch(() => undefined);
  throw new Error(`the backtest is still ${status} after ${CANARY_INTERVAL_MS / 60_000} minutes`);
}

async function submitBacktest(deps: CanaryDeps, run: number): Promise<void> {
  const response = await request(deps, run, 'POST', '/api/v1/backtests', SUBMISSION);
  await expectStatus(response, 201);
}

/** Loads a page as a browser does, the script that it names, and the health of a service behind the same address. */
async function loadDashboard(deps: CanaryDeps, run: number, webUrl: string): Promise<void> {
  const get = async (path: string, accept: string) => {
    const headers = { Accept: accept, [CORRELATION_HEADER]: correlationIdOf(run) };
    const response = await send(deps, new URL(path, webUrl), { headers });
    if (response.status !== 200) throw new Error(`${path} returned status ${response.status}`);
    return response;
  };
  const page = await (await get('backtests', 'text/html')).text();
  const script = /<script [^>]*src="\/(assets\/[\w.-]+\.js)"/.exec(page)?.[1];
  if (!script) throw new Error('the page names no script');
  const { headers } = await get(script, '*/*');
  const type = headers.get('Content-Type') ?? '';
  if (!type.startsWith('text/javascript')) throw new Error(`the script has the type "${type}"`);
  await get(`${SERVICE_PREFIXES.backend.slice(1)}/api/v1/health`, 'application/json');
}

async function expectStatus(response: Response, status: number): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === status) return body;
  const { data } = Failure.safeParse(body);
  const detail = data ? `, ${data.detail.code} ${data.detail.message}` : '';
  throw new Error(`status ${response.status}${detail}`);
}

async function request(
  deps: CanaryDeps,
  run: number,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Response> {
  return send(deps, new URL(`.${path}`, deps.baseUrl), {
    method,
    headers: {
      Authorization: `Bearer ${deps.token}`,
      [CORRELATION_HEADER]: correlationIdOf(run),
      'Idempotency-Key': String(run),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The response; a 5xx, a 429 and a lost connection are repeated, because a deployment may cause one. */
async function send(deps: CanaryDeps, url: URL, init: RequestInit): Promise<Response> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      const signal = deps.timeoutSignal(REQUEST_MS);
      const response = await deps.fetch(url, { method: 'GET', redirect: 'manual', ...init, signal });
      if (pause === null || (response.status < 500 && response.status !== 429)) return response;
    } catch (error) {
      if (pause === null) throw new Error(`the API did not respond: ${(error as Error).message}`);
    }
    await deps.sleep(pause);
  }
  throw new Error('unreachable');
}

/** ID that the backend derives from the owner and the key of a submission. */
function jobIdOf({ digest }: CanaryDeps, run: number): string {
  return `${CANARY_ID_PREFIX}${idFromKey({ ids: NO_IDS, digest }, CANARY_OWNER, String(run))}`;
}

const NO_IDS = {
  ulid: () => {
    throw new Error('The id of a canary derives from its key');
  },
};

const correlationIdOf = (run: number) => `canary-${run}`;

/** The canary function: its schedule invokes it at the beginning of each interval. */
export function canaryLambda(
  deps: CanaryDeps,
  { stage, logger }: { readonly stage: string; readonly logger: Logger },
) {
  const metrics = serviceMetrics('canary');
  return middy()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .handler(async () => {
      const { jobId, failures, durationS, dashboard } = await runCanary(deps);
      metrics.addDimension('stage', stage);
      metrics.addMetric(METRICS.canarySuccess, MetricUnit.Count, failures.length === 0 ? 1 : 0);
      if (durationS !== undefined) metrics.addMetric(METRICS.canaryDuration, MetricUnit.Seconds, durationS);
      if (dashboard !== undefined) {
        metrics.addMetric(METRICS.canaryDashboard, MetricUnit.Count, dashboard === null ? 1 : 0);
        if (dashboard !== null) logger.error('dashboard failed', { failure: dashboard });
      }
      metrics.publishStoredMetrics();
      const entry = { job_id: jobId, failures, duration_s: durationS ?? null };
      if (failures.length === 0) logger.info('canary succeeded', entry);
      else logger.error('canary failed', entry);
    });
}
