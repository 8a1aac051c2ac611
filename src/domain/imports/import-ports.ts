import type { ImportDetails, ImportOptions, ImportState } from '#contract/market-data/imports.ts';

export type ImportKind = 'preview' | 'import';

/** Imports of uploaded files, which one host keeps: local mode. Their IDs are known to `get`. */
export interface FileImports {
  /**
   * Makes room for files. Throws RES005 when too much is uploaded already, DATA005 when the disk has no room.
   *
   * @returns the import, and the address at this service for its files
   */
  create(files: number, bytes: number): Promise<{ readonly state: ImportState; readonly uploadUrl: string }>;
  /** Newest first. */
  list(): ImportState[];
  get(id: string): ImportDetails | undefined;
  /** Throws VAL005 for an option that means nothing. */
  checkOptions(options: ImportOptions): void;
  /** Reads all files, and stores them unless it is a preview. Returns before it begins. */
  run(id: string, kind: ImportKind, options: ImportOptions): ImportState;
  /** Ends what runs, and removes the files. */
  cancel(id: string): Promise<ImportState>;
}
