import { join } from 'node:path';
import type { ObjectStore } from '#domain/ports.ts';
import { createS3Client, S3ObjectStore } from './aws/s3-object-store.ts';
import { FileObjectStore } from './local/file-object-store.ts';

/** Object store of a bucket: the folder of that name in `OBJECTS_DIRECTORY` if set, else S3. */
export function openObjectStore(
  env: { readonly OBJECTS_DIRECTORY?: string | undefined },
  bucket: string,
): ObjectStore {
  if (env.OBJECTS_DIRECTORY) return new FileObjectStore(join(env.OBJECTS_DIRECTORY, bucket));
  return new S3ObjectStore(createS3Client(), bucket);
}
