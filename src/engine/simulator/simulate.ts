import { reportActivity } from '../strategy-errors.ts';
import { withKnownRows } from './loop/known-rows.ts';
import { runLoop } from './loop/loop.ts';
import { runStackedLoop } from './loop/stacked.ts';
import { resolveSettings } from './settings.ts';
import { createClock, type Market } from './state/market.ts';
import { SimulationMemory } from './state/memory.ts';
import { Run } from './state/run.ts';
import type { PairFills, PairInput, SimulateOptions, Simulation, SimulationSettings } from './types.ts';

/**
 * Simulates all pairs on one clock with one wallet, by the rules of docs/simulation.md. Candles without a possible event are
 * skipped.
 *
 * @param pairs in whitelist order: where slots or money are scarce, earlier pairs win.
 * @throws RangeError on candles with gaps and on settings that contradict each other.
 * @throws SimulationStopped when `options.onProgress` returned false.
 */
export function simulate(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions = {},
): Simulation {
  return withKnownRows(pairs, settings, (shown) => simulatePairs(pairs, shown, options));
}

function simulatePairs(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions,
): Simulation {
  reportActivity(
    'the simulation',
    pairs.map(({ pair }) => pair),
  );
  const resolved = resolveSettings(settings);
  const clock = createClock(pairs, resolved);
  const run = new Run(
    resolved,
    clock,
    settings.startingBalance,
    options.equity !== false,
    options.memory ?? new SimulationMemory(),
  );
  run.paths = options.paths ?? null;
  const loop = resolved.stacking ? runStackedLoop : runLoop;
  try {
    loop(run, progressReporter(options.onProgress, clock.steps));
  } finally {
    run.account?.end();
  }
  return {
    outcomes: run.trades,
    get table() {
      return run.trades.table;
    },
    get trades() {
      return run.trades.trades;
    },
    locks: run.protections?.locks ?? [],
    fills: clock.markets.some(({ costs }) => costs.isModelled) ? clock.markets.map(fillsOf) : null,
    curve: run.equity?.curve ?? null,
    dependsOnFillModel: run.dependsOnFillModel,
    freedLater: run.freedLater,
    get gapProfit() {
      return run.trades.gapProfit;
    },
    finalBalance: run.wallet.balance,
    counters: run.counters,
  };
}

function fillsOf({ input: { pair }, costs }: Market): PairFills {
  const { cappedEntries, droppedValue, cappedExits } = costs;
  return { pair, cappedEntries, droppedValue, cappedExits };
}

/** Thrown by a simulation whose `onProgress` returned false. */
export class SimulationStopped extends Error {
  override readonly name = 'SimulationStopped';

  constructor() {
    super('The simulation was stopped');
  }
}

/** Calls `onProgress` with the share of the steps done, at most a hundred times. */
function progressReporter(onProgress: SimulateOptions['onProgress'], steps: number): (step: number) => void {
  const interval = Math.max(1, Math.ceil(steps / 100));
  let next = onProgress ? interval : Number.POSITIVE_INFINITY;
  return (step) => {
    if (step < next) return;
    next = (Math.floor(step / interval) + 1) * interval;
    if (onProgress?.(Math.min(1, step / steps)) === false) throw new SimulationStopped();
  };
}
