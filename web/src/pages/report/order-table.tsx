import { NO_VALUE, price, signed, utcTime, value } from '../../ui/format.ts';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import type { TradeRow } from './trades.ts';

type Orders = NonNullable<TradeRow['orders']>;

const time = (key: 'placed_at' | 'filled_at', title: string): Column<Orders[number]> => ({
  key,
  title,
  width: 150,
  cell: (order) => utcTime(Date.parse(order[key])),
});

const ORDER_COLUMNS: readonly Column<Orders[number]>[] = [
  { key: 'side', title: 'Order', width: 80, cell: ({ side }) => side },
  time('placed_at', 'Placed (UTC)'),
  time('filled_at', 'Filled (UTC)'),
  { key: 'price', title: 'Price', width: 116, isNumber: true, cell: (order) => price(order.price) },
  { key: 'amount', title: 'Amount', width: 110, isNumber: true, cell: ({ amount }) => value(amount, 'base') },
  { key: 'fee', title: 'Fee', width: 104, isNumber: true, cell: ({ fee }) => value(fee, 'quote') },
  {
    key: 'funding',
    title: 'Funding',
    width: 112,
    isNumber: true,
    cell: ({ funding }) => signed(funding, 'quote'),
  },
  { key: 'tag', title: 'Tag', width: 140, cell: ({ tag }) => tag ?? NO_VALUE },
];

/** The orders of a trade with additions or partial exits. */
export function OrderTable({ trade, orders }: { readonly trade: TradeRow; readonly orders: Orders }) {
  return (
    <div className="report-bounded">
      <VirtualTable
        rows={orders}
        columns={ORDER_COLUMNS}
        idOf={(order) => orders.indexOf(order)}
        label={`Orders of trade ${trade.id}`}
      />
    </div>
  );
}
