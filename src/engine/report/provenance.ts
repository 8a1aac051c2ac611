import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { Provenance, ReportPairData } from '#contract/report.ts';
import { canonicalJson, type Digest } from '#engine/digest.ts';
import type { PairData } from '#engine/run/history.ts';
import { ENGINE_VERSION } from '#engine/version.ts';

interface ProvenanceInput {
  readonly config: ResolvedBacktestConfig;
  readonly strategyDigest: string;
  readonly pairs: readonly PairData[];
}

export function provenanceOf(
  { config, strategyDigest, pairs }: ProvenanceInput,
  data: readonly Pick<ReportPairData, 'digest'>[],
  digest: Digest,
): Provenance {
  const { precision, ...others } = config;
  const exact = precision === 'exchange';
  const parts = {
    engine_version: ENGINE_VERSION,
    strategy_digest: strategyDigest,
    parameters_digest: digest(canonicalJson(config.params)),
    // A missing precision and precision `none` are the same configuration.
    config_digest: digest(canonicalJson(exact ? config : others)),
    data_digest: digest(data.map((pair) => pair.digest).join('\n')),
    ...(exact && { instruments_digest: digest(canonicalJson(pairs.map(instrumentOf))) }),
  };
  return { ...parts, digest: digest(canonicalJson(parts)) };
}

const instrumentOf = ({ pair, instrument }: PairData) => ({ pair, instrument: instrument ?? null });
