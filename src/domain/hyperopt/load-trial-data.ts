import type { HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { digestCandles, digestFunding } from '#engine/digest.ts';
import { historyFacts, type PairData } from '#engine/run/history.ts';
import { missingCandles, notCollected } from '../data/missing-candles.ts';
import { type LoadCandlesDeps, loadCandles } from '../inputs/load-candles.ts';
import { sourceWarnings } from '../inputs/source-change.ts';
import type { FindStrategy, StrategyWithDigest } from '../ports.ts';

export interface LoadTrialDataDeps extends LoadCandlesDeps {
  readonly findStrategy: FindStrategy;
}

export interface TrialData {
  readonly pairs: readonly PairData[];
  readonly strategy: StrategyWithDigest;
  /** Warnings for the job: its strategy changed after the request. */
  readonly warnings: readonly string[];
}

/** Digest of everything that the trials read: candles with their details, funding, and informative candles. */
export function digestTrialData(pairs: readonly PairData[], digest: Digest): string {
  const parts = pairs.map(({ pair, candles, funding, detail, informative = [] }) => [
    pair,
    digestCandles(candles, digest),
    detail ? digestCandles(detail, digest) : 'no detail',
    funding ? digestFunding(funding, digest) : 'no funding',
    ...informative.map((each) => `${each.pair} ${each.timeframe} ${digestCandles(each.candles, digest)}`),
  ]);
  return digest(parts.flat().join('\n'));
}

/**
 * The candles that every trial of a hyperopt job reads, loaded after a check that its strategy exists. Throws RES002,
 * VAL006, and the errors of {@link loadCandles}.
 */
export async function loadTrialData(
  deps: LoadTrialDataDeps,
  { base, config, strategy_digest, execution_input, collection, instruments }: HyperoptJobIn<'running'>,
): Promise<TrialData> {
  const found = await deps.findStrategy(base.strategy, strategy_digest);
  if (!found) {
    throw new CodedError('RES002', {
      message: `Strategy ${base.strategy} is missing from the worker's strategy files: restore it and start a new job`,
    });
  }
  const warnings = sourceWarnings({ strategy_digest, config: base, search: config.search }, found);
  const dataStart = Date.parse(execution_input.start);
  const { collect, startup_candles: startup } = execution_input;
  const strategy = startup === undefined ? undefined : { facts: historyFacts(found.definition), startup };
  const given = { collection, collect, instruments, strategy };
  const pairs = await loadCandles(deps, base, dataStart, given).catch(async (error) => {
    if (collect !== 'never' || !(error instanceof CodedError) || error.code !== 'DATA001') throw error;
    const missing = await missingCandles(deps, base, execution_input);
    throw new CodedError('DATA001', { message: [error.message, ...notCollected(missing)].join('. ') });
  });
  return { pairs, strategy: found, warnings };
}
