import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { decimal, NO_VALUE, utcTime } from '../ui/format.ts';
import type { Tokens } from '../ui/tokens.ts';
import { ChartFrame, type ChartSize, type ChartTable } from './chart-frame.tsx';
import { LinkedPlots } from './linked-plots.ts';
import { logAxis, Plot, type PlotOptions, utc, xAxis, yAxis } from './plot.tsx';
import { followTouch } from './touch.ts';

type SeriesKind = 'line' | 'area' | 'step' | 'points' | 'bars';

/** One series of a chart. All series of a chart have one value per x. */
interface ChartSeries {
  readonly title: string;
  /** null leaves a gap. */
  readonly values: readonly (number | null)[];
  readonly color: keyof Tokens;
  /** Default: line. */
  readonly kind?: SeriesKind;
  readonly isDashed?: boolean;
  /** Text of a value in the legend and in the table, with its unit. */
  readonly format: (value: number) => string;
}

/** One plot of a chart with a y axis of its own. */
export interface ChartPane {
  readonly series: readonly ChartSeries[];
  /** Unit of the axis, such as ` %`. */
  readonly unit?: string;
  /** Dashed horizontal lines, such as zero. */
  readonly baselines?: readonly number[];
  /** Range of the axis for the values in view. Must be stable. Default: the values with some space. */
  readonly range?: (min: number, max: number) => readonly [number, number];
  readonly isLog?: boolean;
}

export interface ChartX {
  /** Ascending; Unix seconds for a time. */
  readonly values: readonly number[];
  readonly title: string;
  readonly isTime?: boolean;
  /** All of x when `values` are a part of it, loaded for a zoom. Default: from the first to the last value. */
  readonly extent?: readonly [number, number];
  /** Space at both ends, in units of x, such as half a bar. */
  readonly pad?: number;
  /** Text of a value. Default: the time in UTC, or the number. */
  readonly format?: (value: number) => string;
}

export interface ChartProps {
  readonly title: string;
  /** Key figures in words. */
  readonly summary: string;
  readonly x: ChartX;
  /** Plots above each other, with one cursor and one range of x. */
  readonly panes: readonly ChartPane[];
  readonly size?: ChartSize;
  readonly actions?: ReactNode;
  /** A click on the chart: index of the nearest x. */
  readonly onPick?: (index: number) => void;
  /** Range of x after a zoom; undefined when all is in view. */
  readonly onZoom?: (range: readonly [from: number, to: number] | undefined) => void;
}

/**
 * Series over one axis of x, in one plot or several above each other. Dragging, two fingers, + and - zoom; a double click and
 * Escape show all; arrow keys and one finger move the cursor; T shows the numbers.
 */
export function Chart(props: ChartProps) {
  const { title, summary, x, panes, size = 'medium' } = props;
  const [at, setAt] = useState<number | null>(null);
  const [isZoomed, setZoomed] = useState(false);
  const callbacks = useRef(props);
  callbacks.current = props;
  const group = useId();
  const linked = useMemo(() => new LinkedPlots(), []);
  linked.extent = rangeOf(x);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.role !== 'img') return;
    if (event.key === 'Enter' && at !== null) props.onPick?.(at);
    else if (!linked.press(event)) return;
    event.preventDefault();
  };
  const table = useMemo(() => tableOf(x, panes), [x, panes]);
  const shared = useMemo(
    () => ({
      linked,
      group,
      setAt,
      isRangeKept: () => linked.isZoomed,
      onPick: (index: number) => callbacks.current.onPick?.(index),
      onRange: (min: number, max: number) => {
        const [first, last] = linked.extent;
        const isAll = !(min > first || max < last);
        linked.isZoomed = !isAll;
        setZoomed(!isAll);
        callbacks.current.onZoom?.(isAll ? undefined : [min, max]);
      },
    }),
    [linked, group],
  );
  return (
    <ChartFrame
      title={title}
      summary={summary}
      size={size}
      table={table}
      onKeyDown={onKeyDown}
      legend={<Legend x={x} panes={panes} at={at} />}
      actions={props.actions}
      zoom={{
        in: () => linked.scale(0.5),
        ...(isZoomed && { out: () => linked.scale(2), all: () => linked.showAll() }),
      }}
    >
      {panes.map((pane, index) => (
        <Pane
          // biome-ignore lint/suspicious/noArrayIndexKey: panes of a chart keep their places
          key={index}
          x={x}
          pane={pane}
          shared={shared}
          isLast={index === panes.length - 1}
        />
      ))}
    </ChartFrame>
  );
}

