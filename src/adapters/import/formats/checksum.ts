import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BadFileError } from '../file-rows.ts';

/** Beginning of a line of `sha256sum`: hash, space, mode, name. */
const LINE = /^(?<hash>[0-9a-f]{64})\b/i;
/** Read of the file: it has one line. */
const MAX_BYTES = 4_096;

/** @throws BadFileError when the file `checksum` states another SHA-256, or none, for the file `path` */
export async function verifyChecksum(path: string, checksum: string): Promise<void> {
  const stated = LINE.exec(await beginningOf(checksum))?.groups?.hash?.toLowerCase();
  if (stated === undefined)
    throw new BadFileError(`its checksum file ${basename(checksum)} has no SHA-256: download it again`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const actual = hash.digest('hex');
  if (actual !== stated)
    throw new BadFileError(
      `does not match its checksum file: SHA-256 is ${actual.slice(0, 12)}..., expected ${stated.slice(0, 12)}...; download it again`,
    );
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
