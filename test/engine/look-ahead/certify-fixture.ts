import type { Candles } from '#engine/candles.ts';
import { sma } from '#engine/indicators/index.ts';
import { certifyLookAhead, type Decided, pairsOfCuts, repeatTruncated } from '#engine/look-ahead/certify.ts';
import type { LookAheadSubject } from '#engine/look-ahead/runs.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import type { StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import example from '#strategies/example_pullback.ts';
import { sound } from './crossing-fixture.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

export const withCallbacks = (callbacks: StrategyCallbacks) => () => sound({ callbacks });
export const certify = (define: () => StrategyDefinition, options = {}) =>
  certifyLookAhead(lookAheadSubject(define, options), { histories: 48 });

/** Findings of the repeated cuts of a strategy, whose search has none. `forget` removes what it kept. */
export async function repeated(subject: LookAheadSubject, forget = () => {}) {
  let decided: Decided | undefined;
  const onDecided = (all: Decided) => {
    decided = structuredClone(all);
  };
  const { findings } = await certifyLookAhead(subject, { histories: 48, onDecided });
  if (!decided) throw new Error(findings.map(({ message }) => message).join('; '));
  const pairs = pairsOfCuts(subject.pairs, decided, subject.config.timeframe);
  forget();
  return repeatTruncated({ ...subject, pairs }, decided);
}

/** Causal strategies by name. */
export const KINDS = [...builtInStrategies, example].map((strategy) => [strategy.name, strategy] as const);

/** Close `ahead` rows later, read from a copy that the guard does not see. */
export function captured(
  make: (at: (pair: string, time: number, ahead: number) => number) => StrategyCallbacks,
) {
  return (): StrategyDefinition => {
    const series: Pick<Candles, 'close' | 'timestamp'>[] = [];
    const at = (_pair: string, time: number, ahead: number) => {
      // Uses the candles of the first pair; any pair suffices for a leak.
      const candles = series[0]!;
      return candles.close[candles.timestamp.indexOf(time) + ahead] ?? Number.NaN;
    };
    return sound({
      indicators: (candles) => {
        series.push({ close: candles.close.slice(), timestamp: candles.timestamp.slice() });
        return { average: sma(candles.close, 20) };
      },
      callbacks: make(at),
    });
  };
}
