import { CodedError } from '#contract/errors.ts';
import type { StudyIn } from '#contract/hyperopt.ts';
import { type LoadCandlesDeps, loadCandles, type PairCandles } from '../load-candles.ts';
import type { StrategyWithDigest } from '../ports.ts';

export interface LoadTrialDataDeps extends LoadCandlesDeps {
  /** Undefined for a strategy that this task does not have. Throws CodedError VAL006 for one that cannot be loaded. */
  readonly findStrategy: (name: string) => Promise<StrategyWithDigest | undefined>;
}

export interface TrialData {
  readonly pairs: readonly PairCandles[];
  readonly strategyDigest: string;
}

/**
 * The candles that every trial of a study reads, once it is sure that its strategy is there.
 * Throws RES002, VAL006, and what {@link loadCandles} throws.
 */
export async function loadTrialData(
  deps: LoadTrialDataDeps,
  { base, execution_input, collection }: StudyIn<'running'>,
): Promise<TrialData> {
  const found = await deps.findStrategy(base.strategy);
  if (!found) {
    throw new CodedError('RES002', {
      message: `Strategy ${base.strategy} is not there any more: what the worker runs from does not define it`,
    });
  }
  const pairs = await loadCandles(deps, base, Date.parse(execution_input.start), collection);
  return { pairs, strategyDigest: found.digest };
}
