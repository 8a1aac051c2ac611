import type { ReadRows } from './file-rows.ts';

/**
 * Import formats: file extensions and the reader, which is loaded for the first such file. A new format needs a reader file in
 * this folder and a line here.
 */
const FORMATS = {
  CSV: {
    endings: ['.csv', '.csv.gz', '.csv.zst', '.tsv', '.tsv.gz', '.txt', '.zip'],
    load: async () => (await import('./formats/csv.ts')).readCsv,
  },
  Feather: { endings: ['.feather'], load: async () => (await import('./formats/feather.ts')).readFeather },
  JSON: { endings: ['.json', '.json.gz'], load: async () => (await import('./formats/json.ts')).readJson },
  Parquet: {
    endings: ['.parquet'],
    load: async () => (await import('./formats/parquet.ts')).readParquetFile,
  },
} satisfies Readonly<Record<string, { endings: readonly string[]; load: () => Promise<ReadRows> }>>;

export type Format = keyof typeof FORMATS;

export function readerOf(format: Format): Promise<ReadRows> {
  return FORMATS[format].load();
}

/** Format by the extension of a file, and the name without the extension. */
export function formatOf(fileName: string): { readonly format: Format; readonly stem: string } | undefined {
  for (const [format, { endings }] of Object.entries(FORMATS)) {
    const ending = endings.find((text) => fileName.endsWith(text));
    if (ending) return { format: format as Format, stem: fileName.slice(0, -ending.length) };
  }
  return undefined;
}
