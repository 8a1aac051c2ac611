import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { BadFileError } from '../file-rows.ts';
import { csvInZip } from './zip.ts';

/** Maximum length of a row, characters. A longer row means another file format, which must not fill the memory. */
export const MAX_ROW_LENGTH = 65_536;

const GZIP_ERRORS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'is truncated',
  Z_DATA_ERROR: 'is not gzipped, or its gzip compressed data is corrupt',
};

/**
 * Text of a file in chunks, decompressed if the name ends with `.gz` or `.zst`; of a `.zip` the text of its only CSV.
 * @throws BadFileError for compressed data that is corrupt or truncated
 */
export async function* textOf(path: string): AsyncIterable<string> {
  if (path.endsWith('.zst')) {
    yield* zstdText(path);
    return;
  }
  if (path.endsWith('.zip')) {
    const decoder = new StringDecoder('utf8');
    for await (const bytes of csvInZip(path)) yield decoder.write(bytes);
    return;
  }
  const bytes = createReadStream(path);
  if (!path.endsWith('.gz')) {
    yield* bytes.setEncoding('utf8');
    return;
  }
  const unzipped = createGunzip();
  // Errors are thrown by the iterator below.
  pipeline(bytes, unzipped, () => {});
  try {
    yield* unzipped.setEncoding('utf8');
  } catch (error) {
    const problem = GZIP_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    throw problem ? new BadFileError(problem) : error;
  }
}

/** Node decompresses the first frame only and ignores the others, so each frame is read from its own position. */
async function* zstdText(path: string): AsyncIterable<string> {
  const { size } = await stat(path);
  const decoder = new StringDecoder('utf8');
  for (let start = 0; start < size; ) {
    const frame = createZstdDecompress();
    pipeline(createReadStream(path, { start }), frame, () => {});
    try {
      for await (const piece of frame) yield decoder.write(piece as Buffer);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'Z_BUF_ERROR') throw new BadFileError('is truncated');
      throw code.startsWith('ZSTD_')
        ? new BadFileError('is not Zstandard, or its compressed data is corrupt')
        : error;
    }
    start += frame.bytesWritten;
  }
  yield decoder.end();
}
