import { SignalTableBuilder } from './table-builder.ts';

/** Characters of a line: a longer one is another format, which must not fill the memory. */
const MAX_LINE = 65_536;

/** Reads RFC 4180: a header, quoted fields where needed, LF or CRLF. Throws BadSignalsError. */
export function parseSignalsCsv(text: string): SignalTableBuilder {
  let position = text.startsWith('\ufeff') ? 1 : 0;
  let builder: SignalTableBuilder | undefined;
  while (position < text.length) {
    const record = readRecord(text, position, (builder?.rows ?? -1) + 1);
    position = record.next;
    // pandas and editors end a file with an empty line; another one is no row either.
    if (record.cells.length === 1 && record.cells[0] === '') continue;
    if (builder) builder.add(record.cells);
    else builder = new SignalTableBuilder(record.cells.map((cell) => cell.trim()));
  }
  return builder ?? new SignalTableBuilder([]);
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