/** All of x. */
function rangeOf({ values, extent, pad = 0 }: ChartX): readonly [number, number] {
  return extent ?? [values[0]! - pad, values.at(-1)! + pad];
}

/** Values at the cursor, else the last ones. */
function Legend(props: {
  readonly x: ChartX;
  readonly panes: readonly ChartPane[];
  readonly at: number | null;
}) {
  const { x, panes } = props;
  const index = Math.min(props.at ?? x.values.length - 1, x.values.length - 1);
  if (index < 0) return null;
  return (
    <>
      <span className="legend-x">{textOf(x, index)}</span>
      {panes.flatMap(({ series }) =>
        series.map(({ title, color, values, format, isDashed }) => {
          const value = values[index];
          return (
            <span key={title}>
              <i data-color={color} data-dashed={isDashed || undefined} aria-hidden="true" />
              {title} <b>{value === null || value === undefined ? NO_VALUE : format(value)}</b>
            </span>
          );
        }),
      )}
    </>
  );
}

function textOf({ values, isTime, format }: ChartX, index: number): string {
  const value = values[index]!;
  if (format) return format(value);
  return isTime ? `${utcTime(value * 1_000)} UTC` : decimal(value, Number.isInteger(value) ? 0 : 4);
}

function tableOf(x: ChartX, panes: readonly ChartPane[]): ChartTable {
  const series = panes.flatMap((pane) => pane.series);
  return {
    titles: [x.title, ...series.map(({ title }) => title)],
    rows: x.values.length,
    cell: (row, column) => {
      if (column === 0) return textOf(x, row);
      const { values, format } = series[column - 1]!;
      const value = values[row];
      return value === null || value === undefined ? NO_VALUE : format(value);
    },
  };
}

interface Shared {
  readonly linked: LinkedPlots;
  readonly group: string;
  readonly setAt: (index: number | null) => void;
  readonly isRangeKept: () => boolean;
  readonly onPick: (index: number) => void;
  readonly onRange: (min: number, max: number) => void;
}

