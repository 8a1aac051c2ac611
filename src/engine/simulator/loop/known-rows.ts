import type { CallbackContext, LoopContext, StrategyCallbacks } from '../../strategy.ts';
import type { KeptRows, PairInput, SimulationSettings } from '../types.ts';

type Callback = (...args: unknown[]) => unknown;

/**
 * Runs a simulation whose callbacks find only known rows in the arrays that the strategy may have kept, of all pairs. Afterwards the
 * arrays are complete again.
 */
export function withKnownRows<T>(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  simulation: (settings: SimulationSettings) => T,
): T {
  const kept = pairs.flatMap((pair) => pair.kept ?? []);
  if (kept.length === 0 || !settings.callbacks) return simulation(settings);
  try {
    return simulation({ ...settings, callbacks: showingRows(settings.callbacks, kept) });
  } finally {
    for (const each of kept) each.reveal();
  }
}

function showingRows(callbacks: StrategyCallbacks, kept: readonly KeptRows[]): StrategyCallbacks {
  const showing: Record<string, Callback> = {};
  let now = Number.NaN;
  for (const [name, callback] of Object.entries(callbacks) as [string, Callback | undefined][]) {
    // Callbacks have at most five parameters; a rest parameter would allocate in every candle.
    if (callback)
      showing[name] = (context, a, b, c, d) => {
        const { time } = context as CallbackContext | LoopContext;
        if (time !== now) {
          now = time;
          for (let index = 0, { length } = kept; index < length; index++) kept[index]!.moveTo(time);
        }
        return callback(context, a, b, c, d);
      };
  }
  return showing as StrategyCallbacks;
}
