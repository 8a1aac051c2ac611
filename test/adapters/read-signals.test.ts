import {
  Table as ArrowTable,
  Binary,
  Decimal,
  Field,
  List,
  makeVector,
  TimeMillisecond,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { Table, writeParquet } from 'parquet-wasm';
import { expect, it } from 'vitest';
import { parseSignals } from '#adapters/signals/read-signals.ts';

const TIME = '2026-01-05T00:00:00.000Z';
const MS = Date.parse(TIME);
const PAIR = 'BTC/USDT:USDT';
const HEAD = 'timestamp,pair,enter_long,enter_tag,stake_ratio\n';

const parse = (text: string | Uint8Array) => parseSignals(Buffer.from(text), 'x');
const timeOf = (cell: string) => new Date(parse(`${HEAD}${cell},${PAIR},1,,\n`).timestamp[0]!).toISOString();

it('times of pandas, spreadsheets and programs are the same candle', () => {
  for (const cell of [
    '2026-01-05',
    '2026-01-05 00:00:00',
    '2026-01-05 00:00:00+00:00',
    '2026-01-05T02:00:00.000+0200',
    '2026-01-04T19:00:00-05:00',
    String(MS),
    String(MS / 1000),
    `${MS / 1000}.0`,
    '1.7675712e9',
  ]) {
    expect(timeOf(cell), cell).toBe(TIME);
  }
});

it('times that name no instant are refused, and not read as another one', () => {
  expect(timeOf('2028-02-29')).toBe('2028-02-29T00:00:00.000Z');
  for (const cell of [
    '2026-02-29',
    '2026-02-30T00:00:00Z',
    '2026-04-31 00:00',
    '2026-02-32',
    '2026-13-01',
    '05/01/2026',
    `${MS}000`,
    `${MS}000000`,
    '0x6955b900',
    'Infinity',
    'NaT',
    '',
  ]) {
    expect(() => timeOf(cell), cell).toThrow(`row 1 has the timestamp "${cell}"`);
  }
});

it('CSV of Windows with a byte order mark and quotes has its values', () => {
  const text = `\ufeff"timestamp","pair",enter_long,enter_tag,stake_ratio\n${TIME},${PAIR},True,"a, ""b""\nc",0.5\n${TIME},${PAIR},NaN,,NaN\n`;
  const { rows, signals, stakeRatio } = parse(text.replaceAll('\n', '\r\n'));
  expect([rows, signals.tags, stakeRatio]).toEqual([2, ['', 'a, "b"\r\nc'], Float64Array.of(0.5, 1)]);
  expect([signals.enterLong, signals.enterTag]).toEqual([Uint8Array.of(1, 0), Uint8Array.of(1, 0)]);
});

it('files that are no table are refused with words', () => {
  const ratio = (cell: string) => `${HEAD}${MS},${PAIR},1,,${cell}\n`;
  for (const [file, message] of [
    [Uint8Array.of(0x1f, 0x8b, 8, 0), 'is neither Parquet nor UTF-8 text'],
    [Buffer.from('PAR1 and nothing else PAR1'), 'cannot be read'],
    [
      'timestamp;pair;enter_long\n',
      'has unknown columns: "timestamp;pair;enter_long". Separate its columns by commas, not by ";"',
    ],
    [`${HEAD}${MS},${PAIR},1,"a\n`, 'row 1 has a quote that is not closed'],
    [`${HEAD}${MS},${PAIR}\n`, 'row 1 has 2 values for 5 columns'],
    [`${HEAD}${MS},${PAIR},2,,\n`, 'row 1 has "2" in enter_long'],
    ...['0', '-1', '101', '0x10', 'False', 'Infinity'].map(
      (cell) => [ratio(cell), 'has the stake_ratio'] as const,
    ),
  ] as const) {
    expect(() => parse(file), message).toThrow(message);
  }
});

it('decimals of DuckDB keep their point, and a column of NaN has no tags', () => {
  const table = new ArrowTable({
    timestamp: makeVector(BigInt64Array.of(BigInt(MS))),
    pair: vectorFromArray([PAIR], new Utf8()),
    enter_long: makeVector(Int8Array.of(1)),
    enter_tag: makeVector(Float64Array.of(Number.NaN)),
    stake_ratio: makeVector({ type: new Decimal(1, 2, 128), data: Uint32Array.of(5, 0, 0, 0), length: 1 }),
  });
  const { timestamp, signals, stakeRatio } = parse(
    writeParquet(Table.fromIPCStream(tableToIPC(table, 'stream'))),
  );
  expect([timestamp[0], signals.enterLong, stakeRatio]).toEqual([MS, Uint8Array.of(1), Float64Array.of(0.5)]);
  expect([signals.enterTag, signals.tags]).toEqual([Uint8Array.of(0), undefined]);
});

const parquetOf = (columns: Record<string, Vector>) =>
  writeParquet(
    Table.fromIPCStream(
      tableToIPC(
        new ArrowTable({
          timestamp: makeVector(BigInt64Array.of(BigInt(MS))),
          pair: vectorFromArray([PAIR], new Utf8()),
          enter_long: makeVector(Int8Array.of(1)),
          ...columns,
        }),
        'stream',
      ),
    ),
  );

it('decimals of 256 bits have their values, of both signs', () => {
  const decimal = (value: bigint) =>
    makeVector({
      type: new Decimal(3, 50, 256),
      data: Uint32Array.from({ length: 8 }, (_, at) => Number(BigInt.asUintN(32, value >> BigInt(32 * at)))),
      length: 1,
    });
  expect(parse(parquetOf({ stake_ratio: decimal(2_500n) })).stakeRatio).toEqual(Float64Array.of(2.5));
  expect(() => parse(parquetOf({ stake_ratio: decimal(-2_500n) }))).toThrow('the stake_ratio "-2.5"');
});

it('columns of types that are neither text, number, flag nor time are refused by name', () => {
  for (const [name, column] of [
    ['timestamp', makeVector({ type: new TimeMillisecond(), data: Int32Array.of(10_800_000), length: 1 })],
    ['pair', vectorFromArray([Buffer.from(PAIR)], new Binary())],
    ['enter_tag', vectorFromArray([['dip']], new List(new Field('item', new Utf8(), true)))],
  ] as const) {
    expect(() => parse(parquetOf({ [name]: column })), name).toThrow(
      new RegExp(`has values of type .+ in ${name}: store it as text, number, boolean or timestamp`),
    );
  }
});
