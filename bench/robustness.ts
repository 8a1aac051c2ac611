import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { build } from '../bin/build/build.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture, type TaskRun } from './support/task-fixture.ts';

interface Case {
  readonly label: string;
  readonly timeframe: Timeframe;
  readonly candles: number;
  readonly pairs: number;
  readonly config: Partial<BacktestConfigRequest>;
}

const STARTUP = 1_000;
const RUNS = scaled(5);
/** Candles of a year of 5m, and of the other cases. */
const YEAR = scaled(105_120, 4_000);
const MILLION = scaled(1_000_000, 8_000);
const ROI = { minimal_roi: { 0: 0.02 } };
const CASES: readonly Case[] = [
  { label: 'a year of 5m, return table', timeframe: '5m', candles: YEAR, pairs: 1, config: ROI },
  { label: '1,000,000 candles of 1m', timeframe: '1m', candles: MILLION, pairs: 1, config: {} },
  {
    label: '1,000,000 candles of 1m, return table',
    timeframe: '1m',
    candles: MILLION,
    pairs: 1,
    config: ROI,
  },
  { label: '4 pairs of 250,000 candles of 1m', timeframe: '1m', candles: MILLION / 4, pairs: 4, config: {} },
];

const symbolOf = (timeframe: Timeframe, candles: number, index: number) =>
  `P${index}OF${candles}T${timeframe.toUpperCase()}/USDT:USDT`;

const symbolsOf = ({ timeframe, candles, pairs }: Case) =>
  Array.from({ length: pairs }, (_, index) => symbolOf(timeframe, candles, index));

function configOf(each: Case): BacktestConfigRequest {
  const { timeframe, candles, config } = each;
  const step = TIMEFRAME_MS[timeframe];
  const start = CANDLES_START + STARTUP * step;
  const iso = (time: number) => new Date(time).toISOString();
  return {
    strategy: 'ema_crossover',
    pairs: symbolsOf(each),
    timeframe,
    date_range: { start: iso(start), end: iso(start + candles * step) },
    // Large enough for all fees.
    dry_run_wallet: 1_000_000,
    stake_amount: 1_000,
    ...config,
  };
}

const shareOf = ({ timing }: TaskRun, pick: (ms: NonNullable<TaskRun['timing']['processor_ms']>) => number) =>
  pick(timing.processor_ms!) / timing.processor_ms!.total;

/** Shares within one process: other processes do not count. */
async function measure(fixture: TaskFixture, entry: string, each: Case): Promise<Measurement> {
  for (const [index, symbol] of symbolsOf(each).entries()) {
    const candles = randomCandles(index + 1, STARTUP + each.candles, each.timeframe);
    await fixture.storeCandles(symbol, each.timeframe, candles);
  }
  const runs: TaskRun[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await fixture.runTask(entry, configOf(each)));
  const share = (pick: Parameters<typeof shareOf>[1]) => median(runs.map((run) => shareOf(run, pick)));
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`;
  return {
    label: each.label,
    value: share(({ robustness }) => robustness),
    unit: 'of the task',
    target: { atMost: 0.1 },
    detail: `look-ahead cuts ${percent(share(({ look_ahead }) => look_ahead))}, of ${median(runs.map(({ timing }) => timing.processor_ms!.total)).toFixed(0)} ms; ${runs[0]!.trades} trades`,
  };
}

export default {
  name: 'robustness',
  description: `share of the robustness in the processor time of the bundled backtest task (medians of ${RUNS})`,
  async run() {
    const bundles = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const fixture = await TaskFixture.start();
    try {
      await build(bundles);
      const rows: Measurement[] = [];
      for (const each of CASES)
        rows.push(await measure(fixture, join(bundles, 'tasks', 'backtest.mjs'), each));
      return rows;
    } finally {
      await fixture.stop();
      await rm(bundles, { recursive: true, force: true });
    }
  },
} satisfies Bench;
