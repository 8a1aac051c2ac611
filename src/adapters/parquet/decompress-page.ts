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
    if (from < 0 || distance === 0 || count > this.bytes.length - this.#length)
      throw new RangeError('corrupt');
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

/** Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md */
function decompressLz4(page: Uint8Array, length: number): Uint8Array {
  const output = new Output(length);
  let at = 0;
  const more = (count: number) => {
    let total = count;
    for (let byte = 255; total >= 15 && byte === 255; total += byte) byte = page[at++] ?? 0;
    return total;
  };
  while (at < page.length) {
    const token = page[at++]!;
    const literals = more(token >> 4);
    output.append(page.subarray(at, at + literals));
    at += literals;
    if (at >= page.length) break;
    const distance = (page[at++] ?? 0) + (page[at++] ?? 0) * 256;
    output.repeat(distance, more(token & 15) + 4);
  }
  return output.bytes;
}
