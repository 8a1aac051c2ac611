import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react';
import { type Column, VirtualTable } from '../ui/table.tsx';
import './charts.css';

/** Numbers of a chart as a table. `cell` returns the text of a row in a column. */
export interface ChartTable {
  readonly titles: readonly string[];
  readonly rows: number;
  readonly cell: (row: number, column: number) => string;
}

export type ChartSize = 'small' | 'medium' | 'large';

/**
 * A chart with its title and key figures. Its numbers are one key away: T, or the button, shows them as a table of the same size.
 *
 * @param summary key figures in words; with the title the name of the chart for assistive technology
 * @param table must be stable: build it with useMemo
 */
export function ChartFrame(props: {
  readonly title: string;
  readonly summary: string;
  readonly size: ChartSize;
  readonly table: ChartTable;
  /** Values at the cursor. */
  readonly legend?: ReactNode;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  /** Keys while the chart has the focus. */
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ReactNode;
}) {
  const { title, summary, size, table } = props;
  const id = useId();
  const [isTable, setTable] = useState(false);
  const keyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 't' || event.key === 'T') {
      event.preventDefault();
      setTable(!isTable);
    } else props.onKeyDown?.(event);
  };
  return (
    <figure className="chart-frame" aria-labelledby={id} onKeyDown={keyDown}>
      <figcaption className="chart-head">
        <h2 id={id}>{title}</h2>
        <div className="chart-actions">
          {props.actions}
          <button
            type="button"
            className="btn small"
            aria-pressed={isTable}
            aria-keyshortcuts="T"
            onClick={() => setTable(!isTable)}
          >
            Table
          </button>
        </div>
        {props.legend && <div className="chart-legend">{props.legend}</div>}
      </figcaption>
      {isTable ? (
        <div className="chart-table" data-size={size}>
          <NumbersTable table={table} label={`${title}: numbers`} />
        </div>
      ) : (
        <div
          className="chart-body"
          data-size={size}
          role="img"
          aria-label={`${title}: ${summary}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes keys
          tabIndex={0}
        >
          {props.children}
        </div>
      )}
    </figure>
  );
}

function NumbersTable({ table, label }: { readonly table: ChartTable; readonly label: string }) {
  const { rows, columns } = useMemo(
    () => ({
      rows: Array.from({ length: table.rows }, (_, row) => row),
      columns: table.titles.map(
        (title, column): Column<number> => ({
          key: title,
          title,
          isNumber: column > 0,
          cell: (row) => table.cell(row, column),
        }),
      ),
    }),
    [table],
  );
  return <VirtualTable rows={rows} columns={columns} idOf={identity} label={label} />;
}

function identity(row: number): number {
  return row;
}
