import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { build } from '../bin/build/build.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import type { ProcessUsage } from './support/fresh-process.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture, type TaskRun } from './support/task-fixture.ts';

const CANDLES = scaled(1_000_000, 40_000);
const MINUTE = 60_000;
/** Startup candles: more than any of the strategies needs before its first signal. */
const STARTUP = 1_000;
const RUNS = scaled(7);

const COLUMNS_MB = (6 * 8 * CANDLES) / 1_048_576;
const PEAK_MB = 150 + 3 * COLUMNS_MB;

interface Case {
  readonly label: string;
  readonly pairs: number;
  readonly params: Readonly<Record<string, number>>;
}

const CASES: readonly Case[] = [
  { label: '1 pair, EMA 20/50', pairs: 1, params: { fast: 20, slow: 50 } },
  { label: '1 pair, EMA 45/200', pairs: 1, params: { fast: 45, slow: 200 } },
  { label: '4 pairs, EMA 20/50', pairs: 4, params: { fast: 20, slow: 50 } },
];

const symbolsOf = (pairs: number) => Array.from({ length: pairs }, (_, i) => `P${i}OF${pairs}/USDT:USDT`);

async function storeSeries(fixture: TaskFixture, pairs: number): Promise<void> {
  for (const [index, symbol] of symbolsOf(pairs).entries()) {
    await fixture.storeCandles(symbol, '1m', randomCandles(index + 1, STARTUP + CANDLES / pairs, '1m'));
  }
}

function configOf({ pairs, params }: Case): BacktestConfigRequest {
  const start = CANDLES_START + STARTUP * MINUTE;
  return {
    strategy: 'ema_crossover',
    params,
    pairs: symbolsOf(pairs),
    timeframe: '1m',
    date_range: {
      start: new Date(start).toISOString(),
      end: new Date(start + (CANDLES / pairs) * MINUTE).toISOString(),
    },
    // Large enough for all fees.
    dry_run_wallet: 1_000_000,
    stake_amount: 1_000,
  };
}

async function measure(
  fixture: TaskFixture,
  entry: string,
  each: Case,
  oneCore: boolean,
): Promise<TaskRun[]> {
  const runs: TaskRun[] = [];
  for (let run = -1; run < RUNS; run++) {
    const result = await fixture.runTask(entry, configOf(each), oneCore);
    if (run >= 0) runs.push(result);
  }
  return runs;
}

const millionPerSecond = (ms: number) => CANDLES / ms / 1000;

const medianOf = (runs: readonly TaskRun[], pick: (run: TaskRun) => number) => median(runs.map(pick));

/**
 * The row with the target. It is the processor time of all threads of a process pinned to one core, minus that of a task
 * without a job. It includes compilation and garbage collection. On an idle core it equals wall-clock time. On a busy
 * machine wall-clock time is not comparable.
 */
function oneCoreMeasurement(label: string, runs: readonly TaskRun[], idleCpuMs: number): Measurement {
  const cpuMs = medianOf(runs, ({ usage }) => usage.cpuMs) - idleCpuMs;
  const clockMs = medianOf(runs, ({ timing }) => timing.total_ms);
  return {
    label: `${label}: the job on one core`,
    value: millionPerSecond(cpuMs),
    unit: 'M candles/s',
    target: { atLeast: 3 },
    detail: `${cpuMs.toFixed(0)} ms of processor time, ${clockMs.toFixed(0)} ms by the job's clock; ${runs[0]!.trades} trades, load average ${loadavg()[0]!.toFixed(1)}`,
  };
}

/** Wall-clock time of the parts, with a second core for helper threads. Comparable only on an idle machine. */
function measurements(label: string, runs: readonly TaskRun[]): Measurement[] {
  const totalMs = medianOf(runs, ({ timing }) => timing.total_ms);
  const wallMs = medianOf(runs, ({ usage }) => usage.wallMs);
  const part = (name: string, pick: (run: TaskRun) => number): Measurement => ({
    label: `${label}: ${name}`,
    value: medianOf(runs, pick),
    unit: 'ms',
    detail: `${((medianOf(runs, pick) / wallMs) * 100).toFixed(0)} % of the process`,
  });
  return [
    {
      label: `${label}: the job by its own clock`,
      value: millionPerSecond(totalMs),
      unit: 'M candles/s',
      detail: `${totalMs.toFixed(0)} ms; whole process ${wallMs.toFixed(0)} ms`,
    },
    part('load', ({ timing }) => timing.load_ms),
    part('check, digest, indicators', ({ timing }) => timing.indicators_ms),
    part('simulate', ({ timing }) => timing.simulate_ms),
    part('metrics and report', ({ timing }) => timing.report_ms),
    part('write', ({ timing }) => timing.write_ms),
    part('start, claim, exit', ({ timing, usage }) => usage.wallMs - timing.total_ms),
    {
      label: `${label}: peak memory`,
      value: medianOf(runs, ({ usage }) => usage.peakMb),
      unit: 'MB',
      target: { atMost: Math.floor(PEAK_MB) },
      detail: `150 MB and 3 times the columns of ${COLUMNS_MB.toFixed(0)} MB`,
    },
  ];
}

function idleMeasurement(runs: readonly ProcessUsage[]): Measurement {
  const cpuMs = median(runs.map((run) => run.cpuMs));
  const peakMb = median(runs.map((run) => run.peakMb));
  return {
    label: 'a task without a job',
    value: median(runs.map((run) => run.wallMs)),
    unit: 'ms',
    detail: `${cpuMs.toFixed(0)} ms of processor time, ${peakMb.toFixed(0)} MB`,
  };
}

const canPin = () => spawnSync('taskset', ['--version']).status === 0;

async function measureIdle(fixture: TaskFixture, entry: string, oneCore: boolean): Promise<ProcessUsage[]> {
  const runs: ProcessUsage[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await fixture.runIdle(entry, oneCore));
  return runs;
}

async function measureAll(fixture: TaskFixture, entry: string): Promise<Measurement[]> {
  // Without `taskset` the threads may run in parallel; their processor time is still added up.
  const oneCore = canPin();
  const rows = [idleMeasurement(await measureIdle(fixture, entry, false))];
  const idleCpuMs = median((await measureIdle(fixture, entry, oneCore)).map(({ cpuMs }) => cpuMs));
  for (const each of CASES) {
    rows.push(oneCoreMeasurement(each.label, await measure(fixture, entry, each, oneCore), idleCpuMs));
    rows.push(...measurements(each.label, await measure(fixture, entry, each, false)));
  }
  return rows;
}

export default {
  name: 'whole-task',
  description: `The bundled backtest task in a fresh process: claim the job, read ${CANDLES} candles from Parquet, run, report, write (medians of ${RUNS})`,
  async run() {
    const bundles = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const fixture = await TaskFixture.start();
    try {
      await build(bundles);
      for (const pairs of new Set(CASES.map((each) => each.pairs))) await storeSeries(fixture, pairs);
      return await measureAll(fixture, join(bundles, 'tasks', 'backtest.mjs'));
    } finally {
      await fixture.stop();
      await rm(bundles, { recursive: true, force: true });
    }
  },
} satisfies Bench;
