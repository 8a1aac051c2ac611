import { CANDLE_COLUMNS, type Candles } from './candles.ts';
import type { FundingEvents } from './simulator/types.ts';

/** SHA-256 of a text (UTF-8) or of bytes, hex. Injected: the engine has no hash of its own. */
export type Digest = (data: string | Uint8Array) => string;

/**
 * JSON with sorted keys and without spaces: equal values give equal texts. Properties that are `undefined` are left out.
 *
 * @throws TypeError for a number that JSON cannot hold, or a value that is no JSON at all
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

/** Digest over candles: the digest of the digests of their columns, in storage order. No copy is made. */
export function digestCandles(candles: Candles, digest: Digest): string {
  return digestColumns(
    CANDLE_COLUMNS.map((name) => candles[name]),
    digest,
  );
}

/** Digest over funding events, in the manner of {@link digestCandles}. */
export function digestFunding(events: FundingEvents, digest: Digest): string {
  return digestColumns([events.timestamp, events.rate, events.markPrice], digest);
}

function digestColumns(columns: readonly Float64Array[], digest: Digest): string {
  const parts = columns.map((column) =>
    digest(new Uint8Array(column.buffer, column.byteOffset, column.byteLength)),
  );
  return digest(parts.join('\n'));
}
