import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalExecutions, LocalStateMachine, localIntegrations } from '#adapters/local/state-machine.ts';
import type { BacktestExecutionInput } from '#contract/backtests/backtest.ts';
import type { FreshnessQuery } from '#contract/market-data/market-data.ts';
import { getDataFreshness } from '#domain/data/get-data-freshness.ts';
import { build } from '../bin/build/build.ts';
import { LambdaRuntime } from '../test/support/lambda-runtime.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture } from './support/task-fixture.ts';

const RUNS = scaled(7);
const CANDLES = scaled(1_000_000, 40_000);
const STARTUP = 1_000;
const MINUTE_MS = 60_000;
const PAIR = 'P0OF1/USDT:USDT';
const TIMEOUT_MS = 80_000;
/** Goals for the time from the submission to the end of the execution, s. */
const GOALS = { cold: 6, warm: 3 } as const;
const MACHINE = new URL('../statemachines/backtest.asl.json', import.meta.url);

const CONFIG = {
  strategy: 'ema_crossover',
  pairs: [PAIR],
  timeframe: '1m' as const,
  date_range: {
    start: new Date(CANDLES_START + STARTUP * MINUTE_MS).toISOString(),
    end: new Date(CANDLES_START + (STARTUP + CANDLES) * MINUTE_MS).toISOString(),
  },
  dry_run_wallet: 1_000_000,
  stake_amount: 1_000,
};

/** Parts of one backtest, ms. */
interface Parts {
  readonly total: number;
  /** Submission: checks, estimate, job and slot. */
  readonly submit: number;
  /** Freshness check, start of the function's environment if it is cold, start of the process, until the claim. */
  readonly start: number;
  /** Claim to the last write. */
  readonly run: number;
  /** End of the process and of the execution. */
  readonly end: number;
}

/** The deployed state machine with the function and the freshness check; it has no tasks. */
function executionsOf(fixture: TaskFixture, lambda: LambdaRuntime, onEnd: (error: unknown) => void) {
  const { stores } = fixture;
  const names = readFileSync(MACHINE, 'utf8').matchAll(/\$\{(\w+)\}/g);
  const substitutions = Object.fromEntries([...names].map(([, name]) => [name!, name!]));
  const integrations = localIntegrations({
    functions: {
      DataProxy: async ({ params }: { params: FreshnessQuery }) => {
        const deps = { ...stores, clock: Date, defaultExchange: 'bench' };
        const query = { ...params, stale_threshold_hours: 24 };
        return { statusCode: 200, body: { data: { result: await getDataFreshness(deps, query) } } };
      },
      BacktestFunction: async (event: unknown) => {
        const { kind, body } = await lambda.invoke(event);
        if (kind === 'error') throw new Error(JSON.stringify(body));
        return body;
      },
    },
    tasks: {},
    failJob: async () => {},
    dynamo: stores.dynamo,
  });
  const machine = new LocalStateMachine(MACHINE, { ...substitutions, JobsTable: 'Jobs' }, integrations);
  return new LocalExecutions<BacktestExecutionInput>(machine, (_, __, error) => onEnd(error));
}

async function runOnce(fixture: TaskFixture, lambda: LambdaRuntime): Promise<Parts> {
  const ended = Promise.withResolvers<unknown>();
  const executions = executionsOf(fixture, lambda, ended.resolve);
  const started = performance.now();
  const jobId = await fixture.submit(CONFIG, { executions, fastLaneSeconds: 20 });
  const error = await ended.promise;
  const total = performance.now() - started;
  const job = await fixture.stores.jobs.get(jobId);
  if (job?.status !== 'completed' || job.queue.lane !== 'fast' || job.attempt !== 1) {
    throw new Error(`Backtest ${jobId} did not complete in the fast lane: ${JSON.stringify(job)}, ${error}`);
  }
  const at = (time: string) => Date.parse(time) - Date.parse(job.created_at);
  const [taken, claimed, finished] = [job.queue.left_at!, job.started_at, job.finished_at].map(at);
  return {
    total,
    submit: taken!,
    start: claimed! - taken!,
    run: finished! - claimed!,
    end: total - finished!,
  };
}

function rows(name: keyof typeof GOALS, runs: readonly Parts[]): Measurement[] {
  const of = (part: keyof Parts) => median(runs.map((run) => run[part]));
  return [
    {
      label: `${name}: submit to completed`,
      value: of('total') / 1000,
      unit: 's',
      target: { atMost: GOALS[name] },
      detail: `submission ${of('submit').toFixed(0)} ms, start ${of('start').toFixed(0)}, run ${of('run').toFixed(0)}, end ${of('end').toFixed(0)}; load average ${loadavg()[0]!.toFixed(1)}`,
    },
  ];
}

/** Time from the start of an environment to the response of a job that does not exist: Node, the bundles, one read. */
async function idle(lambda: LambdaRuntime, isCold: boolean): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    if (isCold) await lambda.reset();
    const started = performance.now();
    const { kind, body } = await lambda.invoke({ job_id: 'bt-none', correlation_id: 'bench' });
    if (kind === 'error') throw new Error(JSON.stringify(body));
    times.push(performance.now() - started);
  }
  return median(times);
}

export default {
  name: 'fast-lane',
  description: `A backtest of ${CANDLES} candles in the fast lane, from the submission to the end of the execution (medians of ${RUNS})`,
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const fixture = await TaskFixture.start();
    await build(folder);
    const lambda = new LambdaRuntime({
      code: join(folder, 'tasks'),
      handler: 'fast-lane.backtest',
      environment: { ...fixture.environment, TMPDIR: folder },
      timeoutMs: TIMEOUT_MS,
      client: process.env.LAMBDA_RUNTIME_CLIENT,
    });
    try {
      await fixture.storeCandles(PAIR, '1m', randomCandles(1, STARTUP + CANDLES, '1m'));
      const runs: Record<keyof typeof GOALS, Parts[]> = { cold: [], warm: [] };
      for (let run = 0; run < RUNS; run++) {
        await lambda.reset();
        for (const name of ['cold', 'warm'] as const) runs[name].push(await runOnce(fixture, lambda));
      }
      const warm = await idle(lambda, false);
      const cold = await idle(lambda, true);
      return [
        ...rows('cold', runs.cold),
        ...rows('warm', runs.warm),
        { label: 'cold: invocation without a job', value: cold, unit: 'ms' },
        { label: 'warm: invocation without a job', value: warm, unit: 'ms' },
      ];
    } finally {
      await lambda.reset();
      await fixture.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
