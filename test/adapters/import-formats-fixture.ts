import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Float64,
  makeData,
  makeVector,
  Table,
  TimestampNanosecond,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';
import { FIXTURES, type ImportFixture, MINUTES_5, T0 } from './import-fixture.ts';

/** The candles of fixtures/import/make.py. */
export const rows = Array.from({ length: 200 }, (_, i) => {
  const open = 100 + (i % 20) * 0.5;
  return [T0 + i * MINUTES_5, open, open + 1, open - 1, open + 0.25, (i % 4) * 10];
});
export const column = (index: number) => rows.map((row) => row[index]!);

export const nanoseconds = (values: readonly bigint[]) =>
  makeVector(makeData({ type: new TimestampNanosecond('UTC'), data: BigInt64Array.from(values) }));
const numbers = (index: number) => vectorFromArray(column(index), new Float64());
/** The candles as Arrow columns. */
export const columns = () => ({
  date: nanoseconds(column(0).map((time) => BigInt(time) * 1_000_000n)),
  open: numbers(1),
  high: numbers(2),
  low: numbers(3),
  close: numbers(4),
  volume: numbers(5),
});
export const feather = (vectors: Record<string, any>) => tableToIPC(new Table(vectors), 'file');

/** Parquet file with the candles in columns of these names. */
export const parquetOf = (names: readonly string[]) =>
  encodeParquet(
    names.map((name, index) => {
      const values = Float64Array.from(column(index));
      return index === 0 ? timestampColumn(name, values) : numberColumn(name, values);
    }),
  );

/** Copy with bits of one byte inverted. */
export const flipped = (bytes: Uint8Array, at: number, bits = 0xff) => {
  const copy = Uint8Array.from(bytes);
  copy[at]! ^= bits;
  return copy;
};

/** Files written by pandas. */
export function pandasFiles() {
  const read = (name: string) => readFileSync(join(FIXTURES, name));
  const lz4 = read('lz4.feather');
  return {
    lz4,
    /** Byte offset of the first LZ4 block. */
    lz4Block: lz4.indexOf('04224d18', 0, 'hex') + 11,
    zstd: read('zstd.feather'),
    snappy: read('snappy.parquet'),
  };
}

/** Imports a file, which comes first, and two valid files. */
export function loadWithValidFiles({ folder, put, load }: ImportFixture, ending: string, bytes: Uint8Array) {
  put(`BTC_USDT_USDT-5m-futures.${ending}`, bytes);
  copyFileSync(join(FIXTURES, 'lz4.feather'), join(folder, 'ETH_USDT_USDT-5m-futures.feather'));
  copyFileSync(join(FIXTURES, 'snappy.parquet'), join(folder, 'XRP_USDT_USDT-5m-futures.parquet'));
  return load();
}
