import { decodeLz4Block } from '../../parquet/decompress-page.ts';
import { BadFileError } from '../file-rows.ts';

const MAGIC = 0x184d2204;
/** Bits of the frame's descriptor. */
const FLAG = { dictionary: 0x01, contentSize: 0x08, blockChecksum: 0x10, version: 0xc0 } as const;
const VERSION_1 = 0x40;
/** Flag in the size of an uncompressed block. */
const STORED = 0x8000_0000;

/**
 * Decompresses an LZ4 frame of known length. A frame that ends early, refers to bytes outside itself or has another length is
 * an error. Checksums are skipped: Arrow's writers omit them.
 * Format: https://github.com/lz4/lz4/tree/dev/doc, lz4_Frame_format.
 * @param length decompressed length, bytes
 * @throws BadFileError
 */
export function decodeLz4Frame(frame: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const output = new Uint8Array(length);
  try {
    if (view.getUint32(0, true) !== MAGIC) throw corrupt();
    const flags = view.getUint8(4);
    if ((flags & FLAG.version) !== VERSION_1) throw corrupt();
    let at = 7 + (flags & FLAG.contentSize ? 8 : 0) + (flags & FLAG.dictionary ? 4 : 0);
    let written = 0;
    for (;;) {
      const size = view.getUint32(at, true);
      at += 4;
      if (size === 0) break;
      const end = at + (size % STORED);
      if (end > frame.length) throw corrupt();
      const block = frame.subarray(at, end);
      if (size < STORED) written = decodeLz4Block(block, output, written);
      else {
        output.set(block, written);
        written += block.length;
      }
      at = end + (flags & FLAG.blockChecksum ? 4 : 0);
    }
    if (written !== length) throw corrupt();
  } catch (cause) {
    // Reading or writing past an end is a RangeError.
    throw corrupt(cause);
  }
  return output;
}

const corrupt = (cause?: unknown) => new BadFileError('its LZ4 compressed data is corrupt', { cause });
