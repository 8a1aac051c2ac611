import { CodedError } from '#contract/errors.ts';
import type { InstrumentRecord } from '#contract/instrument.ts';
import { PRECISIONS, type Precision } from '#contract/limits.ts';
import type { InstrumentStore } from './instrument-ports.ts';
import { checkOneOf } from './validate.ts';

/** Its prices and amounts have no steps. */
const SIMULATED = 'sim';
const NAMED = 10;

export interface ResolvedPrecision {
  readonly value: Precision;
  readonly warnings: readonly string[];
  /** Those of all pairs, where the value is `exchange`. */
  readonly instruments?: ReadonlyMap<string, InstrumentRecord>;
}

/**
 * The precision of a run: as asked, by default `exchange` where the instruments of all pairs are stored.
 * Throws VAL005 for another value, and for `exchange` where an instrument is missing.
 */
export async function resolvePrecision(
  { instruments }: { readonly instruments: InstrumentStore },
  asked: string | undefined,
  exchange: string,
  pairs: readonly string[],
): Promise<ResolvedPrecision> {
  const precision = asked === undefined ? undefined : checkOneOf(asked, 'config.precision', PRECISIONS);
  if (exchange === SIMULATED) {
    const warning = `config.precision is none: ${SIMULATED} has no price ticks, amount steps or minimum orders`;
    return { value: 'none', warnings: precision === 'exchange' ? [warning] : [] };
  }
  if (precision === 'none') return { value: 'none', warnings: [] };
  const stored = await instruments.getMany(exchange, pairs);
  const missing = pairs.filter((pair) => !stored.has(pair));
  if (missing.length === 0) return { value: 'exchange', warnings: [], instruments: stored };
  if (precision === undefined) return { value: 'none', warnings: [] };
  throw noInstruments('VAL005', exchange, missing);
}

/** Names the pairs, and what to do. */
export function noInstruments(
  code: 'VAL005' | 'DATA001',
  exchange: string,
  missing: readonly string[],
): CodedError {
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : '';
  const named = `${missing.slice(0, NAMED).join(', ')}${more}`;
  return new CodedError(code, {
    message: `config.precision exchange needs the instruments of ${named} on ${exchange}, which are not stored. Collect them with the candles (npx touchstone collect, POST /api/v1/collections of data collection), or set config.precision to none`,
    field: 'config.precision',
    context: { exchange, missing: missing.slice(0, 200) },
  });
}
