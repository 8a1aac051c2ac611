import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

/** A column of a table. Define columns outside of components: rows are drawn again when they change. */
export interface Column<T> {
  readonly key: string;
  readonly title: string;
  /** Longer name of the column, shown on hover. */
  readonly label?: string | undefined;
  /** Pixels. With a width for each column, new values never move the columns. */
  readonly width?: number;
  readonly isNumber?: boolean;
  /** True: left out on small screens. */
  readonly isWideOnly?: boolean;
  /** Makes the column sortable; rows with null come last in both orders. */
  readonly sort?: (row: T) => number | string | null;
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
    .sort(({ value: a }, { value: b }) => {
      if (a === b) return 0;
      if (a === null || b === null) return a === null ? 1 : -1;
      return a < b ? -sign : a > b ? sign : 0;
    })
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
        {columns.map(({ key, title, label, isNumber, isWideOnly, sort }) => (
          <th
            key={key}
            scope="col"
            className={classOf({ isNumber, isWideOnly })}
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

/** Class of the cells of a column. */
function classOf(column: {
  readonly isNumber?: boolean | undefined;
  readonly isWideOnly?: boolean | undefined;
}): string | undefined {
  return [column.isNumber && 'num', column.isWideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined;
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
  /** True: Tab leads to this row. */
  readonly isStop: boolean;
  readonly onPick: ((row: T) => void) | undefined;
}

function PlainRow<T>({ row, index, columns, isSelected, isStop, onPick }: RowProps<T>) {
  const picking = onPick && {
    className: 'pick',
    tabIndex: isStop ? 0 : -1,
    'aria-selected': isSelected,
    onClick: () => onPick(row),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
      // The key would also press the button that a dialog, opened by this row, has in the focus.
      event.preventDefault();
      onPick(row);
    },
  };
  return (
    <tr aria-rowindex={index + 2} {...picking}>
      {columns.map(({ key, isNumber, isWideOnly, tone, cell }) => (
        <td key={key} className={`${classOf({ isNumber, isWideOnly }) ?? ''} ${tone?.(row) ?? ''}`}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Remembered: scrolling draws the rows that come into view, not those that stay. */
const Row = memo(PlainRow) as typeof PlainRow;

/** Rows that PageUp and PageDown pass. */
const ROWS_PER_PAGE = 10;

/** Index that a key leads to from `at`; undefined for other keys. */
function nextIndex({ key }: KeyboardEvent, at: number, count: number): number | undefined {
  const next = {
    ArrowUp: at - 1,
    ArrowDown: at + 1,
    Home: 0,
    End: count - 1,
    PageUp: at - ROWS_PER_PAGE,
    PageDown: at + ROWS_PER_PAGE,
  }[key];
  return next === undefined ? undefined : Math.max(0, Math.min(count - 1, next));
}

/** Index of the row that an event is for; undefined for another element. */
function rowOf({ target }: { readonly target: EventTarget }): number | undefined {
  const isRow = target instanceof HTMLTableRowElement && target.ariaRowIndex !== null;
  return isRow ? Number(target.ariaRowIndex) - 2 : undefined;
}

/**
 * One row is a tab stop, and arrow keys lead from row to row: Tab passes a table of any length in one step.
 *
 * @param selected index of the selected row; -1 for none
 * @param reveal brings a row into view that may not be in the document
 */
function useRowKeys(
  box: RefObject<HTMLElement | null>,
  { count, selected, reveal }: { count: number; selected: number; reveal?: (index: number) => void },
) {
  const [stop, setStop] = useState(Math.max(0, selected));
  const wanted = useRef<number>(undefined);
  useEffect(() => {
    if (selected >= 0) setStop(selected);
  }, [selected]);
  // After each render: the row may be drawn by a later one.
  useEffect(() => {
    if (wanted.current === undefined) return;
    const row = box.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${wanted.current + 2}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: reveal !== undefined });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const at = rowOf(event);
    if (at === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = nextIndex(event, at, count);
    if (next === undefined) return;
    event.preventDefault();
    wanted.current = next;
    setStop(next);
    reveal?.(next);
  };
  const onFocus = (event: { readonly target: EventTarget }) => {
    const at = rowOf(event);
    if (at !== undefined) setStop(at);
  };
  return { stop, keys: { onKeyDown, onFocus } };
}

/** A table of at most a few hundred rows. */
export function Table<T>(props: TableProps<T>) {
  const { columns, idOf, label, order, onOrder, selected, onPick, total } = props;
  const box = useRef<HTMLElement>(null);
  const rows = useSorted(props);
  const at = selected === undefined ? -1 : rows.findIndex((row) => idOf(row) === selected);
  const { stop, keys } = useRowKeys(box, { count: rows.length, selected: at });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section ref={box} className="scroll" tabIndex={0} aria-label={label} {...keys}>
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
              isStop={index === Math.min(stop, rows.length - 1)}
              onPick={onPick}
            />
          ))}
        </tbody>
        {total && (
          <tfoot>
            <Row
              {...{ row: total, index: rows.length, columns }}
              {...{ isSelected: false, isStop: false, onPick: undefined }}
            />
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
 * Long because it is the markup of one table with what measures its rows.
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
  const { stop, keys } = useRowKeys(box, {
    count: rows.length,
    selected: at,
    reveal: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
  });
  const items = virtual.getVirtualItems();
  // The tab stop may be out of view: Tab then leads to the first row that is drawn.
  const stopDrawn = items.some(({ index }) => index === stop) ? stop : items[0]?.index;
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
    <section ref={box} className="scroll virtual" tabIndex={0} aria-label={label} {...keys}>
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
                isStop={index === stopDrawn}
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
