import type { ReadRows } from './rows.ts';

/**
 * Every format that can be imported: its endings and its reader, which is loaded when the first such file is read. A new
 * one is a file beside these and a line here.
 */
const FORMATS = {
  CSV: { endings: ['.csv', '.csv.gz'], load: async () => (await import('./csv.ts')).readCsv },
  Feather: { endings: ['.feather'], load: async () => (await import('./feather.ts')).readFeather },
  JSON: { endings: ['.json', '.json.gz'], load: async () => (await import('./json.ts')).readJson },
  Parquet: { endings: ['.parquet'], load: async () => (await import('./parquet.ts')).readParquetFile },
} satisfies Readonly<Record<string, { endings: readonly string[]; load: () => Promise<ReadRows> }>>;

export type Format = keyof typeof FORMATS;

export function readerOf(format: Format): Promise<ReadRows> {
  return FORMATS[format].load();
}

/** The format that a file's name ends with, and the name without that ending. */
export function formatOf(fileName: string): { readonly format: Format; readonly stem: string } | undefined {
  for (const [format, { endings }] of Object.entries(FORMATS)) {
    const ending = endings.find((text) => fileName.endsWith(text));
    if (ending) return { format: format as Format, stem: fileName.slice(0, -ending.length) };
  }
  return undefined;
}
