import { createHash } from 'node:crypto';

/**
 * A Parquet file that carries its own checksum: 8 bytes of mark and the sha-256 of everything else, just before the footer.
 * Readers find the footer from the end of the file and the data by its offsets, so that none meets these bytes. In a place
 * of its own a checksum could be older or newer than the file.
 */

const MARK = Buffer.from('TSSHA256');
const SEAL_BYTES = MARK.length + 32;
/** Length of the footer, and `PAR1`. */
const TAIL_BYTES = 8;
const MAGIC = 'PAR1';

/** The file with its checksum. */
export function sealFile(parquet: Uint8Array): Uint8Array {
  const file = Buffer.from(parquet.buffer, parquet.byteOffset, parquet.byteLength);
  const footer = footerStart(file)!;
  const [data, rest] = [file.subarray(0, footer), file.subarray(footer)];
  return Buffer.concat([data, MARK, sha256(data, rest), rest]);
}

/** Whether the file is as it was when it was sealed. */
export function isIntact(sealed: Uint8Array): boolean {
  const file = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const footer = footerStart(file);
  if (footer === undefined || footer < SEAL_BYTES) return false;
  const seal = file.subarray(footer - SEAL_BYTES, footer);
  if (!seal.subarray(0, MARK.length).equals(MARK)) return false;
  const digest = sha256(file.subarray(0, footer - SEAL_BYTES), file.subarray(footer));
  return digest.equals(seal.subarray(MARK.length));
}

function footerStart(file: Buffer): number | undefined {
  if (file.length < TAIL_BYTES || file.toString('latin1', file.length - MAGIC.length) !== MAGIC)
    return undefined;
  const start = file.length - TAIL_BYTES - file.readUInt32LE(file.length - TAIL_BYTES);
  return start < 0 ? undefined : start;
}

function sha256(data: Uint8Array, rest: Uint8Array): Buffer {
  return createHash('sha256').update(data).update(rest).digest();
}
