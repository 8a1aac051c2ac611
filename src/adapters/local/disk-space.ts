import { statfs } from 'node:fs/promises';
import { CodedError } from '#contract/errors.ts';

const MB = 1024 * 1024;

/**
 * A check that the disk of a folder has room for new work. Below the minimum what is left is kept for recording how
 * running work ends.
 *
 * @param minFreeMb free space that new work needs, MB
 * @returns a function that throws DATA005 while less is free, or while the disk cannot be asked
 */
export function diskSpaceCheck(folder: string, minFreeMb: number): () => Promise<void> {
  return async () => {
    const { bavail, bsize } = await statfs(folder).catch((cause: unknown) => {
      throw new CodedError('DATA005', { message: 'The disk of the data folder cannot be read', cause });
    });
    const freeMb = Math.floor((bavail * bsize) / MB);
    if (freeMb >= minFreeMb) return;
    throw new CodedError('DATA005', {
      message: `The disk of the data folder has ${freeMb} MB free; new work needs ${minFreeMb} MB. Free disk space, then retry the request.`,
      context: { free_mb: freeMb, min_free_mb: minFreeMb },
    });
  };
}
