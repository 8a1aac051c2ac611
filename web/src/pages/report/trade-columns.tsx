import { duration, NO_VALUE, price, shortPair, signed, tone, utcFull, value } from '../../ui/format.ts';
import type { Column } from '../../ui/table.tsx';
import { NO_TAG, type TradeRow } from './trades.ts';

function number(
  key: keyof TradeRow & string,
  title: string,
  width: number,
  text: (row: TradeRow) => string,
  isGain = false,
): Column<TradeRow> {
  return {
    key,
    title,
    width,
    isNumber: true,
    cell: text,
    sort: (row) => row[key] as number | null,
    ...(isGain ? { tone: (row: TradeRow) => tone(row[key] as number) } : {}),
  };
}

function text(
  key: keyof TradeRow & string,
  title: string,
  width: number,
  of: (row: TradeRow) => string,
): Column<TradeRow> {
  return { key, title, width, sort: of, cell: of };
}

/** Columns of the trades, by the fields of the API. */
export const TRADE_COLUMNS: readonly Column<TradeRow>[] = [
  number('id', '#', 64, ({ id }) => value(id, 'count')),
  text('pair', 'Pair', 110, ({ pair }) => shortPair(pair)),
  {
    ...text('side', 'Side', 78, ({ side }) => side),
    // The arrow says what the word says, at a glance.
    cell: ({ side }) => `${side === 'long' ? '↑' : '↓'} ${side}`,
  },
  number('profit_pct', 'Profit, %', 92, (row) => signed(row.profit_pct, 'percent'), true),
  number('profit', 'Profit', 112, (row) => signed(row.profit, 'quote'), true),
  text('exit_reason', 'Exit reason', 150, ({ exit_reason }) => exit_reason),
  {
    ...number('opened_at', 'Opened (UTC)', 150, (row) => utcFull(row.opened_at * 1_000)),
    isNumber: false,
  },
  {
    ...number('closed_at', 'Closed (UTC)', 150, (row) => utcFull(row.closed_at * 1_000)),
    isNumber: false,
  },
  number('duration_minutes', 'Duration', 92, (row) => duration(row.duration_minutes * 60)),
  number('entry_price', 'Entry', 116, (row) => price(row.entry_price)),
  number('exit_price', 'Exit', 116, (row) => price(row.exit_price)),
  number('initial_stop_price', 'First stop', 116, (row) => price(row.initial_stop_price)),
  number('stop_price', 'Last stop', 116, (row) => price(row.stop_price)),
  number('liquidation_price', 'Liquidation', 116, (row) => price(row.liquidation_price)),
  number('lowest_price', 'Lowest', 116, (row) => price(row.lowest_price)),
  number('highest_price', 'Highest', 116, (row) => price(row.highest_price)),
  number('amount', 'Amount', 110, (row) => value(row.amount, 'base')),
  number('stake', 'Stake', 104, (row) => value(row.stake, 'quote')),
  number('leverage', 'Leverage', 84, (row) => value(row.leverage, 'ratio')),
  number('fees', 'Fees', 104, (row) => value(row.fees, 'quote')),
  number('slippage_cost', 'Slippage', 104, (row) => value(row.slippage_cost, 'quote')),
  number('funding', 'Funding', 112, (row) => signed(row.funding, 'quote')),
  text('enter_tag', 'Enter tag', 120, ({ enter_tag }) => enter_tag ?? NO_TAG),
  { key: 'group', title: 'Group', width: 110, cell: ({ group }) => group ?? NO_VALUE },
  {
    key: 'position',
    title: 'Position',
    width: 84,
    isNumber: true,
    cell: ({ position }) => position ?? NO_VALUE,
  },
  {
    key: 'left_open',
    title: 'Left open',
    width: 84,
    cell: ({ left_open }) => (left_open ? 'yes' : NO_VALUE),
  },
];
