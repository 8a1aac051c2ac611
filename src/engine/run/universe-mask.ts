import type { PairInput } from '../simulator/types.ts';
import type { PairMembership } from '../universe/membership.ts';

/**
 * The input without the entry signals that would act outside of the intervals. Exits stay, and the strategy's entry signals
 * still hold them back: an open position runs by its own rules, up to a delisting. A signal acts at the open of the next candle.
 * The membership of an earlier call no longer counts.
 */
export function enterOnlyWithin(
  input: PairInput,
  { intervals, delisting }: PairMembership,
  stepMs: number,
): PairInput {
  const { candles } = input;
  const signals = input.universe?.signals ?? input.signals;
  const { enterLong, enterShort } = signals;
  const masked = (column: Uint8Array) => {
    const kept = column.slice();
    let at = 0;
    for (let row = 0; row < kept.length; row++) {
      const acts = candles.timestamp[row]! + stepMs;
      while (at < intervals.length && intervals[at]!.to <= acts) at++;
      if (at === intervals.length || acts < intervals[at]!.from) kept[row] = 0;
    }
    return kept;
  };
  return {
    ...input,
    signals: {
      ...signals,
      ...(enterLong && { enterLong: masked(enterLong) }),
      ...(enterShort && { enterShort: masked(enterShort) }),
    },
    universe: { intervals, signals, ...(delisting && { delisting }) },
  };
}
