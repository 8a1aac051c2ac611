import { isTagColumn, type NamedColumns } from '#domain/backtests/get-backtest-columns.ts';
import { encodePlainFile, plainOptionalNumbers, plainOptionalTexts, plainTimes } from './plain-file.ts';

/** Columns of a run as a Parquet file: `time` in UTC, then the columns. NaN and no tag are absent values. */
export function writeColumnsParquet({ times, columns, tags }: NamedColumns): Uint8Array {
  // Index 0 is no tag.
  const texts = tags.length === 0 ? [null] : tags.map((tag, index) => (index === 0 ? null : tag));
  return encodePlainFile(
    [
      plainTimes('time', times),
      ...columns.map(([name, values]) =>
        isTagColumn(name)
          ? plainOptionalTexts(name, { texts, index: Uint32Array.from(values) })
          : plainOptionalNumbers(name, values),
      ),
    ],
    times.length,
  );
}
