import { readCsv } from './csv.ts';
import { readFeather } from './feather.ts';
import { readJson } from './json.ts';
import { readParquetFile } from './parquet.ts';
import type { ReadRows } from './rows.ts';

/** Every format that can be imported: its endings and its reader. A new one is a file beside these and a line here. */
const FORMATS = {
  CSV: { endings: ['.csv', '.csv.gz'], read: readCsv },
  Feather: { endings: ['.feather'], read: readFeather },
  JSON: { endings: ['.json', '.json.gz'], read: readJson },
  Parquet: { endings: ['.parquet'], read: readParquetFile },
} satisfies Readonly<Record<string, { readonly endings: readonly string[]; readonly read: ReadRows }>>;

export type Format = keyof typeof FORMATS;

export function readerOf(format: Format): ReadRows {
  return FORMATS[format].read;
}

/** The format that a file's name ends with, and the name without that ending. */
export function formatOf(fileName: string): { readonly format: Format; readonly stem: string } | undefined {
  for (const [format, { endings }] of Object.entries(FORMATS)) {
    const ending = endings.find((text) => fileName.endsWith(text));
    if (ending) return { format: format as Format, stem: fileName.slice(0, -ending.length) };
  }
  return undefined;
}
