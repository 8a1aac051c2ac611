import { canonicalJson, type Digest } from '#engine/digest.ts';
import type { RunConfig } from '#engine/run/config.ts';
import type { PairData } from '#engine/run/pair-history.ts';
import type { PairDataSummary } from '#engine/run/prepare-pair.ts';
import { ENGINE_VERSION } from '#engine/version.ts';

/** What a result was made from, as sha-256 digests in hex. */
export interface Provenance {
  readonly engine_version: string;
  /** Over the strategy's source, as the caller read it. */
  readonly strategy_digest: string;
  readonly parameters_digest: string;
  /** Over the whole resolved configuration, parameters included. */
  readonly config_digest: string;
  /** Over the data of every pair, in the order of the pairs. */
  readonly data_digest: string;
  /** Over the instrument of every pair, in the order of the pairs; absent in a run without precision. */
  readonly instruments_digest?: string;
  /** Over all of the above: equal digests, equal bytes. */
  readonly digest: string;
}

interface ProvenanceInput {
  readonly config: RunConfig;
  readonly strategyDigest: string;
  readonly pairs: readonly PairData[];
}

export function provenanceOf(
  { config, strategyDigest, pairs }: ProvenanceInput,
  data: readonly Pick<PairDataSummary, 'digest'>[],
  digest: Digest,
): Provenance {
  const { precision, ...others } = config;
  const exact = precision === 'exchange';
  const parts = {
    engine_version: ENGINE_VERSION,
    strategy_digest: strategyDigest,
    parameters_digest: digest(canonicalJson(config.params)),
    // A configuration that lacks precision is the same as one that has none.
    config_digest: digest(canonicalJson(exact ? config : others)),
    data_digest: digest(data.map((pair) => pair.digest).join('\n')),
    ...(exact && { instruments_digest: digest(canonicalJson(pairs.map(instrumentOf))) }),
  };
  return { ...parts, digest: digest(canonicalJson(parts)) };
}

const instrumentOf = ({ pair, instrument }: PairData) => ({ pair, instrument: instrument ?? null });
