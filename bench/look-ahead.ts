import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolder } from '#adapters/processes/sandbox.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { getCompletedBacktest } from '#domain/backtests/get-backtest.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { build } from '../bin/build/build.ts';
import { bundleStrategies } from '../bin/build/bundle-strategies.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture, type TaskRun } from './support/task-fixture.ts';

/** Those of the benchmark `freqtrade`. */
const STRATEGIES = join(import.meta.dirname, 'support/freqtrade/strategies');
const STARTUP = 3_000;
const RUNS = scaled(7);
/** Candles of a year of 5m. */
const YEAR = scaled(105_120, 4_000);

interface Case {
  readonly label: string;
  readonly strategy: string;
  readonly timeframe: Timeframe;
  readonly candles: number;
  readonly pairs: number;
}

const CASES: readonly Case[] = [
  { label: 'EMA cross, two pairs', strategy: 'bench_cross', timeframe: '5m', candles: YEAR, pairs: 2 },
  { label: 'callbacks, two pairs', strategy: 'bench_callbacks', timeframe: '5m', candles: YEAR, pairs: 2 },
  {
    label: 'EMA cross, ten pairs',
    strategy: 'bench_cross',
    timeframe: '5m',
    candles: YEAR,
    pairs: scaled(10, 3),
  },
  {
    label: 'EMA cross, 1m',
    strategy: 'bench_cross',
    timeframe: '1m',
    candles: scaled(525_600, 4_000),
    pairs: 2,
  },
];

const symbolOf = (timeframe: Timeframe, index: number) => `P${index}T${timeframe.toUpperCase()}/USDT:USDT`;

function configOf({ strategy, timeframe, candles, pairs }: Case): BacktestConfigRequest {
  const step = TIMEFRAME_MS[timeframe];
  const start = CANDLES_START + STARTUP * step;
  const iso = (time: number) => new Date(time).toISOString();
  return {
    strategy,
    pairs: Array.from({ length: pairs }, (_, index) => symbolOf(timeframe, index)),
    timeframe,
    date_range: { start: iso(start), end: iso(start + candles * step) },
    dry_run_wallet: 1_000_000,
    stake_amount: 1_000,
  };
}

const shareOf = ({ timing }: TaskRun) => timing.processor_ms!.look_ahead / timing.processor_ms!.total;

async function measure(fixture: TaskFixture, bundles: string, each: Case): Promise<Measurement> {
  for (let index = 0; index < each.pairs; index++) {
    const candles = randomCandles(index + 1, STARTUP + each.candles, each.timeframe);
    await fixture.storeCandles(symbolOf(each.timeframe, index), each.timeframe, candles);
  }
  const runs: TaskRun[] = [];
  for (let run = -1; run < RUNS; run++) {
    const entry = join(bundles, 'tasks', 'backtest.mjs');
    const done = await fixture.runTask(entry, configOf(each), false, () =>
      openFolder(join(bundles, 'own'), join(bundles, 'compiled')),
    );
    // The first run fills Node's compile cache.
    if (run >= 0) runs.push(done);
  }
  const { look_ahead } = await getCompletedBacktest(fixture.stores, runs[0]!.jobId);
  const of = (pick: (run: TaskRun) => number) => median(runs.map(pick));
  return {
    label: each.label,
    value: of(shareOf),
    unit: 'of the task',
    target: { atMost: 0.1 },
    detail: `${of(({ timing }) => timing.processor_ms!.look_ahead).toFixed(0)} of ${of(({ timing }) => timing.processor_ms!.total).toFixed(0)} ms, at most ${(Math.max(...runs.map(shareOf)) * 100).toFixed(1)} %; ${look_ahead!.cuts} cuts, ${runs[0]!.trades} trades; load average ${loadavg()[0]!.toFixed(1)}`,
  };
}

export default {
  name: 'look-ahead',
  description: `share of the cuts for look-ahead bias in the processor time of the bundled backtest task (medians of ${RUNS})`,
  async run() {
    const bundles = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const fixture = await TaskFixture.start(STRATEGIES);
    try {
      await build(bundles);
      await bundleStrategies(STRATEGIES, [join(bundles, 'tasks')]);
      const rows: Measurement[] = [];
      for (const each of CASES) rows.push(await measure(fixture, bundles, each));
      return rows;
    } finally {
      await fixture.stop();
      await rm(bundles, { recursive: true, force: true });
    }
  },
} satisfies Bench;
