import { stripVTControlCharacters, styleText } from 'node:util';
import asciichart from 'asciichart';
import cliProgress from 'cli-progress';
import Table from 'cli-table3';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { LookAheadState } from '#contract/config/look-ahead.ts';
import type { QueueState } from '#contract/jobs/queue.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';

import { metricNote, undefinedReason, withNote } from '#contract/values/undefined-metrics.ts';

/** Longest line of text, characters. */
const MAX_LINE = 100;

/** Characters of a line of text: those of the terminal, up to 100. A file or a pipe has 100. */
export function lineWidth(): number {
  return Math.min(MAX_LINE, process.stdout.columns || MAX_LINE);
}

type Cells = readonly (string | number | null)[];

/**
 * A table with a header row; numbers are aligned right, null prints as `-`. In a terminal that is too narrow for it, texts are broken
 * between words. Where that is not enough, each row is a block of lines, as in the expanded display of psql.
 *
 * @param width columns of the terminal; undefined for a file or a pipe, which takes a table of any width
 */
export function table(
  head: readonly string[],
  rows: readonly Cells[],
  width: number | undefined = process.stdout.columns || undefined,
): string {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))));
  const numeric = head.map((_, column) => rows.some((row) => isNumeric(row[column])));
  const print = (texts: readonly (readonly string[])[], titles: readonly string[]) => {
    const printed = new Table({
      head: [...titles],
      colAligns: numeric.map((right) => (right ? 'right' : 'left')),
      style: { head: [], border: [], compact: true },
    });
    for (const row of texts) printed.push([...row]);
    return printed.toString();
  };
  const whole = print(cells, head);
  if (width === undefined || rows.length === 0 || whole.indexOf('\n') <= width) return whole;
  const widths = narrowed([head, ...cells], width);
  if (!widths) return blocks(head, cells, width);
  const shrunk = (row: readonly string[]) => row.map((cell, column) => fitted(cell, widths[column]!));
  return print(cells.map(shrunk), shrunk(head));
}

const lengthOf = (text: string, separator: string | RegExp) =>
  Math.max(
    0,
    ...stripVTControlCharacters(text)
      .split(separator)
      .map((part) => part.length),
  );

/** Characters of each column so that the table fits; undefined if its longest words do not. The widest columns shrink first. */
function narrowed(rows: readonly (readonly string[])[], width: number): readonly number[] | undefined {
  const widest = (column: number, separatorOf: (cell: string) => string | RegExp) =>
    Math.max(...rows.map(({ [column]: cell = '' }) => lengthOf(cell, separatorOf(cell))));
  const widths = rows[0]!.map((_, column) => widest(column, () => '\n'));
  const least = rows[0]!.map((_, column) => widest(column, (cell) => (isNumeric(cell) ? '\n' : /\s/)));
  // A border and two spaces for each column, and a last border.
  let excess = widths.reduce((sum, each) => sum + each + 3, 1) - width;
  for (; excess > 0; excess--) {
    const slack = widths.map((each, column) => (each > least[column]! ? each : 0));
    const most = Math.max(...slack);
    if (most === 0) return undefined;
    widths[slack.indexOf(most)]!--;
  }
  return widths;
}

function fitted(cell: string, width: number): string {
  return lengthOf(cell, '\n') <= width ? cell : wrap(cell.replaceAll('\n', ' '), width);
}

/** A block for each row: a line for each column that has a text, with its title. An empty line ends each block. */
function blocks(head: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const indent = lengthOf(head.join('\n'), '\n') + 2;
  const lineOf = (title: string, cell: string) => {
    const text = fitted(cell, Math.max(20, width - indent));
    return `${title.padEnd(indent)}${text.replaceAll('\n', `\n${' '.repeat(indent)}`)}\n`;
  };
  return rows
    .map((row) => head.map((title, at) => (row[at] ? lineOf(title, row[at]) : '')).join(''))
    .join('\n');
}

function isNumeric(cell: string | number | null | undefined): boolean {
  if (typeof cell !== 'string') return typeof cell === 'number';
  return /^[-+]?[\d,]+(\.\d+)?( ?%)?$/.test(stripVTControlCharacters(cell));
}

/** Lines of up to `width` characters, broken between words. */
export function wrap(text: string, width: number): string {
  return text.replaceAll(new RegExp(`(.{1,${width}})(?:\\s+|$)`, 'g'), '$1\n').trimEnd();
}

/** A number with thousands separators; `-` for null. */
export function number(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Decimals of amounts in the currency of a wallet: two, and more for a wallet below 10, such as one in bitcoin. */
export function moneyDigits(wallet: number): number {
  return wallet >= 10 ? 2 : Math.min(8, 4 - Math.floor(Math.log10(wallet)));
}

/** An amount with the decimals that it has, up to eight. */
export function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 8 });
}

