import { constants, gzipSync } from 'node:zlib';

/** Byte of a gzip header that names the operating system, and its value for an unknown one. */
const GZIP_SYSTEM = { at: 9, unknown: 255 } as const;

/** The text, compressed by gzip and encoded in base64. Equal texts give equal results on every system. */
export function gzipBase64(text: string): string {
  const bytes = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
  bytes[GZIP_SYSTEM.at] = GZIP_SYSTEM.unknown;
  return bytes.toString('base64');
}
