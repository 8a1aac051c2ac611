import { Maximize2, ZoomIn, ZoomOut } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { type Column, VirtualTable } from '../ui/table.tsx';
import './charts.css';

/** Numbers of a chart as a table. `cell` returns the text of a row in a column. */
export interface ChartTable {
  readonly titles: readonly string[];
  readonly rows: number;
  readonly cell: (row: number, column: number) => string;
}

export type ChartSize = 'small' | 'medium' | 'large';

/** What the buttons of the zoom do; an absent one is off. */
interface ChartZoom {
  readonly in?: () => void;
  readonly out?: () => void;
  readonly all?: () => void;
}
const ZOOM = [
  ['in', 'Zoom in', ZoomIn],
  ['out', 'Zoom out', ZoomOut],
  ['all', 'Reset the zoom', Maximize2],
] as const;

/**
 * A chart with its title and key figures. Its numbers are one key away: T, or the button, shows them as a table of the same size.
 * The chart stays under the table with its range.
 * Long because it is the markup around every chart: title, legend, figures, table and picture.
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
  readonly zoom?: ChartZoom;
  /** Keys while the chart has the focus. */
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ReactNode;
}) {
  const { title, summary, size, table } = props;
  const id = useId();
  const [isTable, setTable] = useState(false);
  const view = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  const toggle = () => {
    hasFocus.current = view.current!.contains(document.activeElement);
    setTable(!isTable);
  };
  // The focus goes along from the chart to its numbers, and back.
  useEffect(() => {
    if (!hasFocus.current) return;
    hasFocus.current = false;
    view.current!.querySelector<HTMLElement>(isTable ? 'section' : '[role="img"]')?.focus();
  }, [isTable]);
  const keyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 't' || event.key === 'T') {
      event.preventDefault();
      toggle();
    } else props.onKeyDown?.(event);
  };
  return (
    <figure className="chart-frame" aria-labelledby={id} onKeyDown={keyDown}>
      <figcaption className="chart-head">
        <h2 id={id}>{title}</h2>
        <div className="chart-actions">
          {props.actions}
          {props.zoom && <ZoomButtons zoom={isTable ? {} : props.zoom} />}
          <button
            type="button"
            className="btn small"
            aria-pressed={isTable}
            aria-keyshortcuts="T"
            onClick={toggle}
          >
            Table
          </button>
        </div>
        {props.legend && <div className="chart-legend">{props.legend}</div>}
      </figcaption>
      <div ref={view} className="chart-view" data-size={size}>
        <div
          className="chart-body"
          data-covered={isTable}
          role="img"
          aria-label={`${title}: ${summary}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes keys
          tabIndex={0}
        >
          {props.children}
        </div>
        {isTable && (
          <div className="chart-table">
            <NumbersTable table={table} label={`${title}: numbers`} />
          </div>
        )}
      </div>
    </figure>
  );
}

/** Not `disabled` when off: the focus would be lost by a click that shows the whole range. */
function ZoomButtons({ zoom }: { readonly zoom: ChartZoom }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset takes its look and margins along
    <div className="chart-zoom" role="group" aria-label="Zoom">
      {ZOOM.map(([key, label, Icon]) => (
        <button
          key={key}
          type="button"
          className="btn small"
          aria-label={label}
          title={label}
          aria-disabled={!zoom[key]}
          onClick={() => zoom[key]?.()}
        >
          <Icon aria-hidden="true" />
        </button>
      ))}
    </div>
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
