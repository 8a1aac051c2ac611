import { SignalTableBuilder } from './table-builder.ts';

/** Characters of a line: a longer one is another format, which must not fill the memory. */
const MAX_LINE = 65_536;

/** Reads a file of signals. Throws BadSignalsError. */
export function parseSignalsCsv(text: string): SignalTableBuilder {
  let builder: SignalTableBuilder | undefined;
  for (const cells of csvRecords(text)) {
    if (builder) builder.add(cells);
    else builder = new SignalTableBuilder(cells.map((cell) => cell.trim()));
  }
  return builder ?? new SignalTableBuilder([]);
}

/** Cells of each line that is not empty, of RFC 4180: quoted fields where needed, LF or CRLF. Throws BadSignalsError. */
export function* csvRecords(text: string): Generator<readonly string[]> {
  let position = text.startsWith('\ufeff') ? 1 : 0;
  for (let row = -1; position < text.length; ) {
    const { cells, next } = readRecord(text, position, Math.max(row, 0));
    position = next;
    // pandas and editors end a file with an empty line; another one is no row either.
    if (cells.length === 1 && cells[0] === '') continue;
    row++;
    yield cells;
  }
}

interface CsvRecord {
  readonly cells: readonly string[];
  /** Position after the record. */
  readonly next: number;
}

function readRecord(text: string, from: number, row: number): CsvRecord {
  const newline = text.indexOf('\n', from);
  const end = newline < 0 ? text.length : newline;
  if (end - from > MAX_LINE) throw SignalTableBuilder.badRow(row, `is longer than ${MAX_LINE} characters`);
  const line = text.slice(from, text[end - 1] === '\r' ? end - 1 : end);
  if (!line.includes('"')) return { cells: line.split(','), next: end + 1 };
  return readQuoted(text, from, row);
}

/** A record with quoted fields, which may hold commas, line ends and doubled quotes. */
function readQuoted(text: string, from: number, row: number): CsvRecord {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  const cells: string[] = [];
  field.lastIndex = from;
  for (;;) {
    const match = field.exec(text);
    if (!match)
      throw SignalTableBuilder.badRow(row, 'has a quote that is not closed, or text next to a quoted value');
    cells.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] !== ',') return { cells, next: field.lastIndex };
    if (field.lastIndex - from > MAX_LINE)
      throw SignalTableBuilder.badRow(row, `is longer than ${MAX_LINE} characters`);
  }
}
