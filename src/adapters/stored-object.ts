import type { StoredObject } from '#domain/ports.ts';
import { sha256 } from './ids.ts';

/** An object as read. Its etag is computed when asked for: readers of candles never ask. */
export function storedObject(body: Uint8Array, contentType: string): StoredObject {
  let etag: string | undefined;
  return {
    body,
    contentType,
    get etag() {
      etag ??= sha256(body);
      return etag;
    },
  };
}