export function percent(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? '-' : `${number(value, digits)} %`;
}

/** A metric as a text: its value, null for an undefined one, with what there is to say of it. */
export function metricText(name: string, text: string | null, note: string | null): string {
  return withNote(name, text, note, '-');
}

/** {@link metricText} of a result of a job or a version; a dash without one. */
export function resultText(
  result: BacktestResult | null | undefined,
  name: string,
  format: (value: number) => string = number,
): string {
  if (!result) return '-';
  const value = result[name];
  const isKnown = typeof value === 'number' && undefinedReason(result, name) === null;
  return metricText(name, isKnown ? format(value) : null, metricNote(result, name));
}

/** State of a look-ahead check; a found leak is red where the terminal has colors. `-` for a job that has not completed. */
export function lookAheadText(state: LookAheadState | null): string {
  if (state === null) return '-';
  return state === 'found' ? styleText('red', FOUND) : state.replace('_', ' ');
}

const FOUND: LookAheadState = 'found';

/** Figure of a run; struck through, where the terminal can, when a leak was found: it cannot be earned. */
export function figure(state: LookAheadState | null | undefined, text: string): string {
  return state === FOUND && text !== '-' ? styleText('strikethrough', text) : text;
}

const MAX_DIGITS = 7;
const MAX_PLAIN = 1e9;

/** A number in five significant digits; `-` for null. */
export function compactNumber(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(5)));
}

/** A number with its sign, rounded to `unit`: `+0.17`, `-1,250`, `+2.1e-9`; `0` when it rounds to 0. */
export function signed(value: number, unit: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  if (digits > MAX_DIGITS || Math.abs(value) >= MAX_PLAIN) {
    if (value === 0) return '0';
    return `${value > 0 ? '+' : ''}${value.toExponential(Math.abs(value) < unit ? 0 : 1)}`;
  }
  const text = number(Math.abs(value), digits);
  if (!/[1-9]/.test(text)) return '0';
  return `${value > 0 ? '+' : '-'}${text}`;
}

/** `2026-08-23 00:00` for an ISO time, UTC. */
export function minute(iso: string | null | undefined): string {
  return iso ? iso.slice(0, 16).replace('T', ' ') : '-';
}

/** `2026-08-23 00:00:00` for an ISO time, UTC. */
export function second(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** Milliseconds as `850 ms`, `12.3 s` or `4 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`;
}

const CHART_WIDTH = 80;
/** Labels and axis in front of a chart. */
const CHART_INDENT = 14;
const CHART_HEIGHT = 12;

/** A line chart with the first and the last label below it; empty for fewer than two values. */
export function chart(values: readonly number[], labels: readonly string[], digits = 2): string {
  if (values.length < 2) return '';
  const width = Math.min(CHART_WIDTH, Math.max(20, lineWidth() - CHART_INDENT - 1));
  const sampled = Array.from({ length: width }, (_, i) => {
    const index = Math.round((i * (values.length - 1)) / (width - 1));
    return values[index]!;
  });
  const plot = asciichart.plot(sampled, {
    height: CHART_HEIGHT,
    format: (value) => number(value, digits).padStart(12),
  });
  const [first, last] = [labels[0]!, labels.at(-1)!];
  const space = ' '.repeat(Math.max(1, width - first.length - last.length));
  return `${plot}\n${' '.repeat(CHART_INDENT)}${first}${space}${last}`;
}

/** Status of a job; of a job that waits also its place in the queue: `pending (position 12, waits for a slot)`. */
export function queueText({ status, queue }: { status: string; queue: QueueState | null }): string {
  if (!queue || queue.waiting_for === 'start') return status;
  const reason = queue.waiting_for === 'slot' ? 'waits for a slot' : `waits for capacity: ${queue.reason}`;
  return queue.position === null
    ? `${status} (${reason})`
    : `${status} (position ${queue.position}, ${reason})`;
}

/** `failed: reason`, or `was cancelled`. */
export function statusWithError({ status, error }: { status: string; error: string | null }): string {
  const verb = status === 'cancelled' ? 'was cancelled' : status;
  return error ? `${verb}: ${error}` : verb;
}

/** Printed when a page is not the last one. */
export const MORE_JOBS = `More exist: raise --limit (up to ${PAGE_LIMITS.max}), or filter by --status or --experiment.`;

/** A progress bar on stderr, so that stdout stays readable by a program. */
export function progressBar(format: string, options: cliProgress.Options = {}): cliProgress.SingleBar {
  return new cliProgress.SingleBar(
    // With gracefulExit the bar swallows the first Ctrl-C; a hidden cursor would stay hidden after it.
    { format, gracefulExit: false, ...options },
    cliProgress.Presets.shades_classic,
  );
}

/**
 * Writes out control and direction characters. Names and messages come from files and other users: none may steer the
 * terminal or imitate a line of this program.
 */
export function escapeControlChars(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
