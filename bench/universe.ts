import { join } from 'node:path';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture, type TaskRun } from './support/task-fixture.ts';

const CANDIDATES = scaled(500, 40);
const SIZES = [CANDIDATES / 4, CANDIDATES / 2, CANDIDATES];
const RUNS = scaled(3);
const HOUR = 3_600_000;
/** A year of hourly candles. */
const CANDLES = scaled(365, 90) * 24;
const FIRST = CANDLES_START + 60 * 24 * HOUR;

const symbolOf = (index: number) => `P${String(index).padStart(3, '0')}/USDT:USDT`;

/** Each pair has 5 % less volume than the one before: few of them are ever in. */
async function storeCandidates(fixture: TaskFixture): Promise<void> {
  for (let index = 0; index < CANDIDATES; index++) {
    const candles = randomCandles(index + 1, CANDLES, '1h');
    const share = 0.95 ** index;
    for (let row = 0; row < CANDLES; row++) candles.volume[row]! *= share;
    await fixture.storeCandles(symbolOf(index), '1h', candles);
  }
}

function configOf(pairs: readonly string[]): BacktestConfigRequest {
  return {
    strategy: 'ema_crossover',
    timeframe: '1h',
    pairs: [...pairs],
    collect: 'never',
    date_range: {
      start: new Date(FIRST).toISOString(),
      end: new Date(CANDLES_START + CANDLES * HOUR).toISOString(),
    },
    dry_run_wallet: 1_000_000,
    stake_amount: 1_000,
    max_open_trades: 20,
  };
}

/** The run with the least processor time: others were interrupted. */
async function best(fixture: TaskFixture, config: BacktestConfigRequest): Promise<TaskRun> {
  const entry = join(import.meta.dirname, '..', 'src', 'tasks', 'backtest.ts');
  const runs: TaskRun[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await fixture.runTask(entry, config));
  return runs.toSorted((a, b) => a.usage.cpuMs - b.usage.cpuMs)[0]!;
}

export default {
  name: 'universe',
  description: `A task that chooses 20 pairs every day from up to ${CANDIDATES} candidates of a year of 1h candles, against the same task over the chosen pairs`,
  async run(): Promise<Measurement[]> {
    const fixture = await TaskFixture.start();
    try {
      await storeCandidates(fixture);
      const symbols = Array.from({ length: CANDIDATES }, (_, index) => symbolOf(index));
      const universe = { n: 20, rebalance: 'daily' as const };
      const measured: { size: number; run: TaskRun }[] = [];
      for (const size of SIZES) {
        const candidates = symbols.slice(0, size);
        const config = { ...configOf(candidates.slice(0, 1)), universe: { ...universe, candidates } };
        measured.push({ size, run: await best(fixture, config) });
      }
      const job = await fixture.stores.jobs.get(measured.at(-1)!.run.jobId);
      const { pairs } = job!.config;
      const fixed = await best(fixture, configOf(pairs));
      const [first, last] = [measured[0]!, measured.at(-1)!];
      const { cpuMs, peakMb } = fixed.usage;
      return [
        ...measured.map(({ size, run: { usage, trades } }) => ({
          label: `${size} candidates`,
          value: (usage.cpuMs - cpuMs) / size,
          unit: 'ms per candidate',
          detail: `${usage.cpuMs.toFixed(0)} ms, ${usage.peakMb.toFixed(0)} MB, ${trades} trades; ${pairs.length} fixed pairs ${cpuMs.toFixed(0)} ms, ${peakMb.toFixed(0)} MB`,
        })),
        {
          label: `memory of ${CANDIDATES}`,
          value: last.run.usage.peakMb / first.run.usage.peakMb,
          unit: `of ${SIZES[0]}`,
          target: { atMost: 1.5 },
        },
      ];
    } finally {
      await fixture.stop();
    }
  },
} satisfies Bench;
