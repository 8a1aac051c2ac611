import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useMemo, useRef } from 'react';

/** A column of a table. Define columns outside of components: rows are drawn again when they change. */
export interface Column<T> {
  readonly key: string;
  readonly title: string;
  /** Longer name of the column, shown on hover. */
  readonly label?: string | undefined;
  /** Pixels. With a width for each column, new values never move the columns. */
  readonly width?: number;
  readonly isNumber?: boolean;
  /** Makes the column sortable. */
  readonly sort?: (row: T) => number | string;
  readonly cell: (row: T) => ReactNode;
  /** Class of the cell, such as `up` or `down`. */
  readonly tone?: (row: T) => string;
}

export interface Order {
  readonly key: string;
  readonly isDescending: boolean;
}

export interface TableProps<T> {
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly idOf: (row: T) => string | number;
  /** Name for assistive technology. */
  readonly label: string;
  /** Current order; the caller keeps it, usually in the URL. */
  readonly order?: Order | undefined;
  readonly onOrder?: (order: Order) => void;
  /** True when the rows come in the wanted order, for example from the API. */
  readonly isSorted?: boolean;
  /** Row of totals: last in every order. */
  readonly total?: T;
  readonly selected?: string | number | undefined;
  readonly onPick?: (row: T) => void;
}

/** Rows in the given order. Equal rows keep theirs. */
export function sortRows<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  order: Order | undefined,
): readonly T[] {
  const by = columns.find(({ key }) => key === order?.key)?.sort;
  if (!by || !order) return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : 0))
    .map(({ row }) => row);
}

function useSorted<T>({ rows, columns, order, isSorted }: TableProps<T>): readonly T[] {
  return useMemo(() => (isSorted ? rows : sortRows(rows, columns, order)), [rows, columns, order, isSorted]);
}

function Head<T>({ columns, order, onOrder }: Pick<TableProps<T>, 'columns' | 'order' | 'onOrder'>) {
  const sortOf = (key: string) =>
    order?.key === key ? (order.isDescending ? 'descending' : 'ascending') : undefined;
  return (
    <thead>
      <tr>
        {columns.map(({ key, title, label, isNumber, sort }) => (
          <th
            key={key}
            scope="col"
            className={isNumber ? 'num' : undefined}
            title={label}
            aria-sort={sortOf(key)}
          >
            {sort && onOrder ? (
              <button
                type="button"
                onClick={() =>
                  onOrder({ key, isDescending: order?.key === key ? !order.isDescending : Boolean(isNumber) })
                }
              >
                {title}
                {sortOf(key) && <span aria-hidden="true">{order?.isDescending ? ' ↓' : ' ↑'}</span>}
              </button>
            ) : (
              title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Columns<T>({ columns }: Pick<TableProps<T>, 'columns'>) {
  return (
    <colgroup>
      {columns.map(({ key, width }) => (
        <col key={key} width={width} />
      ))}
    </colgroup>
  );
}

interface RowProps<T> {
  readonly row: T;
  readonly index: number;
  readonly columns: readonly Column<T>[];
  readonly isSelected: boolean;
  readonly onPick: ((row: T) => void) | undefined;
}

function PlainRow<T>({ row, index, columns, isSelected, onPick }: RowProps<T>) {
  const picking = onPick && {
    className: 'pick',
    tabIndex: 0,
    'aria-selected': isSelected,
    onClick: () => onPick(row),
    onKeyDown: (event: React.KeyboardEvent) => {
      if (event.key === 'Enter' && event.target === event.currentTarget) onPick(row);
    },
  };
  return (
    <tr aria-rowindex={index + 2} {...picking}>
      {columns.map(({ key, isNumber, tone, cell }) => (
        <td key={key} className={`${isNumber ? 'num' : ''} ${tone?.(row) ?? ''}`}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Remembered: scrolling draws the rows that come into view, not those that stay. */
const Row = memo(PlainRow) as typeof PlainRow;

/** A table of at most a few hundred rows. */
export function Table<T>(props: TableProps<T>) {
  const { columns, idOf, label, order, onOrder, selected, onPick, total } = props;
  const rows = useSorted(props);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={label}>
      <table className="grid" data-fixed={columns.every(({ width }) => width !== undefined)}>
        <Columns columns={columns} />
        <Head columns={columns} order={order} {...(onOrder ? { onOrder } : {})} />
        <tbody>
          {rows.map((row, index) => (
            <Row
              key={idOf(row)}
              row={row}
              index={index}
              columns={columns}
              isSelected={idOf(row) === selected}
              onPick={onPick}
            />
          ))}
        </tbody>
        {total && (
          <tfoot>
            <Row row={total} index={rows.length} columns={columns} isSelected={false} onPick={undefined} />
          </tfoot>
        )}
      </table>
    </section>
  );
}

const ROW_HEIGHT = 34;

/**
 * A table of many rows in a box of its own height (class `virtual`): only the rows in view are in the document. Spacer rows,
 * not transforms: it stays a table for assistive technology.
 */
export function VirtualTable<T>(props: TableProps<T>) {
  const { columns, idOf, label, order, onOrder, selected, onPick } = props;
  const box = useRef<HTMLElement>(null);
  const rows = useSorted(props);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
    // The head is above the rows, and stays in view over them.
    scrollMargin: ROW_HEIGHT,
    scrollPaddingStart: ROW_HEIGHT,
  });
  // A row that is selected elsewhere, such as on a chart or in the URL, comes into view.
  const at = selected === undefined ? -1 : rows.findIndex((row) => idOf(row) === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? ROW_HEIGHT) - ROW_HEIGHT;
  const after = virtual.getTotalSize() + ROW_HEIGHT - (items.at(-1)?.end ?? ROW_HEIGHT);
  const spacer = (height: number) =>
    height > 0 && (
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without tabIndex takes no focus
      <tr aria-hidden="true">
        <td colSpan={columns.length} height={height} />
      </tr>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section ref={box} className="scroll virtual" tabIndex={0} aria-label={label}>
      <table
        className="grid"
        // Without a width for each, rows that come into view lay out all rows again.
        data-fixed={columns.every(({ width }) => width !== undefined)}
        aria-rowcount={rows.length + 1}
      >
        <Columns columns={columns} />
        <Head columns={columns} order={order} {...(onOrder ? { onOrder } : {})} />
        <tbody>
          {spacer(before)}
          {items.map(({ index }) => {
            const row = rows[index]!;
            return (
              <Row
                // By place, not by id: rows of live data change in place instead of moving.
                key={index}
                row={row}
                index={index}
                columns={columns}
                isSelected={idOf(row) === selected}
                onPick={onPick}
              />
            );
          })}
          {spacer(after)}
        </tbody>
      </table>
    </section>
  );
}
