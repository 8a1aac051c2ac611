import { enter } from '../run/whereabouts.ts';
import { canUseKernel, simulateKernel } from './kernel/kernel.ts';
import { simulateLoop } from './loop/loop.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from './types.ts';

/**
 * Simulates all pairs on one clock with one wallet by freqtrade's rules, on the fastest path that applies: the segment kernel
 * or the loop, which make identical trades. Arguments and errors as {@link simulateLoop}.
 */
export function simulate(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions = {},
): Simulation {
  enter(
    'the simulation',
    pairs.map(({ pair }) => pair),
  );
  return canUseKernel(pairs, settings)
    ? simulateKernel(pairs, settings, options)
    : simulateLoop(pairs, settings, options);
}
