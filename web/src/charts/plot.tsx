import { memo, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { decimal } from '../ui/format.ts';
import { type Tokens, useTokens } from '../ui/tokens.ts';
import './charts.css';

/** Font of a canvas, which inherits none. */
export const CHART_FONT = "11px 'Inter Variable', system-ui, sans-serif";
/** Width of the y axis in pixels, equal in all plots, so that plots above each other align. */
const Y_AXIS_WIDTH = 62;

const DAY = 86_400;
/** Labels of a time axis per distance of the ticks in seconds: 24-hour clock, day before month. */
const TIME_LABELS = [
  [DAY * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [DAY * 28, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [DAY, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, ':{ss}', '\n{D} {MMM} {HH}:{mm}', null, '\n{D} {MMM} {HH}:{mm}', null, '\n{HH}:{mm}', null, 1],
  [
    0.001,
    ':{ss}.{fff}',
    '\n{D} {MMM} {HH}:{mm}',
    null,
    '\n{D} {MMM} {HH}:{mm}',
    null,
    '\n{HH}:{mm}',
    null,
    1,
  ],
] as const;

/** Decimals that a step such as 2.5 or 0.05 needs. */
function digitsOf(step: number): number {
  let digits = 0;
  while (digits < 8 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits += 1;
  return digits;
}

/** Numbers of an axis with as many decimals as the distance of its ticks needs. */
function numbers(unit: string) {
  return (_plot: uPlot, splits: number[], _axis: number, _space: number, increment: number) => {
    const digits = digitsOf(increment);
    return splits.map((split) => (split === null ? '' : `${decimal(split, digits)}${unit}`));
  };
}

function axis(tokens: Tokens): uPlot.Axis {
  return {
    stroke: tokens.muted,
    font: CHART_FONT,
    grid: { stroke: tokens.grid, width: 1 },
    ticks: { stroke: tokens.grid, width: 1, size: 4 },
  };
}

export function xAxis(tokens: Tokens, isTime: boolean, isShown = true): uPlot.Axis {
  const values = isTime ? (TIME_LABELS as unknown as uPlot.Axis.Values) : numbers('');
  return { ...axis(tokens), values, space: 64, size: isTime ? 38 : 28, show: isShown };
}

export function yAxis(tokens: Tokens, unit: string): uPlot.Axis {
  return { ...axis(tokens), values: numbers(unit), size: Y_AXIS_WIDTH, space: 30 };
}

/** A logarithmic axis of y: round numbers, as many as a linear one has, where its range is less than a power of ten. */
export function logAxis(tokens: Tokens, unit: string): uPlot.Axis {
  const base = yAxis(tokens, unit);
  return {
    ...base,
    splits: (_plot, _axis, min, max) => roundNumbers(min, max),
    filter: (_plot, splits) => splits,
    values: (plot, splits, axis, space) =>
      numbers(unit)(plot, splits, axis, space, splits.length > 1 ? splits[1]! - splits[0]! : 1),
  };
}

function roundNumbers(min: number, max: number): number[] {
  const powers = Math.log10(max / min);
  const exponents = Array.from(
    { length: Math.ceil(powers) + 2 },
    (_, index) => Math.floor(Math.log10(min)) + index,
  );
  if (powers > 1)
    return exponents.map((exponent) => 10 ** exponent).filter((each) => each >= min && each <= max);
  const rough = (max - min) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(min / step);
  return Array.from({ length: Math.floor(max / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** Date of a time axis in UTC. */
export function utc(seconds: number): Date {
  return uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC');
}

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

/**
 * A uPlot that follows its box, its data and the theme.
 *
 * @param options must be stable: another function makes the plot again
 */
export const Plot = memo(function Plot(props: {
  readonly data: uPlot.AlignedData;
  readonly options: (tokens: Tokens) => PlotOptions;
  /** True while new data must not change the range of x. Must be stable. */
  readonly isRangeKept: () => boolean;
}) {
  const { data, options, isRangeKept } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const kept = useRef<{ readonly min: number; readonly max: number }>(undefined);
  const tokens = useTokens();
  useEffect(() => {
    const element = box.current!;
    const size = () => ({ width: element.clientWidth, height: element.clientHeight });
    const made = new uPlot({ ...options(tokens), ...size() }, latest.current, element);
    plot.current = made;
    // Another theme or look of the series keeps the zoom.
    if (kept.current) made.setScale('x', kept.current);
    const observer = new ResizeObserver(() => made.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      kept.current = isRangeKept() ? rangeOf(made) : undefined;
      made.destroy();
      plot.current = undefined;
    };
  }, [tokens, options, isRangeKept]);
  useEffect(() => {
    // A new plot has its data already: drawing 100,000 points twice would show.
    if (!plot.current || plot.current.data === data) return;
    const range = isRangeKept() ? rangeOf(plot.current) : undefined;
    plot.current.setData(data, !range);
    // Setting the same range again fits the y axis to the new data.
    if (range) plot.current.setScale('x', range);
    // The cursor stays where it is, over another point.
    const { left = -10, top = -10 } = plot.current.cursor;
    plot.current.setCursor({ left, top });
  }, [data, isRangeKept]);
  return <div ref={box} className="chart-pane" />;
});

/** Range of x in view; undefined without data. */
function rangeOf({ scales }: uPlot): { readonly min: number; readonly max: number } | undefined {
  const { min, max } = scales.x!;
  return min === undefined || max === undefined ? undefined : { min, max };
}
