import { CodedError } from '#contract/values/errors.ts';
import type { Clock, SeriesKey, SeriesStore } from '../ports.ts';
import { isoTime } from './iso-time.ts';

/** A stored file whose checksum does not match, or that is missing. Its content is never used. */
export class CorruptFileError extends CodedError {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Symbol of the series; absent before {@link recordCorruption} has seen the error. */
  symbol: string | undefined;

  constructor(file: string, month: string, problem: 'corrupt' | 'missing' = 'corrupt', cause?: unknown) {
    super('DATA005', {
      message: `${file} is ${problem}: it will be collected again before the next run that needs it`,
      context: { file },
      cause,
    });
    this.month = month;
  }
}

/**
 * Result of `read`. On a corrupt file it marks the series, which is stale until the month is collected again, and rethrows.
 */
export async function recordCorruption<T>(
  deps: { readonly series: Pick<SeriesStore, 'markCorrupt'>; readonly clock: Clock },
  key: SeriesKey,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CorruptFileError) {
      error.symbol = key.symbol;
      await deps.series.markCorrupt(key, error.month, isoTime(deps.clock.now()));
    }
    throw error;
  }
}
