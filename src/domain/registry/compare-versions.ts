import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { VersionComparison } from '#contract/catalog-api.ts';
import { CodedError } from '#contract/errors.ts';
import type { StoredVersion } from '#contract/stored-registry.ts';
import { compareMetrics } from './compare-metrics.ts';
import { findVersion } from './find-version.ts';
import { type Judgement, judgeChallenger } from './judge-challenger.ts';
import type { RegistryStore } from './registry-store.ts';

export interface CompareVersionsInput {
  readonly model: string;
  /** Numbers, or the aliases `latest` and `champion`. */
  readonly version_a: string;
  readonly version_b: string;
}

/**
 * Compares champion a with challenger b on their registered backtests. The confidence comes from count, mean and variance
 * of profit_pct over all trades, which every result keeps, so that no trade list is read.
 * Throws RES002 for an unknown model, RES003 for an unknown version, VAL005 when both are the same one.
 */
export async function compareVersions(
  deps: { readonly registry: RegistryStore },
  input: CompareVersionsInput,
): Promise<VersionComparison> {
  const { model, version_a, version_b } = input;
  if (version_a === version_b) throw sameVersion(version_b);
  const [a, b] = await Promise.all([
    findVersion(deps.registry, { model, version: version_a, field: 'version_a', modelField: 'name' }),
    findVersion(deps.registry, { model, version: version_b, field: 'version_b', modelField: 'name' }),
  ]);
  if (a.version === b.version) throw sameVersion(b.version);
  return comparisonOf(a, b);
}

/** The comparison of champion a with challenger b. */
export function comparisonOf(a: StoredVersion, b: StoredVersion): VersionComparison {
  const differences = differencesOf(a.config, b.config);
  const metrics = compareMetrics(a.metrics, b.metrics);
  const trades = { a: a.metrics.trade_stats, b: b.metrics.trade_stats };
  const { reasons, ...judgement } = judgeChallenger(
    metrics,
    trades,
    differences.map(({ field }) => field),
  );
  return {
    model_name: a.model_name,
    version_a: a.version,
    version_b: b.version,
    ...judgement,
    sample_sizes: { a: trades.a.n, b: trades.b.n },
    comparable: differences.length === 0,
    differences,
    metrics,
    recommendation: recommend(a, b, { reasons, ...judgement }, differences.length === 0),
    warnings: warningsOf(a, b),
  };
}

function sameVersion(version: string): CodedError {
  return new CodedError('VAL005', {
    message: 'version_a and version_b are the same version',
    field: 'version_b',
    context: { value: version },
  });
}

/** Another market, timeframe or time: the numbers say nothing about each other. */
function differencesOf(a: ResolvedBacktestConfig, b: ResolvedBacktestConfig) {
  const rows = [
    { field: 'exchange', a: a.exchange, b: b.exchange },
    { field: 'pairs', a: pairsOf(a), b: pairsOf(b) },
    { field: 'timeframe', a: a.timeframe, b: b.timeframe },
    { field: 'date_range', a: rangeOf(a), b: rangeOf(b) },
  ];
  return rows.filter((row) => row.a !== row.b);
}

const pairsOf = ({ pairs }: ResolvedBacktestConfig) => pairs.toSorted().join(', ');
const rangeOf = ({ date_range: { start, end } }: ResolvedBacktestConfig) => `${start} to ${end}`;

/** Settings that are no part of a strategy: they change its result without making it better. */
const ASSUMPTIONS = [
  'fee',
  'slippage',
  'fill_model',
  'precision',
  'dry_run_wallet',
  'timeframe_detail',
] as const;

function warningsOf(a: StoredVersion, b: StoredVersion): string[] {
  const assumed = ASSUMPTIONS.filter((name) => a.config[name] !== b.config[name]).map(
    (name) => `They were run with different ${name}: ${a.config[name]} and ${b.config[name]}`,
  );
  const engines =
    a.engine_version === b.engine_version
      ? []
      : [`They were run by different engines: ${a.engine_version} and ${b.engine_version}`];
  // Another number of startup candles is another digest too, over the same time.
  const candles =
    differencesOf(a.config, b.config).length > 0 || a.candle_digest === b.candle_digest
      ? []
      : ['They did not read the same candles: other startup candles, or stored data that has changed since'];
  const chosen = [a, b]
    .filter(({ trials }) => trials > 1)
    .map(({ version, trials }) => `Version ${version} is the best of ${trials} tried: luck flatters it`);
  return [...assumed, ...engines, ...candles, ...chosen];
}

function recommend(a: StoredVersion, b: StoredVersion, judgement: Judgement, comparable: boolean): string {
  const reasons = judgement.reasons.join('; ');
  switch (judgement.decision) {
    case 'PROMOTE':
      return `Promote version ${b.version}: ${reasons}`;
    case 'REJECT':
      return `Keep version ${a.version} and not version ${b.version}: ${reasons}`;
    case 'INCONCLUSIVE':
      return comparable
        ? `Keep version ${a.version} for now; nothing is proved of version ${b.version}: ${reasons}`
        : `Versions ${a.version} and ${b.version} cannot be compared: ${reasons}. Register both from backtests over the same market and time`;
  }
}
