import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripStrategies } from '#adapters/definitions/stripped-sources.ts';
import { resultsPrefix } from '#adapters/objects/result-store.ts';
import { openFolder, openSandbox, type Sandbox } from '#adapters/processes/sandbox.ts';
import { strippedSources } from '#adapters/processes/stripped-file.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture, type TaskRun } from './support/task-fixture.ts';

const RUNS = scaled(15);
const CANDLES = 9_000;
const STARTUP = 500;
const STEP_MS = 5 * 60_000;
const PAIR = 'P0OF1/USDT:USDT';
const ROOT = join(import.meta.dirname, '..');
const ENTRY = join(ROOT, 'src/tasks/backtest.ts');

/** One built-in strategy, and one file of the strategy folder, which is loaded like a user's strategy. */
const STRATEGIES = ['ema_crossover', 'example_pullback'];

const configOf = (strategy: string) => ({
  strategy,
  pairs: [PAIR],
  timeframe: '5m' as const,
  date_range: {
    start: new Date(CANDLES_START + STARTUP * STEP_MS).toISOString(),
    end: new Date(CANDLES_START + CANDLES * STEP_MS).toISOString(),
  },
});

/** Runs the task as local mode starts it, with and without the permission model, in turns. */
async function measure(fixture: TaskFixture, folder: string, strategy: string): Promise<Measurement[]> {
  const compiled = join(folder, 'compiled');
  // Local mode prepares the strategy folder in this way.
  await stripStrategies(join(ROOT, 'strategies'), strippedSources(compiled));
  let count = 0;
  const own = () => join(folder, `task-${count++}`);
  const ways: Readonly<Record<string, (jobId: string) => Sandbox>> = {
    without: () => openFolder(own(), compiled),
    with: (jobId) => {
      const results = join(fixture.objects, 'results', resultsPrefix(jobId));
      mkdirSync(results, { recursive: true });
      const read = [join(fixture.objects, 'candles')];
      return openSandbox(own(), { read, write: [results], strategies: join(ROOT, 'strategies') }, compiled);
    },
  };
  const runs: Record<string, TaskRun[]> = { without: [], with: [] };
  for (let run = -1; run < RUNS; run++) {
    for (const [name, surroundings] of Object.entries(ways)) {
      const result = await fixture.runTask(ENTRY, configOf(strategy), false, surroundings);
      if (run >= 0) runs[name]!.push(result);
    }
  }
  const medianOf = (name: string, pick: (run: TaskRun) => number) => median(runs[name]!.map(pick));
  return (['cpuMs', 'wallMs'] as const).map((kind) => {
    const [before, after] = ['without', 'with'].map((name) => medianOf(name, ({ usage }) => usage[kind]));
    return {
      label: `${strategy}: more ${kind === 'cpuMs' ? 'processor time' : 'wall-clock time'} with the permission model`,
      value: after! - before!,
      unit: 'ms',
      ...(kind === 'cpuMs' && { target: { atMost: 20 } }),
      detail: `${before!.toFixed(0)} ms without, ${after!.toFixed(0)} ms with; load average ${loadavg()[0]!.toFixed(1)}`,
    };
  });
}

export default {
  name: 'task-sandbox',
  description: `The backtest task as local mode starts it, over ${CANDLES} candles, with and without the permission model (medians of ${RUNS}, in turns)`,
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const fixture = await TaskFixture.start();
    try {
      await fixture.storeCandles(PAIR, '5m', randomCandles(1, CANDLES, '5m'));
      const rows: Measurement[] = [];
      for (const strategy of STRATEGIES) rows.push(...(await measure(fixture, folder, strategy)));
      return rows;
    } finally {
      await fixture.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
