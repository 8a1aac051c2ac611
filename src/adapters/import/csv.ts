import { BadFileError, ColumnBuilder, type FileRows, TIME_NAMES } from './rows.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/**
 * Reads comma separated numbers, times in Unix milliseconds, with or without a header of the columns' names. The columns
 * must be the wanted ones in their order. The file is streamed.
 * @throws BadFileError
 */
export async function readCsv(path: string, names: readonly string[]): Promise<FileRows> {
  const rows = new CsvRows(names);
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
  readonly #names: readonly string[];
  readonly #builder: ColumnBuilder;
  #lines = 0;
  #header = false;
  #ended = false;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#builder = new ColumnBuilder(names.length);
  }

  add(text: string): void {
    this.#lines++;
    const line = text.trimEnd();
    if (line === '') {
      this.#ended = true;
      return;
    }
    const cells = line.split(',');
    if (this.#lines === 1 && this.#isHeader(cells)) {
      this.#header = true;
      return;
    }
    const row = cells.map(numberOf);
    if (this.#ended || row.length !== this.#names.length || row.includes(undefined)) {
      throw new BadFileError(`line ${this.#lines}: expected ${this.#names.length} numbers: ${this.#names}`);
    }
    this.#builder.addRow(row as number[]);
  }

  finish(): FileRows {
    return { columns: this.#builder.finish(), first: { word: 'line', number: this.#header ? 2 : 1 } };
  }

  #isHeader(cells: readonly string[]): boolean {
    const [time, ...others] = cells.map((cell) => cell.replace('\ufeff', '').trim());
    return TIME_NAMES.includes(time!) && others.join() === this.#names.slice(1).join();
  }
}

/** NaN for an empty cell; undefined for what is not a number. */
function numberOf(cell: string): number | undefined {
  const value = Number(cell);
  if (value !== 0) return Number.isNaN(value) ? undefined : value;
  return cell.trim() === '' ? Number.NaN : value;
}
