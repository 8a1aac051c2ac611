import { IMAGE_RUN_LIMITS, IMAGE_RUN_OBJECTS, imageRunPrefix } from '#contract/backtests/image-run-keys.ts';
import type { ReadProgress } from '#domain/image-runs/image-run-ports.ts';
import { ObjectTooLargeError } from '#domain/ports.ts';
import { openObjectStore } from '../open-object-store.ts';

interface ProgressEnv {
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly RUNS_BUCKET?: string | undefined;
  readonly IMAGE_ROLE_ID?: string | undefined;
}

/** Reads the progress that tasks of registered images have written. Separate from their results, which no service reads. */
export function imageRunProgress(env: ProgressEnv): ReadProgress {
  const { RUNS_BUCKET: bucket, IMAGE_ROLE_ID: roleId } = env;
  return async (task) => {
    if (!bucket || !roleId) return undefined;
    try {
      const objects = openObjectStore(env, bucket, imageRunPrefix(roleId, task));
      const stored = await objects.get(IMAGE_RUN_OBJECTS.progress, IMAGE_RUN_LIMITS.bytes.progress);
      // Anything but a number is NaN, or no share.
      const progress = stored && Number(Buffer.from(stored.body).toString('latin1'));
      return progress !== undefined && progress >= 0 && progress <= 1 ? progress : undefined;
    } catch (error) {
      if (error instanceof ObjectTooLargeError) return undefined;
      throw error;
    }
  };
}
