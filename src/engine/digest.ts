import type { Digest } from '#contract/values/digest.ts';
import { CANDLE_COLUMNS, type Candles } from './candles.ts';
import type { FundingEvents } from './simulator/types.ts';
import type { DailyCosts } from './slippage/daily-costs.ts';

/**
 * JSON with sorted keys and without spaces: equal values give equal strings. `undefined` properties are omitted.
 *
 * @throws TypeError for a number or another value that JSON cannot represent
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form.`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`A ${typeof value} has no JSON form.`);
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`);
  return `{${entries.join(',')}}`;
}

/** Digest of candles: the digest of the digests of their columns, in storage order. Makes no copy. */
export function digestCandles(candles: Candles, digest: Digest): string {
  return digestColumns(
    CANDLE_COLUMNS.map((name) => candles[name]),
    digest,
  );
}

/** Digest of funding events, computed as in {@link digestCandles}. */
export function digestFunding(events: FundingEvents, digest: Digest): string {
  return digestColumns([events.timestamp, events.rate, events.markPrice], digest);
}

/** Digest of the costs of a pair. */
export function digestCosts({ firstDay, spread, impact }: DailyCosts, digest: Digest): string {
  // As text: a NaN has no bits of its own.
  return digest([firstDay, spread?.join(' '), impact?.join(' ')].join('\n'));
}

function digestColumns([times, ...columns]: readonly Float64Array[], digest: Digest): string {
  const parts = [digestTimes(times!, digest), ...columns.map((column) => digest(bytesOf(column)))];
  return digest(parts.join('\n'));
}

/** Digests of times by their memory: the pairs of a run share it. */
const digestedTimes = new WeakMap<
  ArrayBufferLike,
  { readonly key: string; readonly digest: Digest; readonly text: string }
>();

function digestTimes(times: Float64Array, digest: Digest): string {
  const key = `${times.byteOffset} ${times.byteLength}`;
  const known = digestedTimes.get(times.buffer);
  if (known?.key === key && known.digest === digest) return known.text;
  const text = digest(bytesOf(times));
  digestedTimes.set(times.buffer, { key, digest, text });
  return text;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
