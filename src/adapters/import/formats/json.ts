import { BadFileError, ColumnBuilder, FIRST_ROW, type FileRows, type Layout } from '../file-rows.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/** Characters of an invalid row that a message quotes. */
const EXCERPT = 40;

/**
 * Reads an array of rows, each an array of column values in the order of a layout. Times are Unix time; missing values are
 * `null`. The length of the first row selects the layout. The file is streamed: a row begins at a bracket, so the text before
 * the last bracket contains complete rows.
 * @throws BadFileError
 */
export async function readJson(path: string, layouts: readonly Layout[]): Promise<FileRows> {
  let accepted = layouts;
  let builder = new ColumnBuilder(layouts[0]!.length, 0);
  const add = (text: string) => {
    for (const row of parseRows(text, builder.length)) {
      const values = rowOf(row, accepted, builder.length);
      if (builder.length === 0) {
        builder = new ColumnBuilder(values.length);
        accepted = accepted.filter(({ length }) => length === values.length);
      }
      builder.addRow(values);
    }
  };
  let rest = '';
  let begun = false;
  for await (const piece of textOf(path)) {
    rest += piece;
    if (!begun) {
      rest = rest.replace('\ufeff', '').trimStart();
      if (rest !== '' && rest[0] !== '[') throw notRows();
      begun = rest !== '';
      rest = rest.slice(1);
    }
    const end = rest.lastIndexOf('[');
    if (end > 0) add(withoutComma(rest.slice(0, end)));
    if (end > 0) rest = rest.slice(end);
    if (rest.length > MAX_ROW_LENGTH) throw notRows();
  }
  if (!begun) throw notRows();
  if (!rest.trimEnd().endsWith(']')) throw new BadFileError('is truncated');
  add(rest.trimEnd().slice(0, -1));
  return { columns: builder.finish(), first: FIRST_ROW };
}

function withoutComma(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  if (!trimmed.endsWith(',')) throw notRows();
  return trimmed.slice(0, -1);
}

/** `before`: number of earlier rows of the file. */
function parseRows(text: string, before: number): unknown[] {
  const parsed = parse(`[${text}]`);
  if (parsed) return parsed as unknown[];
  const rows = text.split(/(?<=\])\s*,/);
  const wrong = Math.max(
    0,
    rows.findIndex((row) => parse(row) === undefined),
  );
  const excerpt = rows[wrong]!.trim().slice(0, EXCERPT);
  throw new BadFileError(`row ${before + wrong + 1} is not a JSON array of numbers: ${excerpt}`);
}

/** Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rowOf(row: unknown, layouts: readonly Layout[], index: number): number[] {
  if (!Array.isArray(row)) throw notRows();
  const values = row.map((value) => (value === null ? Number.NaN : value));
  const fits = layouts.some(({ length }) => length === values.length);
  if (!fits || values.some((value) => typeof value !== 'number')) {
    const expected = layouts.map((layout) => `${layout.length} numbers: ${layout}`).join(', or ');
    throw new BadFileError(`row ${index + 1}: expected ${expected}`);
  }
  return values;
}

const notRows = () => new BadFileError('is not a JSON array of rows, each an array of numbers');
