import { ObjectTooLargeError, type StoredObject } from '#domain/ports.ts';
import { sha256 } from '../sha256.ts';

/** Object as read. Its etag is computed on first use, because readers of candles do not need it. */
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

export function tooLarge(key: string, bytes: number, maxBytes: number): ObjectTooLargeError {
  return new ObjectTooLargeError(`${key} has ${bytes} bytes, more than ${maxBytes}`);
}
