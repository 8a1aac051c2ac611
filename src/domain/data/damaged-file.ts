import { CodedError } from '#contract/errors.ts';
import type { Clock, SeriesKey, SeriesStore } from '../ports.ts';
import { isoTime } from '../validate.ts';

/** A stored file that is not what was written, or is gone. Nothing of it is ever used: it counts as missing. */
export class DamagedFileError extends CodedError {
  /** `YYYY-MM`. */
  readonly month: string;

  constructor(file: string, month: string, problem: 'damaged' | 'lost' = 'damaged', cause?: unknown) {
    super('DATA005', {
      message: `${file} is ${problem}: it will be collected again before the next run that needs it`,
      context: { file },
      cause,
    });
    this.month = month;
  }
}

/**
 * What `read` reads. When it meets a damaged file the series is marked, so that it is stale until the month has been
 * collected again, and the error goes on.
 */
export async function notingDamage<T>(
  deps: { readonly series: SeriesStore; readonly clock: Clock },
  key: SeriesKey,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DamagedFileError) {
      await deps.series.markDamaged(key, error.month, isoTime(deps.clock.now()));
    }
    throw error;
  }
}
