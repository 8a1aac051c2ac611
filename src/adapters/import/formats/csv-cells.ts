import { longDecimal, POWERS } from '../columns/long-decimal.ts';

const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const POINT = 46;
const ZERO = 48;

/** Why a line cannot be split into its cells. */
export type CellProblem = 'unclosed' | 'width';

/** The cells of one line at a time: their places in the bytes, and the values of decimal numbers. */
export class CsvCells {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Value of a cell of digits with at most one point; NaN for other cells. */
  readonly values: Float64Array;
  /** Position after the line. */
  next = 0;
  readonly #width: number;
  readonly #delimiter: number;
  readonly #decimalComma: boolean;

  /** @param width cells of a line; further ones must be empty */
  constructor(width: number, delimiter: string, decimalComma: boolean) {
    this.starts = new Int32Array(width);
    this.ends = new Int32Array(width);
    this.values = new Float64Array(width);
    this.#width = width;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#decimalComma = decimalComma;
  }

  /**
   * Reads a line in one pass. Long because calls for each cell would take half of the time again.
   * @param bytes have a newline at or after `start`
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one scan of every byte of a file
  read(bytes: Uint8Array, start: number): CellProblem | undefined {
    const { starts, ends, values } = this;
    const width = this.#width;
    const delimiter = this.#delimiter;
    let at = start;
    for (let cell = 0; ; cell++, at++) {
      const begin = at;
      let code = bytes[at]!;
      if (code === QUOTE) {
        at = this.#readQuoted(bytes, at, cell);
        if (at < 0) return 'unclosed';
        if (cell >= width && at > begin + 2) return this.#wrongWidth(bytes, at);
      } else {
        while (code === SPACE) code = bytes[++at]!;
        const from = at;
        let value = 0;
        let point = -1;
        for (; ; code = bytes[++at]!) {
          const digit = code - ZERO;
          if (digit >= 0 && digit <= 9) value = value * 10 + digit;
          else if (code === POINT && point < 0) point = at;
          else break;
        }
        const stop = at;
        while (code !== delimiter && code !== NEWLINE) code = bytes[++at]!;
        const end = code === NEWLINE && at > begin && bytes[at - 1] === RETURN ? at - 1 : at;
        if (cell < width) {
          starts[cell] = begin;
          ends[cell] = end;
          const isPlain = stop === end && end - from > (point < 0 ? 0 : 1) && !this.#decimalComma;
          values[cell] = isPlain ? plainValue(bytes, from, end, value, point) : Number.NaN;
        } else if (end > begin) return this.#wrongWidth(bytes, at);
      }
      if (bytes[at] !== NEWLINE) continue;
      this.next = at + 1;
      return cell + 1 < width ? 'width' : undefined;
    }
  }

  #wrongWidth(bytes: Uint8Array, at: number): 'width' {
    this.next = bytes.indexOf(NEWLINE, at) + 1;
    return 'width';
  }

  /** Returns the position of the delimiter or newline after the quote; -1 for a quote that is not closed. */
  #readQuoted(bytes: Uint8Array, start: number, cell: number): number {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = bytes[newline - 1] === RETURN ? newline - 1 : newline;
    this.next = newline + 1;
    let at = start + 1;
    for (; ; at++) {
      if (at >= end) return -1;
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) break;
      at++;
    }
    if (cell < this.#width) {
      this.starts[cell] = start + 1;
      this.ends[cell] = at;
      this.values[cell] = this.#decimalComma ? Number.NaN : plainNumber(bytes, start + 1, at);
    }
    return at + 1 >= end ? newline : at + 1;
  }
}

/** Number of digits with at most one point; NaN for other text. */
function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let point = -1;
  for (let at = start; at < end; at++) {
    const code = bytes[at]!;
    const digit = code - ZERO;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
    else if (code === POINT && point < 0) point = at;
    else return Number.NaN;
  }
  return end - start > (point < 0 ? 0 : 1) ? plainValue(bytes, start, end, value, point) : Number.NaN;
}

/**
 * Value of digits. Digits below 2^53 and a power of ten up to 1e22 are exact, so the division rounds once, as in a decimal conversion.
 * @param value of the digits without the point, which is at `point`; -1: none
 */
function plainValue(bytes: Uint8Array, start: number, end: number, value: number, point: number): number {
  if (value > Number.MAX_SAFE_INTEGER) return longDecimal(bytes, start, end);
  if (point < 0) return value;
  const power = end - point - 1;
  return power < POWERS.length ? value / POWERS[power]! : Number.NaN;
}
