import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Checksum inside a Parquet file: 8 marker bytes and the checksum of everything else, just before the footer. Readers
 * find the footer from the end of the file and the data by its offsets, so they skip these bytes. A checksum in a
 * separate object could be older or newer than the file.
 */
interface ChecksumFormat {
  readonly mark: Buffer;
  /** Checksum of the file's data followed by its footer. */
  readonly checksum: (data: Uint8Array, rest: Uint8Array) => Buffer;
  /** Length of the checksum, bytes. */
  readonly bytes: number;
}

/** CRC-32, as in Parquet's pages: it detects corruption in a third of the time of a cryptographic digest. */
const CRC: ChecksumFormat = {
  mark: Buffer.from('TSCRC032'),
  checksum: (data, rest) => {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(rest, crc32(data)));
    return checksum;
  },
  bytes: 4,
};

/** Format of files that earlier versions wrote. */
const SHA256: ChecksumFormat = {
  mark: Buffer.from('TSSHA256'),
  checksum: (data, rest) => createHash('sha256').update(data).update(rest).digest(),
  bytes: 32,
};

/** Length of the footer, and `PAR1`. */
const TAIL_BYTES = 8;
const MAGIC = 'PAR1';

/** The file with its checksum before the footer. */
export function appendChecksum(parquet: Uint8Array): Uint8Array {
  const file = Buffer.from(parquet.buffer, parquet.byteOffset, parquet.byteLength);
  const footer = footerStart(file)!;
  const [data, rest] = [file.subarray(0, footer), file.subarray(footer)];
  return Buffer.concat([data, CRC.mark, CRC.checksum(data, rest), rest]);
}

/** True when the file's content matches its checksum. */
export function hasValidChecksum(content: Uint8Array): boolean {
  const file = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const footer = footerStart(file);
  if (footer === undefined) return false;
  return [CRC, SHA256].some((format) => hasChecksum(file, footer, format));
}

function hasChecksum(file: Buffer, footer: number, { mark, checksum, bytes }: ChecksumFormat): boolean {
  const start = footer - bytes - mark.length;
  if (start < 0 || !file.subarray(start, start + mark.length).equals(mark)) return false;
  const stored = file.subarray(footer - bytes, footer);
  return checksum(file.subarray(0, start), file.subarray(footer)).equals(stored);
}

function footerStart(file: Buffer): number | undefined {
  if (file.length < TAIL_BYTES || file.toString('latin1', file.length - MAGIC.length) !== MAGIC)
    return undefined;
  const start = file.length - TAIL_BYTES - file.readUInt32LE(file.length - TAIL_BYTES);
  return start < 0 ? undefined : start;
}
