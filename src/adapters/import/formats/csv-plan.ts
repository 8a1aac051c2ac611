import {
  type ChosenColumns,
  type ColumnHints,
  chooseColumns,
  type Positions,
} from '../columns/choose-columns.ts';
import { NAMES, OPEN_TIMES, plainName, TIMES } from '../columns/column-names.ts';
import { numberIn } from '../columns/numbers.ts';
import { ambiguousDate, type DateOrder, dateOrderOf, isCompactDate, writtenTime } from '../columns/times.ts';
import { SHAPES, vendorOf } from '../columns/vendors.ts';
import { BadFileError } from '../file-rows.ts';

/** Statements of the user on how a file is read. */
export interface TableHints extends ColumnHints {
  /** `--time-zone`: of times that state none. */
  readonly timeZone?: string;
  /** `--skip-invalid`: wrong rows are left out. */
  readonly skipInvalid?: boolean;
}

/** How the lines of a CSV file are read. */
export interface CsvPlan {
  readonly delimiter: string;
  /** Number of the first line with a candle. */
  readonly dataLine: number;
  /** Names of the columns; those of the shape for a file without a header. */
  readonly names: readonly string[];
  readonly decimalComma: boolean;
  /** Order of day and month where the time is a date that begins with one of them. */
  readonly dateOrder: DateOrder;
  /** One for each series of a file whose columns are of several symbols, as pandas writes them. */
  readonly series: readonly { readonly symbol: string | null; readonly positions: Positions }[];
  /** Zone of times that state none. */
  readonly timeZone: string | undefined;
  readonly notes: readonly string[];
  /** Characters of a line on average. */
  readonly lineLength: number;
}

