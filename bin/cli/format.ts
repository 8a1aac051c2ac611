import asciichart from 'asciichart';
import Table from 'cli-table3';

/** A table with a header row; numbers are aligned right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const numeric = head.map((_, column) => rows.some((row) => isNumeric(row[column])));
  const printed = new Table({
    head: [...head],
    colAligns: numeric.map((right) => (right ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) printed.push(row.map((cell) => (cell === null ? '-' : String(cell))));
  return printed.toString();
}

function isNumeric(cell: string | number | null | undefined): boolean {
  return typeof cell === 'number' || (typeof cell === 'string' && /^[-+]?[\d,]+(\.\d+)?( ?%)?$/.test(cell));
}

/** Lines of at most `width` characters, broken between words. */
export function wrap(text: string, width: number): string {
  return text.replaceAll(new RegExp(`(.{1,${width}})(?:\\s+|$)`, 'g'), '$1\n').trimEnd();
}

/** A number with thousands separators; `-` for null. */
export function number(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? '-' : `${number(value, digits)} %`;
}

/** `2026-08-23 00:00` of an ISO time, UTC. */
export function minute(iso: string | null | undefined): string {
  return iso ? iso.slice(0, 16).replace('T', ' ') : '-';
}

/** `2026-08-23 00:00:00` of an ISO time, UTC. */
export function second(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

const CHART_WIDTH = 80;
const CHART_HEIGHT = 12;

/** A line chart for the terminal; the first and last labels stand under it. */
export function chart(values: readonly number[], labels: readonly string[]): string {
  if (values.length < 2) return '';
  const width = Math.min(CHART_WIDTH, Math.max(values.length, CHART_WIDTH));
  const sampled = Array.from({ length: width }, (_, i) => {
    const index = Math.round((i * (values.length - 1)) / (width - 1));
    return values[index]!;
  });
  const plot = asciichart.plot(sampled, {
    height: CHART_HEIGHT,
    format: (value) => number(value).padStart(12),
  });
  const first = labels[0]!;
  const last = labels.at(-1)!;
  return `${plot}\n${' '.repeat(14)}${first}${' '.repeat(Math.max(1, width - first.length - last.length))}${last}`;
}

/** Milliseconds as `850 ms`, `12.3 s` or `4 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`;
}
