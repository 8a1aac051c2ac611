/** Fields of a struct by their number. Structs are maps, lists arrays, texts bytes. */
export type ThriftStruct = ReadonlyMap<number, unknown>;

/** Types of Thrift's compact protocol. */
const TYPE = { true: 1, false: 2, byte: 3, double: 7, binary: 8, list: 9, set: 10, struct: 12 } as const;
/** Numbers between byte and double are variable in length. */
const isInteger = (type: number) => type > TYPE.byte && type < TYPE.double;
const MAX_DEPTH = 32;

/**
 * Reads Parquet's metadata of files and pages, which any program may have written, in Thrift's compact protocol. Nothing is allocated
 * for a length before so many bytes are there, and no more values than a number: a struct of one byte takes 240 in memory.
 */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  position: number;
  /** Values that it may still read. */
  #left: number;

  constructor(bytes: Uint8Array, position: number, maxValues = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
    this.position = position;
    this.#left = maxValues;
  }

  /** True after it has met more values than it may read. */
  get isFull(): boolean {
    return this.#left < 0;
  }

  /** @throws RangeError for bytes that are not a struct */
  struct(depth = 0): ThriftStruct {
    if (depth > MAX_DEPTH) throw new RangeError('Thrift: nested too deeply');
    const fields = new Map<number, unknown>();
    for (let id = 0, head = this.#byte(); head !== 0; head = this.#byte()) {
      const delta = head >> 4;
      id = delta === 0 ? this.#integer() : id + delta;
      fields.set(id, this.#value(head & 15, depth));
    }
    return fields;
  }

  #value(type: number, depth: number): unknown {
    if (--this.#left < 0) throw new RangeError('Thrift: too many values');
    if (type === TYPE.true || type === TYPE.false) return type === TYPE.true;
    if (type === TYPE.byte) return this.#byte();
    if (isInteger(type)) return this.#integer();
    if (type === TYPE.double) return this.#take(8);
    if (type === TYPE.binary) return this.#take(this.varint());
    if (type === TYPE.struct) return this.struct(depth + 1);
    if (type === TYPE.list || type === TYPE.set) return this.#list(depth);
    throw new RangeError(`Thrift: type ${type}`);
  }

  #list(depth: number): unknown[] {
    const head = this.#byte();
    const length = head >> 4 === 15 ? this.varint() : head >> 4;
    // Each value has a byte at least.
    if (length > this.#bytes.length - this.position) throw new RangeError('Thrift: a list is truncated');
    const type = head & 15;
    const values: unknown[] = [];
    for (let index = 0; index < length; index++) {
      const isFlag = type === TYPE.true || type === TYPE.false;
      // In a list, a flag has a byte of its own.
      const value = this.#value(isFlag ? TYPE.byte : type, depth + 1);
      values.push(isFlag ? value === TYPE.true : value);
    }
    return values;
  }

  #take(length: number): Uint8Array {
    const end = this.position + length;
    if (end > this.#bytes.length) throw new RangeError('Thrift: a text is truncated');
    const taken = this.#bytes.subarray(this.position, end);
    this.position = end;
    return taken;
  }

  #byte(): number {
    const byte = this.#bytes[this.position++];
    if (byte === undefined) throw new RangeError('Thrift: truncated');
    return byte;
  }

  /** Beyond 2^53 it is not exact. */
  #integer(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A number in as many bytes as it needs. */
  varint(): number {
    let value = 0;
    for (let unit = 1, bytes = 0; bytes < 10; unit *= 128, bytes++) {
      const byte = this.#byte();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
    throw new RangeError('Thrift: a number has no end');
  }
}