function Pane(props: {
  readonly x: ChartX;
  readonly pane: ChartPane;
  readonly shared: Shared;
  readonly isLast: boolean;
}) {
  const { x, pane, shared, isLast } = props;
  const { series, unit = '', baselines = [], range, isLog = false } = pane;
  const data = useMemo(
    () => [x.values, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData,
    [x.values, series],
  );
  // The looks of the series as a text: new values of the same series must not make the plot again.
  const looks = JSON.stringify(
    series.map(({ color, kind = 'line', isDashed = false }) => ({ color, kind, isDashed })),
  );
  const lines = baselines.join();
  const isTime = x.isTime === true;
  const pad = x.pad ?? 0;
  const options = useMemo(
    () => (tokens: Tokens) =>
      plotOptions(tokens, shared, {
        looks: JSON.parse(looks) as readonly Look[],
        lines: lines === '' ? [] : lines.split(',').map(Number),
        unit,
        range,
        isLog,
        isTime,
        isLast,
        pad,
      }),
    [shared, looks, lines, unit, range, isLog, isTime, isLast, pad],
  );
  return <Plot data={data} options={options} isRangeKept={shared.isRangeKept} />;
}

interface Look {
  readonly color: keyof Tokens;
  readonly kind: SeriesKind;
  readonly isDashed: boolean;
}

interface PaneLook {
  readonly looks: readonly Look[];
  readonly lines: readonly number[];
  readonly unit: string;
  readonly range: ChartPane['range'];
  readonly isLog: boolean;
  readonly isTime: boolean;
  readonly isLast: boolean;
  readonly pad: number;
}

/** Space right of a plot in pixels: half of the widest label, which a tick at the end of the axis needs. */
const RIGHT_SPACE = 22;

function plotOptions(tokens: Tokens, shared: Shared, pane: PaneLook): PlotOptions {
  const { linked, group } = shared;
  const { range } = pane;
  return {
    tzDate: utc,
    legend: { show: false },
    padding: [10, RIGHT_SPACE, pane.isLast ? 0 : 10, 0],
    cursor: {
      sync: { key: group, setSeries: false },
      drag: { x: true, y: false },
      points: { size: 7 },
      focus: { prox: -1 },
    },
    scales: {
      x: {
        time: pane.isTime,
        ...(pane.pad > 0 ? { range: (plot, min, max) => padded(plot, min, max, pane.pad) } : {}),
      },
      y: {
        distr: pane.isLog ? 3 : 1,
        ...(range ? { range: (_plot, min, max) => [...range(min, max)] as [number, number] } : {}),
      },
    },
    axes: [xAxis(tokens, pane.isTime, pane.isLast), (pane.isLog ? logAxis : yAxis)(tokens, pane.unit)],
    series: [{}, ...pane.looks.map((look) => seriesOptions(tokens, look))],
    hooks: {
      init: [
        (plot) => {
          linked.plots.push(plot);
          followTouch(plot, linked);
          plot.over.addEventListener('click', () => {
            const { idx } = plot.cursor;
            if (idx !== null && idx !== undefined) shared.onPick(idx);
          });
        },
      ],
      destroy: [(plot) => void linked.plots.splice(linked.plots.indexOf(plot), 1)],
      setScale: [
        (plot, key) => {
          if (key !== 'x') return;
          linked.link(plot);
          const { min, max } = plot.scales.x as { min?: number; max?: number };
          if (plot === linked.plots[0] && min !== undefined && max !== undefined) shared.onRange(min, max);
        },
      ],
      setCursor: [(plot) => shared.setAt(plot.cursor.idx ?? null)],
      drawAxes: [(plot) => drawLines(plot, pane.lines, tokens.faint)],
    },
  };
}

/** The whole range gets space at its ends; a zoomed one is shown as it is. */
function padded({ data: [x] }: uPlot, min: number, max: number, pad: number): [number, number] {
  const isAll = min <= (x[0] ?? min) && max >= (x[x.length - 1] ?? max);
  return isAll ? [(x[0] ?? min) - pad, (x[x.length - 1] ?? max) + pad] : [min, max];
}

function seriesOptions(tokens: Tokens, { color, kind, isDashed }: Look): uPlot.Series {
  const stroke = tokens[color];
  const common = { stroke, width: 1.5, points: { show: false }, ...(isDashed ? { dash: [6, 4] } : {}) };
  switch (kind) {
    case 'area':
      return { ...common, fill: (plot) => gradient(plot, stroke) };
    case 'step':
      return { ...common, paths: uPlot.paths.stepped!({ align: 1 }) };
    case 'points':
      return { stroke, paths: () => null, points: { show: true, size: 5, fill: stroke, stroke, width: 0 } };
    case 'bars':
      return { ...common, width: 0, fill: stroke, paths: uPlot.paths.bars!({ size: [0.9, 60] }) };
    default:
      return common;
  }
}

/** Strong at the line, faint at the far end: falls below zero hang from the top. */
function gradient(plot: uPlot, color: string): CanvasGradient {
  const { top, height } = plot.bbox;
  const made = plot.ctx.createLinearGradient(0, top, 0, top + height);
  const isHanging = (plot.scales.y!.max ?? 1) <= 0;
  made.addColorStop(0, `${color}${isHanging ? '10' : '40'}`);
  made.addColorStop(1, `${color}${isHanging ? '50' : '03'}`);
  return made;
}

function drawLines({ ctx, bbox, valToPos }: uPlot, lines: readonly number[], color: string): void {
  if (lines.length === 0) return;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  for (const line of lines) {
    const y = Math.round(valToPos(line, 'y', true));
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
  }
  ctx.stroke();
  ctx.restore();
}
