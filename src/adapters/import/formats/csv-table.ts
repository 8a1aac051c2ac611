import { BadFileError } from '../file-rows.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/** Characters of an invalid value that a message quotes. */
const VALUE_LENGTH = 40;
/** Decimal numbers; excludes hexadecimal numbers, `NaN` and `Infinity`. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Date, or date and time; UTC if it has no zone. */
const ISO_TIME =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<clock>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?<zone>Z|[+-]\d\d:?\d\d)?)?$/;

/** A line of a CSV file with a header. */
export interface CsvLine {
  /** As many as the header has. */
  readonly cells: readonly string[];
  /** Number of the line in the file; the header is line 1. */
  readonly number: number;
}

/**
 * Columns of a CSV file by the names in its first line.
 * @throws BadFileError when one of `needed` is missing
 */
export async function csvColumns(path: string, needed: readonly string[]): Promise<CsvColumns> {
  const columns = new CsvColumns(await csvHeader(path));
  const missing = needed.find((name) => !columns.has(name));
  if (missing !== undefined) throw new BadFileError(`has no column ${missing}`);
  return columns;
}

/** Names in the first line of a CSV file. An empty file has none. Throws BadFileError. */
export async function csvHeader(path: string): Promise<readonly string[]> {
  for await (const lines of linesOf(path)) return cellsOf(lines[0]!, 1);
  return [];
}

/** Names in the first line of the beginning of a CSV file; none if it has no line. */
export function headerIn(head: string | undefined): readonly string[] {
  return lineIn(head, 0).map((cell) => cell.trim().toLowerCase());
}

/** Values of the first line after the header, in the beginning of a CSV file. */
export function firstLineIn(head: string | undefined): readonly string[] {
  return lineIn(head, 1);
}

function lineIn(head: string | undefined, index: number): readonly string[] {
  const line = head
    ?.replace('\ufeff', '')
    .split('\n', index + 1)
    [index]?.trimEnd();
  return line ? line.replaceAll('"', '').split(',') : [];
}

/**
 * Lines of a CSV file after its header, in groups. Empty lines at the end are ignored.
 * @throws BadFileError for a line that has another number of values than the header
 */
export async function* csvLines(path: string): AsyncIterable<readonly CsvLine[]> {
  let number = 0;
  let width = 0;
  let empty = 0;
  for await (const lines of linesOf(path)) {
    const group: CsvLine[] = [];
    for (const line of lines) {
      number++;
      if (line === '') {
        empty ||= number;
        continue;
      }
      if (empty > 0) throw new BadFileError(`line ${number} follows an empty line`);
      const cells = cellsOf(line, number);
      if (number === 1) width = cells.length;
      else if (cells.length === width) group.push({ cells, number });
      else {
        throw new BadFileError(`line ${number} has ${cells.length} values: the header has ${width}`);
      }
    }
    if (group.length > 0) yield group;
  }
}

/** Complete lines without their ends, in groups of at least one. */
async function* linesOf(path: string): AsyncIterable<readonly string[]> {
  let rest = '';
  let begun = false;
  for await (const piece of textOf(path)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    if (rest.length > MAX_ROW_LENGTH) throw new BadFileError('is not CSV: a line has no end');
    if (lines.length === 0) continue;
    if (!begun) lines[0] = lines[0]!.replace('\ufeff', '');
    begun = true;
    yield lines.map((line) => line.trimEnd());
  }
  if (rest !== '') yield [(begun ? rest : rest.replace('\ufeff', '')).trimEnd()];
}

/** Values of a line; a quoted value may contain commas and doubled quotes (RFC 4180). */
function cellsOf(line: string, number: number): readonly string[] {
  if (!line.includes('"')) return line.split(',');
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  const cells: string[] = [];
  for (;;) {
    const match = field.exec(line);
    if (!match) throw new BadFileError(`line ${number} has a quote that is not closed`);
    cells.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] !== ',') return cells;
  }
}

/** Reads the values of the columns of a file by name. */
export class CsvColumns {
  readonly #positions: ReadonlyMap<string, number>;

  /** @param header the first column of a name counts */
  constructor(header: readonly string[]) {
    const positions = new Map<string, number>();
    for (const [index, cell] of header.entries()) {
      const name = cell.trim().toLowerCase();
      if (!positions.has(name)) positions.set(name, index);
    }
    this.#positions = positions;
  }

  has(...names: readonly string[]): boolean {
    return names.every((name) => this.#positions.has(name));
  }

  /** Value of a column that the file has. */
  text(line: CsvLine, name: string): string {
    return line.cells[this.#positions.get(name)!]!.trim();
  }

  /** NaN for an empty value. Throws BadFileError for a value that is not a finite decimal number. */
  number(line: CsvLine, name: string): number {
    const text = this.text(line, name);
    if (text === '') return Number.NaN;
    const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(value)) throw wrongValue(line, name, text, 'a decimal number');
    return value;
  }

  /** Unix time as the number in the file, or milliseconds of an ISO 8601 time; NaN for an empty value. */
  time(line: CsvLine, name: string): number {
    const text = this.text(line, name);
    if (text === '' || DECIMAL.test(text)) return this.number(line, name);
    const { day, clock = '00:00', zone = 'Z' } = ISO_TIME.exec(text)?.groups ?? {};
    const time = Date.parse(`${day}T${clock}${zone.replace(/(\d\d):?(\d\d)$/, '$1:$2')}`);
    if (Number.isNaN(time)) throw wrongValue(line, name, text, 'a Unix time or an ISO 8601 time');
    return time;
  }
}

export function wrongValue(line: CsvLine, name: string, text: string, expected: string): BadFileError {
  const quoted = JSON.stringify(text.slice(0, VALUE_LENGTH));
  return new BadFileError(`line ${line.number}: ${name} is ${quoted}: expected ${expected}`);
}
