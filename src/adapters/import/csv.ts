import { BadFileError, ColumnBuilder, type FileRows, type Layout, TIME_NAMES } from './rows.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/** What decimal numbers and times are written with. Hexadecimal numbers and `Infinity` need other letters. */
const PLAIN = /^[\d.,eE+\-:TZ \t]*$/;
/** A date, or date and time; without a zone in UTC. */
const ISO_TIME =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<clock>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?<zone>Z|[+-]\d\d:?\d\d)?)?$/;
/** Characters of a wrong value that are repeated in a message. */
const VALUE_LENGTH = 40;

/**
 * Reads comma separated decimal numbers, times as Unix time or ISO 8601, with or without a header of the columns' names.
 * The columns must be those of a layout in their order: the first line's names, or how many it has, tell which. The file
 * is streamed.
 * @throws BadFileError
 */
export async function readCsv(path: string, layouts: readonly Layout[]): Promise<FileRows> {
  const rows = new CsvRows(layouts);
  let rest = '';
  for await (const piece of textOf(path)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) rows.add(line);
    if (rest.length > MAX_ROW_LENGTH) throw new BadFileError('is not CSV: a line has no end');
  }
  rows.add(rest);
  return rows.finish();
}

class CsvRows {
  /** Those that the lines so far leave. */
  #layouts: readonly Layout[];
  #builder: ColumnBuilder;
  #lines = 0;
  #header = false;
  #ended = false;

  constructor(layouts: readonly Layout[]) {
    this.#layouts = layouts;
    this.#builder = new ColumnBuilder(layouts[0]!.length, 0);
  }

  add(text: string): void {
    this.#lines++;
    const line = (this.#lines === 1 ? text.replace('\ufeff', '') : text).trimEnd();
    if (line === '') {
      this.#ended = true;
      return;
    }
    const cells = line.split(',');
    const named = this.#lines === 1 ? this.#namedIn(cells) : [];
    if (named.length > 0) {
      this.#header = true;
      this.#settle(named);
      return;
    }
    if (this.#ended) throw this.#wrongLine('stands after an empty one');
    const fitting = this.#layouts.filter(({ length }) => length === cells.length);
    if (fitting.length === 0) throw this.#wrongLine(`has ${cells.length} values`);
    const row = cells.map(numberOf);
    if (row.includes(undefined) || !PLAIN.test(line)) {
      const wrong = cells.find((cell, index) => row[index] === undefined || !PLAIN.test(cell))!;
      throw this.#wrongLine(`holds ${JSON.stringify(wrong.slice(0, VALUE_LENGTH))}`);
    }
    if (this.#builder.length === 0) this.#settle(fitting);
    this.#builder.addRow(row as number[]);
  }

  finish(): FileRows {
    return { columns: this.#builder.finish(), first: { word: 'line', number: this.#header ? 2 : 1 } };
  }

  /** Layouts whose names the cells are. */
  #namedIn(cells: readonly string[]): readonly Layout[] {
    const [time, ...others] = cells.map((cell) => cell.trim());
    if (!TIME_NAMES.includes(time!)) return [];
    return this.#layouts.filter((layout) => others.join() === layout.slice(1).join());
  }

  #settle(layouts: readonly Layout[]): void {
    this.#layouts = layouts;
    this.#builder = new ColumnBuilder(layouts[0]!.length);
  }

  #wrongLine(what: string): BadFileError {
    return new BadFileError(
      `line ${this.#lines} ${what}: expected decimal numbers: ${this.#layouts.join(', or ')}`,
    );
  }
}

/** NaN for an empty cell; undefined for what is not a number. */
function numberOf(cell: string, column: number): number | undefined {
  const value = Number(cell);
  if (value === 0) return cell.trim() === '' ? Number.NaN : value;
  if (Number.isFinite(value)) return value;
  return column === 0 ? isoTimeOf(cell.trim()) : undefined;
}

function isoTimeOf(text: string): number | undefined {
  const { day, clock = '00:00', zone = 'Z' } = ISO_TIME.exec(text)?.groups ?? {};
  const time = Date.parse(`${day}T${clock}${zone.replace(/(\d\d):?(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(time) ? undefined : time;
}
