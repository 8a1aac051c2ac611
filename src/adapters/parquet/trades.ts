import { Bool, type Data, type DataType, Float64, Int32, Utf8, vectorFromArray } from 'apache-arrow';
import { type TradeRecord, tradeRecord } from '#engine/report/trades.ts';
import type { Trade } from '#engine/simulator/types.ts';
import { encodeParquet, type ParquetColumn, timestampColumn } from './write.ts';

type Kind = 'id' | 'text' | 'text or none' | 'time' | 'number' | 'number or none' | 'flag';

/** Columns of trades.parquet: the fields of a trade record, in its order. */
const KINDS: Readonly<Record<keyof TradeRecord, Kind>> = {
  id: 'id',
  pair: 'text',
  side: 'text',
  opened_at: 'time',
  closed_at: 'time',
  duration_minutes: 'number',
  entry_price: 'number',
  exit_price: 'number',
  amount: 'number',
  stake: 'number',
  leverage: 'number',
  enter_tag: 'text or none',
  exit_reason: 'text',
  fees: 'number',
  slippage_cost: 'number',
  funding: 'number',
  profit: 'number',
  profit_pct: 'number',
  initial_stop_price: 'number',
  stop_price: 'number',
  liquidation_price: 'number or none',
  lowest_price: 'number',
  highest_price: 'number',
  left_open: 'flag',
};

const TYPES: Readonly<Record<Exclude<Kind, 'time'>, DataType>> = {
  id: new Int32(),
  text: new Utf8(),
  'text or none': new Utf8(),
  number: new Float64(),
  'number or none': new Float64(),
  flag: new Bool(),
};

/** Trades as a Parquet file for people and their tools: the fields of the API's trade records, times as timestamps. */
export function writeTradesParquet(trades: readonly Trade[]): Uint8Array {
  const records = trades.map((trade, index) => tradeRecord(trade, index + 1));
  const names = Object.keys(KINDS) as (keyof TradeRecord)[];
  return encodeParquet(
    names.map((name) => {
      const values = records.map((record) => record[name]);
      return columnOf(name, values, KINDS[name]);
    }),
  );
}

function columnOf(name: string, values: readonly unknown[], kind: Kind): ParquetColumn {
  if (kind === 'time') {
    return timestampColumn(
      name,
      Float64Array.from(values, (value) => Date.parse(value as string)),
    );
  }
  const data = vectorFromArray(values as unknown[], TYPES[kind]).data[0]!;
  return { name, data: data as Data, nullable: kind.endsWith('none') };
}
