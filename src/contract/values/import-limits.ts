/** Statuses of an import of uploaded files, in their order; the last three are final. */
export const IMPORT_STATUSES = [
  'receiving',
  'previewing',
  'previewed',
  'importing',
  'completed',
  'failed',
  'cancelled',
] as const;

const GIB = 2 ** 30;

/** Bounds of uploaded files. `touchstone import` has none of them: it reads files where they are. */
export const IMPORT_LIMITS = {
  /** Files of an import. */
  files: { min: 1, max: 10_000 },
  /** Bytes of the files of an import. */
  bytes: { min: 0, max: 2 * GIB },
  /** Bytes of the files of all imports that have not ended. */
  together: 4 * GIB,
  /** Imports that have not ended. */
  unfinished: 10,
  /** Bytes of a request: a slow connection sends them within the time limit of a request. */
  piece: 4 * 2 ** 20,
  /** Bytes of the path of a file, of a part of it, and number of its parts. */
  path: { bytes: 1_024, part: 255, parts: 16 },
  /** Characters of an option. */
  option: 10_000,
  /** Ended imports that are listed. */
  ended: 50,
} as const;

/** Items of each list of a report. */
export const IMPORT_REPORT_LIMITS = {
  kinds: 100,
  series: 1_000,
  previews: 50,
  notes: 100,
  rejected: 100,
} as const;
