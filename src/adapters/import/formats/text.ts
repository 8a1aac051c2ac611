import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { BadFileError } from '../file-rows.ts';
import { csvInZip } from './zip.ts';

/** Maximum length of a row, characters. A longer row means another file format, which must not fill the memory. */
export const MAX_ROW_LENGTH = 65_536;

/** Bytes per read. */
const BYTES_AT_ONCE = 262_144;

const GZIP_ERRORS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'is truncated',
  Z_DATA_ERROR: 'is not gzipped, or its gzip compressed data is corrupt',
};

/**
 * Text of a file in chunks, decompressed if the name ends with `.gz` or `.zst`; of a `.zip` the text of its only CSV.
 * @throws BadFileError for compressed data that is corrupt or truncated
 */
export async function* textOf(path: string): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8');
  for await (const bytes of bytesOf(path)) yield decoder.write(bytes);
  yield decoder.end();
}

/**
 * As {@link textOf}, its bytes in UTF-8. The memory of a piece is reused for the next one. UTF-16, which some shells and terminals write, is converted.
 * @throws BadFileError for compressed data that is corrupt or truncated
 */
export async function* bytesOf(path: string): AsyncIterable<Buffer> {
  let decoder: TextDecoder | undefined;
  let begun = false;
  for await (const piece of rawBytesOf(path)) {
    if (!begun && piece.length >= 2) decoder = utf16Decoder(piece);
    begun ||= piece.length > 0;
    yield decoder ? Buffer.from(decoder.decode(piece, { stream: true })) : piece;
  }
}

/** Decoder of a file that begins with the byte order mark of UTF-16. */
function utf16Decoder(bytes: Buffer): TextDecoder | undefined {
  const mark = bytes.readUInt16BE(0);
  return mark === 0xfffe
    ? new TextDecoder('utf-16le')
    : mark === 0xfeff
      ? new TextDecoder('utf-16be')
      : undefined;
}

async function* rawBytesOf(path: string): AsyncIterable<Buffer> {
  if (path.endsWith('.zst')) {
    yield* zstdBytes(path);
    return;
  }
  if (path.endsWith('.zip')) {
    yield* csvInZip(path);
    return;
  }
  if (!path.endsWith('.gz')) {
    yield* plainBytes(path);
    return;
  }
  const bytes = createReadStream(path, { highWaterMark: BYTES_AT_ONCE });
  const unzipped = createGunzip({ chunkSize: BYTES_AT_ONCE });
  // Errors are thrown by the iterator below.
  pipeline(bytes, unzipped, () => {});
  try {
    yield* unzipped;
  } catch (error) {
    const problem = GZIP_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    throw problem ? new BadFileError(problem) : error;
  }
}

/** A stream would take new memory for each piece, which takes longer than to read it. */
async function* plainBytes(path: string): AsyncIterable<Buffer> {
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafeSlow(BYTES_AT_ONCE);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BYTES_AT_ONCE, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Node decompresses the first frame only and ignores the others, so each frame is read from its own position. */
async function* zstdBytes(path: string): AsyncIterable<Buffer> {
  const { size } = await stat(path);
  for (let start = 0; start < size; ) {
    const frame = createZstdDecompress();
    pipeline(createReadStream(path, { start }), frame, () => {});
    try {
      for await (const piece of frame) yield piece as Buffer;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'Z_BUF_ERROR') throw new BadFileError('is truncated');
      throw code.startsWith('ZSTD_')
        ? new BadFileError('is not Zstandard, or its compressed data is corrupt')
        : error;
    }
    start += frame.bytesWritten;
  }
}
