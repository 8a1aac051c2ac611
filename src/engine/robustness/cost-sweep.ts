import type { CostSweep } from '#contract/backtests/report-robustness.ts';
import { enterOnlyWithin } from '../run/universe-mask.ts';
import type { PairInput, SimulationSettings } from '../simulator/types.ts';
import type { Signals } from '../strategy.ts';
import { simulateAtCost } from './break-even.ts';
import { figuresOf } from './simulation-figures.ts';

/** Fee per side in place of fee and slippage. */
const COSTS = [0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005];
/** Candles by which every signal comes later. */
const DELAYS = [0, 1, 2];

/** Results at other costs and with later signals; yields after each simulation. */
export function* costSweep(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
): Generator<void, CostSweep['cells']> {
  const cells: CostSweep['cells'] = [];
  for (const delay of DELAYS) {
    const later = pairs.map((pair) => delayedPair(pair, delay, settings.timeframeMs));
    for (const cost of COSTS) {
      const simulation = simulateAtCost(later, settings, cost);
      cells.push({ cost, delay, ...figuresOf(simulation, later, settings.startingBalance) });
      yield;
    }
  }
  return cells;
}

/** A late entry of a pair of a universe acts only if the pair is still in. */
function delayedPair(pair: PairInput, delay: number, stepMs: number): PairInput {
  const { universe, ...always } = pair;
  const later = { ...always, signals: delayed((universe ?? pair).signals, delay) };
  return universe ? enterOnlyWithin(later, universe, stepMs) : later;
}

function delayed(signals: Signals, delay: number): Signals {
  const entries = Object.entries(signals).map(([name, column]) => [
    name,
    ArrayBuffer.isView(column) ? laterBy(column as Uint8Array, delay) : column,
  ]);
  return Object.fromEntries(entries) as Signals;
}

function laterBy(column: Uint8Array, delay: number): Uint8Array {
  const later = new Uint8Array(column.length);
  later.set(column.subarray(0, Math.max(0, column.length - delay)), delay);
  return later;
}
