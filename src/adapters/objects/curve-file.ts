import type { CandleCurve } from '#engine/report/candle-curve.ts';

/**
 * Stored format of the curve of a run: a JSON head padded to a multiple of 8 bytes, then for each column the differences of
 * consecutive values, in multiples of the column's unit, as integers of two bytes. A million candles take a quarter of the time
 * and of the space of doubles (docs/decisions/057).
 */

interface Column {
  /** Decimal exponent of the unit: values are multiples of 10^exponent. */
  readonly exponent: number;
  /** First value, in units. */
  readonly first: number;
  /** Bytes of a difference. */
  readonly bytes: 2 | 4;
}

interface Head {
  readonly start: number;
  readonly step: number;
  readonly wallet: number;
  readonly rows: number;
  /** Equity and market. */
  readonly columns: readonly [Column, Column];
}

const WORD = 8;
const LENGTH_BYTES = 4;
/** Values are rounded to a millionth of the starting balance and to a hundred thousandth, or to the next smaller power of ten. */
const EQUITY_DIGITS = 6;
const MARKET_DIGITS = 5;
/** The product of an exact integer and a power up to this is finite. */
const MAX_EXPONENT = 200;

/**
 * Bytes of a curve for {@link decodeCurve}. Equal curves have equal bytes.
 *
 * @throws RangeError for a value that is not finite
 */
export function encodeCurve({ start, step, wallet, equity, market }: CandleCurve): Buffer {
  const exponent = Math.floor(Math.log10(wallet));
  const columns = [
    encodeColumn(equity, exponent - EQUITY_DIGITS),
    encodeColumn(market, exponent - MARKET_DIGITS),
  ];
  const described = columns.map(({ column }) => column) as [Column, Column];
  const head = writeHead({ start, step, wallet, rows: equity.length, columns: described });
  return Buffer.concat([head, ...columns.map(({ differences }) => bytesOf(differences))]);
}

/**
 * The curve of {@link encodeCurve}, rounded to its units.
 *
 * @throws Error when the bytes are not a curve
 */
export function decodeCurve(stored: Uint8Array): CandleCurve {
  const { head, body } = readHead(stored);
  const { start, step, wallet, rows, columns } = head;
  const middle = body + rows * columns[0].bytes;
  // Copies, because typed arrays need an aligned offset, and a buffer's own `slice` is a view.
  const part = (from: number, to?: number) => Uint8Array.prototype.slice.call(stored, from, to);
  const equity = decodeColumn(part(body, middle), columns[0]);
  const market = decodeColumn(part(middle), columns[1]);
  return { start, step, wallet, equity, market };
}

/** Differences that fit into two bytes; a larger unit only where they do not fit into four. */
function encodeColumn(values: Float64Array, exponent: number) {
  for (let larger = exponent; larger <= MAX_EXPONENT; larger++) {
    const factor = 10 ** -larger;
    for (const Integers of [Uint16Array, Uint32Array]) {
      const differences = new Integers(values.length);
      if (!writeDifferences(values, factor, differences)) continue;
      const first = values.length === 0 ? 0 : Math.floor(values[0]! * factor + 0.5);
      const column: Column = { exponent: larger, first, bytes: differences.BYTES_PER_ELEMENT as 2 | 4 };
      return { column, differences };
    }
  }
  throw new RangeError('The curve has a value that is not finite');
}

/** Returns false when a difference does not fit. `Math.floor` because `Math.round` takes three times as long. */
function writeDifferences(
  values: Float64Array,
  factor: number,
  differences: Uint16Array | Uint32Array,
): boolean {
  // The lowest bit of a difference is its sign, so that small negative ones are small integers too.
  const largest = 2 ** (differences.BYTES_PER_ELEMENT * 8 - 1) - 1;
  let before = Math.floor(values[0]! * factor + 0.5);
  for (let row = 1, { length } = values; row < length; row++) {
    const units = Math.floor(values[row]! * factor + 0.5);
    const difference = units - before;
    if (!(difference <= largest && difference >= -largest)) return false;
    differences[row] = (difference << 1) ^ (difference >> 31);
    before = units;
  }
  return true;
}

function decodeColumn(stored: Uint8Array, { first, bytes, exponent }: Column): Float64Array {
  const differences = bytes === 2 ? new Uint16Array(stored.buffer) : new Uint32Array(stored.buffer);
  const values = new Float64Array(differences.length);
  // A product with an exact power or a quotient by one is the closest double of the decimal number.
  const power = 10 ** Math.abs(exponent);
  let units = first;
  for (let row = 0, { length } = differences; row < length; row++) {
    const difference = differences[row]!;
    units += (difference >>> 1) ^ -(difference & 1);
    values[row] = exponent < 0 ? units / power : units * power;
  }
  return values;
}

/** Length of the JSON, the JSON, and spaces up to a multiple of 8 bytes. */
function writeHead(head: Head): Buffer {
  const text = JSON.stringify(head);
  const padded = Math.ceil((LENGTH_BYTES + text.length) / WORD) * WORD;
  const buffer = Buffer.alloc(padded, ' ');
  buffer.writeUInt32LE(padded - LENGTH_BYTES);
  buffer.write(text, LENGTH_BYTES);
  return buffer;
}

/** Head of a file whose length fits to it: code of others may have written the file. */
function readHead(stored: Uint8Array): { readonly head: Head; readonly body: number } {
  const buffer = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const body = LENGTH_BYTES + buffer.readUInt32LE();
  const head = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, body)) as Head;
  const { start, step, wallet, rows, columns } = head;
  const isColumn = ({ exponent, first, bytes }: Column) =>
    Number.isInteger(exponent) &&
    Math.abs(exponent) <= MAX_EXPONENT &&
    Number.isSafeInteger(first) &&
    (bytes === 2 || bytes === 4);
  const isSound =
    Number.isSafeInteger(start) &&
    Number.isSafeInteger(rows) &&
    rows >= 0 &&
    step > 0 &&
    wallet > 0 &&
    wallet < 1e15;
  if (!isSound || columns.length !== 2 || !columns.every(isColumn))
    throw new Error('A curve has another format');
  const length = columns.reduce((sum, { bytes }) => sum + rows * bytes, body);
  if (length !== stored.length) throw new Error('A curve is truncated');
  return { head, body };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
