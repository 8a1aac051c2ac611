import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { ObjectStore } from '#domain/ports.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { FileObjectStore } from './local/file-object-store.ts';

/** Client of all buckets: each has its own connections. */
let client: S3Client | undefined;

/**
 * Object store of a bucket: the folder of that name in `OBJECTS_DIRECTORY` if set, else S3, whose client is loaded at the first call.
 *
 * @param prefix of every key, with its slash; default none
 */
export function openObjectStore(
  env: { readonly OBJECTS_DIRECTORY?: string | undefined },
  bucket: string,
  prefix = '',
): ObjectStore {
  if (env.OBJECTS_DIRECTORY) return new FileObjectStore(join(env.OBJECTS_DIRECTORY, bucket, prefix));
  return lazy(async () => {
    const { createS3Client, S3ObjectStore } = await import('./aws/s3-object-store.ts');
    client ??= createS3Client();
    return new S3ObjectStore(client, bucket, prefix);
  });
}
