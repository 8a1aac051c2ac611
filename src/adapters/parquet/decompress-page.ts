import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** Codecs of Parquet. */
export const CODEC = { none: 0, snappy: 1, gzip: 2, brotli: 4, lz4: 5, zstd: 6, lz4Raw: 7 } as const;

/**
 * Content of a compressed page.
 *
 * @param length of the content; a page with more is an error before more is allocated
 * @throws Error for a page that is corrupt or has another codec
 */
export function decompressPage(page: Uint8Array, codec: number, length: number): Uint8Array {
  const options = { maxOutputLength: Math.max(1, length) };
  if (codec === CODEC.none) return page;
  if (codec === CODEC.gzip) return gunzipSync(page, options);
  if (codec === CODEC.brotli) return brotliDecompressSync(page, options);
  if (codec === CODEC.zstd) return zstdDecompressSync(page, options);
  if (codec === CODEC.snappy) return decompressSnappy(page, length);
  if (codec === CODEC.lz4Raw) return decompressLz4(page, length);
  throw new RangeError(`unknown codec ${codec}`);
}

/** Output that copies from its own earlier bytes. */
class Output {
  readonly bytes: Uint8Array;
  #length = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
  }

  append(literals: Uint8Array): void {
    this.bytes.set(literals, this.#length);
    this.#length += literals.length;
  }

  repeat(distance: number, count: number): void {
    const from = this.#length - distance;
    if (from < 0 || distance === 0 || count > this.bytes.length - this.#length) throw corrupt();
    for (let index = 0; index < count; index++) this.bytes[this.#length++] = this.bytes[from + index]!;
  }
}

/** Format: https://github.com/google/snappy/blob/main/format_description.txt */
function decompressSnappy(page: Uint8Array, length: number): Uint8Array {
  const output = new Output(length);
  let at = 0;
  const little = (bytes: number) => {
    let value = 0;
    for (let index = 0; index < bytes; index++) value += (page[at++] ?? 0) * 256 ** index;
    return value;
  };
  // The length of the content, which the page's header has too.
  while ((page[at++] ?? 0) >= 128);
  while (at < page.length) {
    const tag = page[at++]!;
    const size = tag >> 2;
    if ((tag & 3) === 0) {
      const count = (size < 60 ? size : little(size - 59)) + 1;
      output.append(page.subarray(at, at + count));
      at += count;
    } else if ((tag & 3) === 1) output.repeat(((tag >> 5) << 8) + little(1), ((tag >> 2) & 7) + 4);
    else output.repeat(little((tag & 3) === 2 ? 2 : 4), size + 1);
  }
  return output.bytes;
}

function decompressLz4(page: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  if (page.length > 0) decodeLz4Block(page, output, 0);
  return output;
}

/** Smallest count of bytes that LZ4 repeats. */
const MIN_MATCH = 4;
/** Bytes from which copying in one call is faster than byte by byte. */
const LONG = 32;

/**
 * Decompresses an LZ4 block into `output` from a position on, and returns the position after it. It may refer to earlier bytes of
 * `output`, as a block of a frame does. Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 *
 * @throws RangeError for a block that ends early, or refers to bytes outside of the output
 */
export function decodeLz4Block(block: Uint8Array, output: Uint8Array, from: number): number {
  let at = 0;
  let written = from;
  const more = (count: number) => {
    if (count < 15) return count;
    let total = count;
    for (;;) {
      const byte = block[at++];
      if (byte === undefined) throw corrupt();
      total += byte;
      if (byte < 255) return total;
    }
  };
  for (;;) {
    const token = block[at++];
    if (token === undefined) throw corrupt();
    const literals = more(token >> 4);
    if (literals > block.length - at || literals > output.length - written) throw corrupt();
    if (literals < LONG) for (let i = 0; i < literals; i++) output[written + i] = block[at + i]!;
    else output.set(block.subarray(at, at + literals), written);
    at += literals;
    written += literals;
    if (at === block.length) return written;

    if (block.length - at < 2) throw corrupt();
    const offset = block[at]! | (block[at + 1]! << 8);
    at += 2;
    const matched = more(token & 15) + MIN_MATCH;
    if (offset === 0 || offset > written || matched > output.length - written) throw corrupt();
    // Byte by byte: a match may overlap what it writes.
    for (const end = written + matched; written < end; written++) output[written] = output[written - offset]!;
  }
}

const corrupt = () => new RangeError('corrupt');
