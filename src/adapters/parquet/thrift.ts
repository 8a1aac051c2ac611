/**
 * Writer of the part of Thrift's compact protocol that Parquet's metadata of files and pages needs
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 */

/** One field of a struct: its value by kind. Fields are written in the order of their ids. */
type Value =
  | { readonly kind: 'i32' | 'i64'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'struct'; readonly value: Struct }
  | { readonly kind: 'list'; readonly of: 'i32' | 'text' | 'struct'; readonly value: readonly Value[] };

export type Struct = Readonly<Record<number, Value>>;

const TYPES = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 } as const;
const TRUE = 1;
const FALSE = 2;
const STOP = 0;
/** From this length on, a list's length is a separate number. */
const LONG_LIST = 15;

export const i32 = (value: number): Value => ({ kind: 'i32', value });
/** An integer of at most 2^53. */
export const i64 = (value: number): Value => ({ kind: 'i64', value });
export const bool = (value: boolean): Value => ({ kind: 'bool', value });
export const text = (value: string): Value => ({ kind: 'text', value });
export const struct = (value: Struct): Value => ({ kind: 'struct', value });
export const listOf = (of: 'i32' | 'text' | 'struct', value: readonly Value[]): Value => ({
  kind: 'list',
  of,
  value,
});

/** Bytes of a struct, including its end marker. */
export function encodeStruct(fields: Struct): Buffer {
  const bytes: number[] = [];
  writeStruct(bytes, fields);
  return Buffer.from(bytes);
}

function writeStruct(bytes: number[], fields: Struct): void {
  let last = 0;
  for (const [key, value] of Object.entries(fields)) {
    const id = Number(key);
    // The ids of these structs are never more than 15 apart.
    bytes.push(((id - last) << 4) | typeOf(value));
    writeValue(bytes, value);
    last = id;
  }
  bytes.push(STOP);
}

function typeOf(value: Value): number {
  if (value.kind === 'bool') return value.value ? TRUE : FALSE;
  return TYPES[value.kind];
}

function writeValue(bytes: number[], value: Value): void {
  // The value of a boolean is its type.
  if (value.kind === 'bool') return;
  if (value.kind === 'text') {
    const encoded = Buffer.from(value.value);
    writeVarint(bytes, encoded.length);
    bytes.push(...encoded);
  } else if (value.kind === 'struct') {
    writeStruct(bytes, value.value);
  } else if (value.kind === 'list') {
    writeList(bytes, TYPES[value.of], value.value);
  } else {
    writeVarint(bytes, zigzag(value.value));
  }
}

/** Integers in the order 0, -1, 1, -2 ... */
export function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function writeList(bytes: number[], type: number, values: readonly Value[]): void {
  const { length } = values;
  bytes.push((Math.min(length, LONG_LIST) << 4) | type);
  if (length >= LONG_LIST) writeVarint(bytes, length);
  for (const value of values) writeValue(bytes, value);
}

/** Seven bits a byte, the lowest first. By division: shifts end at 32 bits. */
export function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads integers one after the other. Behind the end there are zeros. */
export class Varints {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Over bytes whose number is known, such as the heads of fields: only a file whose header is compared later may be read so. */
  skip(bytes: number): void {
    this.#at += bytes;
  }

  /** An integer that was written with {@link zigzag}. Beyond 2^53 it is not exact. */
  nextSigned(): number {
    let value = 0;
    let unit = 1;
    for (let more = true; more; unit *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * unit;
      more = byte >= 128;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
