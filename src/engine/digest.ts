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

/**
 * Columns of signals, a byte a row, read four rows at a time: reading a million of them one by one takes as long as
 * simulating them.
 */

const LOWEST_BITS = 0x01010101;

/** First row with a value above `most`, the length when there is none. */
export function firstAbove(column: Uint8Array, most: number): number {
  let row = most === 1 ? rowsOfBits(column) : 0;
  while (row < column.length && column[row]! <= most) row++;
  return row;
}

/** Rows that are 1, in a column of zeros and ones. */
export function countSet(column: Uint8Array): number {
  const { head, words } = inWords(column);
  let count = 0;
  for (let row = 0; row < head; row++) count += column[row]!;
  for (let index = 0, { length } = words; index < length; index++) {
    const word = words[index]!;
    // The highest byte of the product is the sum of all four.
    if (word !== 0) count += Math.imul(word, LOWEST_BITS) >>> 24;
  }
  for (let row = head + 4 * words.length, { length } = column; row < length; row++) count += column[row]!;
  return count;
}

/** A number of rows from the first on that are certainly 0 or 1: all before the four in which the first other one is. */
function rowsOfBits(column: Uint8Array): number {
  const { head, words } = inWords(column);
  for (let row = 0; row < head; row++) if (column[row]! > 1) return row;
  let index = 0;
  while (index < words.length && (words[index]! & ~LOWEST_BITS) === 0) index++;
  return head + 4 * index;
}

/** The rows behind the first `head` ones as numbers of four bytes; up to three remain behind them. */
function inWords({ buffer, byteOffset, length }: Uint8Array) {
  const head = Math.min(length, -byteOffset & 3);
  const words = (length - head) >>> 2;
  return { head, words: new Int32Array(buffer, words > 0 ? byteOffset + head : 0, words) };
}
