import {
  BadFileError,
  ColumnBuilder,
  type FileRows,
  type Layout,
  type ReadOptions,
  TIME_NAMES,
} from '../file-rows.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/** Characters of decimal numbers and times; excludes hexadecimal numbers and `Infinity`. */
const PLAIN = /^[\d.,eE+\-:TZ \t]*$/;
/** Date, or date and time; UTC if it has no zone. */
const ISO_TIME =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<clock>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?<zone>Z|[+-]\d\d:?\d\d)?)?$/;
/** Its first two bytes, which are not UTF-8. */
const UTF_16 = '\ufffd\ufffd';
/** Characters of an invalid value that a message quotes. */
const VALUE_LENGTH = 40;

/**
 * Reads comma-separated decimal numbers, with or without a header of column names. Times are Unix time or ISO 8601. The
 * columns must match a layout in its order; the names or the number of columns in the first line select it. With `keep`, only the
 * names of the kept columns are compared. The file is streamed.
 * @throws BadFileError
 */
export async function readCsv(
  path: string,
  layouts: readonly Layout[],
  { keep }: ReadOptions,
): Promise<FileRows> {
  const rows = new CsvRows(layouts, keep);
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
  /** Layouts that fit all lines so far. */
  #layouts: readonly Layout[];
  #builder: ColumnBuilder;
  #lines = 0;
  #header = false;
  #ended = false;
  readonly #keep: readonly string[] | undefined;

  constructor(layouts: readonly Layout[], keep: readonly string[] | undefined) {
    this.#layouts = layouts;
    this.#keep = keep;
    this.#builder = new ColumnBuilder(layouts[0]!.length, 0);
  }

  add(text: string): void {
    this.#lines++;
    if (this.#lines === 1 && text.startsWith(UTF_16)) throw new BadFileError('is UTF-16: save it as UTF-8');
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
    if (this.#ended) throw this.#wrongLine('follows an empty line');
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
    const columns = this.#builder.finish();
    const layout = this.#layouts[0]!;
    return {
      columns: this.#keep ? this.#keep.map((name) => columns[layout.indexOf(name)]!) : columns,
      first: { word: 'line', number: this.#header ? 2 : 1 },
    };
  }

  /** Layouts whose column names equal the cells, in any case. */
  #namedIn(cells: readonly string[]): readonly Layout[] {
    const [time, ...others] = cells.map((cell) => cell.trim().toLowerCase());
    const compared = (name: string) => this.#keep?.includes(name) ?? true;
    return this.#layouts.filter(
      (layout) =>
        cells.length === layout.length &&
        (time === layout[0] || TIME_NAMES.includes(time!)) &&
        layout.slice(1).every((name, index) => name === others[index] || !compared(name)),
    );
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

/** NaN for an empty cell; undefined for a cell that is not a number. */
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