/** In this order: a file with decimal commas has more commas than semicolons. */
const DELIMITERS = ['\t', ';', '|', ','];
const MIN_COLUMNS = 5;
/** Lines of data that are looked at. */
const SAMPLES = 400;
const COMMENT = /^\s*(#|\/\/|%|--)/;

/**
 * Reads the beginning of a CSV file: delimiter, header, columns, form of the numbers and times.
 * @param head the first lines; the last one may be cut
 * @param fileName without its folders
 * @throws BadFileError for a file that is no table of candles; the message says what is missing and which option helps
 */
export function planCsv(head: string, fileName: string, hints: TableHints): CsvPlan {
  const lines = head.replace('\ufeff', '').split('\n');
  if (lines.length > 2) lines.pop();
  const { delimiter, rows } = tableIn(lines);
  const first = rows.findIndex(({ cells }) => cells.length >= MIN_COLUMNS && isData(cells));
  if (first < 0) throw noTimes(rows, hints);
  const { cells: firstCells, number: dataLine } = rows[first]!;
  const width = firstCells.length;
  const samples = rows
    .slice(first, first + SAMPLES)
    .filter(({ cells }) => cells.length === width)
    .map(({ cells }) => cells);
  const headers = rows.slice(0, first).filter(({ cells }) => cells.length >= MIN_COLUMNS - 1);
  const named = namesIn(
    headers.map(({ cells }) => cells),
    width,
    samples,
  );
  const vendor = vendorOf(fileName, named.names.map(plainName));
  const columnHints = { ...(vendor?.mode && { mode: vendor.mode }), ...hints };
  const chosen = columnsOf(named, samples, columnHints);
  const { positions } = chosen.series[0]!;
  const times = samples.map((cells) => timeTextOf(cells, positions)).filter((text) => text !== '');
  const statesZone = times.every((text) => isEpoch(text) || writtenTime(text, 'dmy')?.offset !== undefined);
  const zone = hints.timeZone ?? (statesZone ? undefined : vendor?.zone);
  const texts = times.filter((text) => !isEpoch(text));
  const dateOrder = dateOrderOf(texts);
  const ambiguous = ambiguousDate(texts);
  const order = dateOrder === 'mdy' ? 'month, day, year' : 'day, month, year';
  const dateNotes = ambiguous === undefined ? [] : [`dates such as ${ambiguous} are read as ${order}`];
  const isFutures = hints.symbol?.includes(':') ?? hints.mode === 'futures';
  const unitNotes =
    named.shape === 'Gate' && isFutures ? ["volumes of Gate's futures count contracts, not base assets"] : [];
  const zoneNotes =
    zone !== undefined && hints.timeZone === undefined && vendor?.zoneNote ? [vendor.zoneNote] : [];
  return {
    delimiter,
    dataLine,
    names: named.names,
    decimalComma: chosen.decimalComma,
    dateOrder,
    series: chosen.series,
    timeZone: zone,
    notes: [...named.notes, ...chosen.notes, ...unitNotes, ...zoneNotes, ...dateNotes],
    lineLength: head.length / Math.max(1, lines.length),
  };
}

interface Row {
  readonly cells: readonly string[];
  /** Number of the line. */
  readonly number: number;
}

/** The delimiter by which most lines have one number of values, and the lines split by it, without comments and empty ones. */
function tableIn(lines: readonly string[]): { readonly delimiter: string; readonly rows: readonly Row[] } {
  const kept = lines
    .map((line, index) => ({ line: line.replace(/\r$/, ''), number: index + 1 }))
    .filter(({ line }) => line.trim() !== '' && !COMMENT.test(line));
  const split = DELIMITERS.map((delimiter) => {
    const rows = kept.map(({ line, number }) => ({ cells: splitCells(line, delimiter), number }));
    const widths = Map.groupBy(rows, ({ cells }) => cells.length);
    const [width, some] = [...widths].sort(([, a], [, b]) => b.length - a.length)[0] ?? [0, []];
    return { delimiter, rows, width, share: some.length / Math.max(1, rows.length) };
  });
  const fitting = split.filter(({ width }) => width >= MIN_COLUMNS);
  return fitting.find(({ share }) => share > 0.5) ?? fitting[0] ?? split.at(-1)!;
}

/** Values of a line; a quoted value may contain delimiters and doubled quotes (RFC 4180). */
export function splitCells(line: string, delimiter: string): string[] {
  if (!line.includes('"')) return line.split(delimiter);
  const cells: string[] = [];
  let [cell, quoted] = ['', false];
  for (const [index, character] of [...line].entries()) {
    if (character === '"') {
      if (!quoted && line[index - 1] === '"' && cell !== '') cell += '"';
      quoted = !quoted;
    } else if (character === delimiter && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  cells.push(cell);
  return cells;
}

const isEpoch = (text: string) => Number(text) >= 1e8 && !isCompactDate(text);

function isTimeText(text: string): boolean {
  const trimmed = text.trim();
  if (isEpoch(trimmed)) return true;
  return (writtenTime(trimmed, 'dmy') ?? writtenTime(trimmed, 'mdy')) !== undefined;
}

/** True for a line with a time, or with as many numbers as candles have; pandas may number columns without names. */
function isData(cells: readonly string[]): boolean {
  if (cells.some(isTimeText)) return true;
  const numbers = cells.filter(
    (cell) => !Number.isNaN(numberIn(cell, false) ?? numberIn(cell, true) ?? Number.NaN),
  );
  return numbers.length >= MIN_COLUMNS - 1 && !isNumbered(cells);
}

/** True for `0,1,2,3,4,5`, with an empty name of the index or without. */
function isNumbered(cells: readonly string[]): boolean {
  const numbers = cells[0]!.trim() === '' ? cells.slice(1) : cells;
  return numbers.every((cell, index) => cell.trim() === `${index}`);
}

function noTimes(rows: readonly Row[], hints: TableHints): BadFileError {
  const header = rows.findIndex(({ cells }) => pricesIn(cells) >= 3);
  if (header >= 0) {
    const others = rows.slice(header + 1);
    if (others.length === 0) return new BadFileError('holds no rows');
    try {
      chooseColumns(
        rows[header]!.cells,
        others.map(({ cells }) => cells),
        hints,
      );
    } catch (error) {
      if (error instanceof BadFileError) return error;
      throw error;
    }
    return new BadFileError('holds no rows');
  }
  const [first] = rows;
  const shown = first ? `: it begins with ${JSON.stringify(first.cells.join().slice(0, 80))}` : '';
  return new BadFileError(
    `holds no table of candles, with a time, open, high, low and close in each line${shown}`,
  );
}

interface Named {
  readonly names: readonly string[];
  /** Symbols above the columns, of a header of several lines. */
  readonly symbols?: readonly string[];
  /** Vendor of a file without a header. */
  readonly shape?: string;
  readonly notes: readonly string[];
}

function namesIn(
  headers: readonly (readonly string[])[],
  width: number,
  samples: readonly (readonly string[])[],
): Named {
  // R writes no name for the index.
  const full = headers.map((cells) =>
    cells.length === width - 1 && !isTimeName(cells[0]!) ? ['', ...cells] : cells,
  );
  const best = full.toSorted((a, b) => pricesIn(b) - pricesIn(a))[0];
  if (best === undefined) return shapeOf(width, samples);
  if (isNumbered(best) && best[0]!.trim() === '') {
    const { names, ...shape } = shapeOf(
      width - 1,
      samples.map((cells) => cells.slice(1)),
    );
    return { names: ['', ...names], ...shape };
  }
  if (isNumbered(best)) return shapeOf(width, samples);
  const wide = symbolsInNames(best);
  if (wide) return wide;
  const others = full.filter((cells) => cells !== best);
  const symbols = others.find((cells) => cells.slice(1).filter((cell) => cell.trim() !== '').length >= 4);
  const index = others.at(-1)?.[0]?.trim();
  const names = others.length > 0 && index ? [index, ...best.slice(1)] : best;
  return { names, ...(symbols && { symbols }), notes: [] };
}

const PART = /^(?<before>.+?)[ :._-](?<role>adj close|open|high|low|close|volume)$/i;
const PART_FIRST = /^(?<role>adj close|open|high|low|close|volume)[ :._-](?<after>.+)$/i;

/** Names of columns with a symbol in each, such as `BTC:open,BTC:high` and `ETH:open`; undefined unless there are several symbols. */
function symbolsInNames(cells: readonly string[]): Named | undefined {
  const parts = cells.map((cell) => {
    const { before, after, role } = (PART.exec(cell.trim()) ?? PART_FIRST.exec(cell.trim()))?.groups ?? {};
    return { symbol: before ?? after ?? '', role: role ?? cell };
  });
  const opens = new Set(parts.filter(({ role }) => plainName(role) === 'open').map(({ symbol }) => symbol));
  const sides = [...opens].map((symbol) => symbol.toLowerCase());
  // Bids and asks are of one symbol.
  if (opens.size < 2 || opens.has('') || sides.includes('bid')) return undefined;
  const symbols = parts.map(({ symbol }) => (opens.has(symbol) ? symbol : ''));
  return {
    names: parts.map(({ symbol, role }, at) => (opens.has(symbol) ? role : cells[at]!)),
    symbols,
    notes: [],
  };
}

const isTimeName = (name: string) => [...OPEN_TIMES, ...TIMES].includes(plainName(name));
const PRICES = [...NAMES.open, ...NAMES.high, ...NAMES.low, ...NAMES.close];
const pricesIn = (cells: readonly string[]) =>
  cells.filter((cell) => PRICES.includes(plainName(cell))).length;

/** Names of a file without a header: the first shape of its width whose prices do not contradict each other. */
export function shapeOf(width: number, samples: readonly (readonly string[])[]): Named {
  const all = SHAPES.filter(({ columns }) => columns.length === width);
  const found = all.find(({ columns }) => {
    const at = (name: string) => columns.indexOf(name);
    const [time, clock] = [columns.findIndex((name) => /time|date/.test(name)), at('time')];
    return samples.every((cells) => {
      const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) =>
        Number(numberIn(cells[at(name)]!, false) ?? numberIn(cells[at(name)]!, true)),
      ) as [number, number, number, number];
      const isClock = clock === time || clock < 0 || /^\d{1,2}:?\d\d/.test(cells[clock]!);
      const isSymbol = columns[0] !== 'symbol' || /[a-z]/i.test(cells[0]!);
      if (!isTimeText(cells[time]!) || !isClock || !isSymbol) return false;
      const noise = 1 + 1e-9;
      const isOrdered = high * noise >= Math.max(open, close, low) && low <= Math.min(open, close) * noise;
      return isOrdered || Number.isNaN(open + high + low + close);
    });
  });
  const shape = found ?? all.find(({ columns }) => columns[1] === 'open' || columns[2] === 'open');
  if (shape === undefined) return { names: Array.from({ length: width }, (_, at) => `${at + 1}`), notes: [] };
  const isPlain = shape.columns.join().includes('open,high,low,close');
  const note = `no header: columns taken as ${shape.columns.join(', ')} (${shape.name})`;
  return { names: shape.columns, shape: shape.name, notes: isPlain ? [] : [note] };
}

/** Columns of each series. Columns of several symbols have the index in common. */
function columnsOf(
  { names, symbols }: Named,
  samples: readonly (readonly string[])[],
  hints: TableHints,
): Omit<ChosenColumns, 'positions'> & Pick<CsvPlan, 'series'> {
  const distinct = new Set(
    symbols
      ?.slice(1)
      .map((symbol) => symbol.trim())
      .filter((symbol) => symbol !== ''),
  );
  if (symbols === undefined || distinct.size < 2) {
    const { positions, ...chosen } = chooseColumns(names, samples, hints);
    const [symbol = null] = distinct;
    return { ...chosen, series: [{ symbol, positions }] };
  }
  const all = [...distinct].map((symbol) => {
    const kept = names.flatMap((_, at) => (at === 0 || symbols[at]!.trim() === symbol ? at : []));
    const pick = (cells: readonly string[]) => kept.map((at) => cells[at]!);
    const chosen = chooseColumns(pick(names), samples.map(pick), hints);
    const positions = Object.fromEntries(
      Object.entries(chosen.positions).map(([role, at]) => [role, kept[at]!]),
    ) as unknown as Positions;
    return { chosen, series: { symbol, positions } };
  });
  const { decimalComma, notes } = all[0]!.chosen;
  return { decimalComma, notes, series: all.map(({ series }) => series) };
}

/** Text of the time of a line, its date and clock together. */
function timeTextOf(cells: readonly string[], { time, clock }: Positions): string {
  const text = cells[time]!.trim();
  return clock === undefined ? text : `${text} ${cells[clock]!.trim()}`.trim();
}
