import { simulate } from '../simulator/simulate.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from '../simulator/types.ts';

/** A simulation in which arrays that the strategy kept showed known rows only. */
export interface KnownSimulation {
  readonly simulation: Simulation;
  /** The pairs for further simulations. */
  readonly pairs: readonly PairInput[];
  /** Error of the strategy with known rows only: it ran with all rows. Undefined: no such error. */
  readonly failure: unknown;
}

/**
 * Simulates a run. A strategy that fails because it kept an array and reads rows of it that are not known yet runs again with all
 * rows: its run completes, and the failure proves the bias.
 *
 * @param restart called before the second simulation
 * @throws what the strategy throws with all rows as well
 */
export function simulateKnown(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions = {},
  restart: () => void = () => undefined,
): KnownSimulation {
  try {
    return { simulation: simulate(pairs, settings, options), pairs, failure: undefined };
  } catch (failure) {
    if (pairs.every(({ kept }) => !kept)) throw failure;
    const shown = pairs.map(({ kept: _, ...pair }) => pair);
    restart();
    return { simulation: simulate(shown, settings, options), pairs: shown, failure };
  }
}
