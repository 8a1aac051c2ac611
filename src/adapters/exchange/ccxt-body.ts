import { Buffer } from 'node:buffer';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Response of undici's `request`, which decodes nothing. */
export interface RawResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** A response without the requested content: truncated, in another format, or unexpectedly empty. */
export class InvalidResponse extends Error {
  override readonly name = 'BadResponse';
}

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/**
 * Reads a body and decodes it.
 *
 * @throws InvalidResponse when it has more than `maxBytes` decoded bytes
 */
export async function readBody(
  { statusCode, headers, body }: RawResponse,
  maxBytes: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  const collect = async (decoded: AsyncIterable<Buffer>) => {
    for await (const part of decoded) {
      length += part.length;
      if (length > maxBytes) throw new InvalidResponse(`The response has more than ${maxBytes} bytes`);
      parts.push(part);
    }
  };
  // These have no body to decode, whatever their headers say.
  const isEmpty = statusCode === 204 || statusCode === 304;
  const decoder = isEmpty ? undefined : DECODERS[String(headers['content-encoding'])]?.();
  if (decoder) await pipeline(body, decoder, collect);
  else await pipeline(body, collect);
  return Buffer.concat(parts);
}
