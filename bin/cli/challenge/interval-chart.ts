import { signed } from '../output.ts';

/** Minimum width, columns: three values of some digits next to each other. */
const MIN_WIDTH = 32;
const INDENT = 2;
/** Columns between the plot and its edge, for the values of its ends. */
const MARGIN = 5;
/** Distance from zero, in widths of the interval, beyond which the axis is drawn with a break. */
const FAR_AWAY = 3;
/** Columns of zero and of the break, when it is drawn. */
const BREAK = '──╱╱──';
const TICK_WIDTH = 13;

/**
 * Chart of a confidence interval for the difference of two means, in three lines of up to `width` columns: a scale, the
 * interval with its middle, and their values. The interval covers the column of zero only if it contains zero, despite rounding.
 */
export function intervalChart([low, high]: readonly [number, number], width: number): string {
  const columns = Math.max(MIN_WIDTH, Math.floor(width)) - INDENT;
  const middle = low + (high - low) / 2;
  const scale = scaleOf(low, high, columns);
  const ends = { low: scale.column(low), middle: scale.column(middle), high: scale.column(high) };
  const lines = [
    scaleLine(scale, columns),
    barLine(scale, ends, { low, high }, columns),
    valueLine({ low, middle, high }, ends, columns),
  ];
  return lines.map((line) => `${' '.repeat(INDENT)}${line}`.trimEnd()).join('\n');
}

interface Scale {
  readonly from: number;
  readonly to: number;
  /** Column of zero on the scale; the edge column when the axis is broken. */
  readonly zero: number;
  /** Side of zero when the axis is broken. */
  readonly broken: 'left' | 'right' | null;
  column(value: number): number;
}

function scaleOf(low: number, high: number, columns: number): Scale {
  const away = Math.max(low, -high, 0);
  const size = high - low;
  const broken = size > 0 && away > FAR_AWAY * size ? (low > 0 ? 'left' : 'right') : null;
  const nearest = broken ? low : Math.min(low, 0);
  const farthest = broken ? high : Math.max(high, 0);
  const [from, to] = nearest < farthest ? [nearest, farthest] : [nearest - 1, farthest + 1];
  const reserved = BREAK.length + 3;
  const first = MARGIN + (broken === 'left' ? reserved : 0);
  const last = columns - 1 - MARGIN - (broken === 'right' ? reserved : 0);
  // Halved before subtracting: the difference of the largest numbers is infinite.
  const column = (value: number) =>
    first + Math.round(((value / 2 - from / 2) / (to / 2 - from / 2)) * (last - first));
  const edge = broken === 'left' ? first - reserved : last + reserved;
  return { from, to, broken, column, zero: broken ? edge : zeroColumn(low, high, column) };
}

/** Column of zero, never that of an end of the interval: the chart shows whether the interval contains zero. */
function zeroColumn(low: number, high: number, column: (value: number) => number): number {
  const at = column(0);
  if (low > 0) return Math.min(at, column(low) - 1);
  if (high < 0) return Math.max(at, column(high) + 1);
  return Math.max(column(low) + (low < 0 ? 1 : 0), Math.min(at, column(high) - (high > 0 ? 1 : 0)));
}

function scaleLine(scale: Scale, columns: number): string {
  const line = new Line(columns);
  line.put('0', scale.zero);
  const step = niceStep(scale.to - scale.from, columns);
  if (!Number.isFinite(step)) return line.text;
  const first = Math.ceil(scale.from / step);
  for (let index = first; index * step <= scale.to; index++) {
    if (index !== 0) line.put(signed(index * step, step), scale.column(index * step));
  }
  return line.text;
}

/** 1, 2 or 5 times a power of ten, with room for the label of each. */
function niceStep(size: number, columns: number): number {
  const min = (size * TICK_WIDTH) / columns;
  const power = 10 ** Math.floor(Math.log10(min));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= min * (1 - 1e-9))!;
}

function barLine(
  scale: Scale,
  ends: { readonly low: number; readonly middle: number; readonly high: number },
  { low, high }: { readonly low: number; readonly high: number },
  columns: number,
): string {
  const line = new Line(columns);
  if (scale.broken) line.put(BREAK, scale.zero + (scale.broken === 'left' ? 4.5 : -4.5));
  if (ends.high > ends.low) {
    line.put('─'.repeat(ends.high - ends.low), (ends.low + ends.high) / 2);
    line.set('├', ends.low);
    line.set('┤', ends.high);
  }
  line.set(low <= 0 && high >= 0 ? '┼' : '│', scale.zero);
  line.set('●', ends.middle);
  return line.text;
}

/** The three values below their columns, pushed apart where they overlap. */
function valueLine(
  values: { readonly low: number; readonly middle: number; readonly high: number },
  ends: { readonly low: number; readonly middle: number; readonly high: number },
  columns: number,
): string {
  const line = new Line(columns);
  const unit = (values.high - values.low) / 60 || Math.abs(values.low) / 100;
  // A nonzero value is never rounded to 0.
  const text = (value: number) => signed(value, value === 0 ? 1 : Math.min(unit, Math.abs(value)));
  const [low, middle, high] = [text(values.low), text(values.middle), text(values.high)];
  if (values.low === values.high) {
    line.put(middle, ends.middle);
    return line.text;
  }
  const centre = ends.middle - Math.floor(middle.length / 2);
  const left = Math.min(ends.low - Math.floor(low.length / 2), centre - 2 - low.length);
  const right = Math.max(ends.high - Math.floor(high.length / 2), centre + middle.length + 2);
  const shift = Math.max(0, -left) - Math.max(0, right + high.length - columns);
  line.write(low, Math.max(0, left + shift));
  line.write(middle, Math.max(0, centre + shift));
  line.write(high, Math.max(0, right + shift));
  return line.text;
}

/** A line of text, written by column. */
class Line {
  readonly #cells: string[];

  constructor(columns: number) {
    this.#cells = Array.from({ length: columns }, () => ' ');
  }

  get text(): string {
    return this.#cells.join('').trimEnd();
  }

  set(character: string, column: number): void {
    this.#cells[column] = character;
  }

  write(text: string, start: number): void {
    for (const [index, character] of [...text].entries()) this.set(character, start + index);
  }

  /** Writes text around a column, if its cells and a space on both sides are free. */
  put(text: string, centre: number): void {
    const start = Math.max(0, Math.round(centre - (text.length - 1) / 2));
    const cells = this.#cells.slice(Math.max(0, start - 1), start + text.length + 1);
    if (start + text.length <= this.#cells.length && cells.every((cell) => cell === ' '))
      this.write(text, start);
  }
}
