import type { Timeframe } from '#engine/timeframe.ts';
import type { Role } from './columns/column-names.ts';
import type { FileContent } from './file-content.ts';

/** Statements of the user on files that do not name their series completely. */
export interface Hints {
  /** `--symbols`, such as `ETH/BTC` or `BTC/USDT:USDT`, or `ESH5=ES/USD:USD` with the name in the file. */
  readonly symbols?: readonly string[];
  /** `--timeframe`. */
  readonly timeframe?: Timeframe;
  /** `--exchange`; `binanceusdm` says that letters such as `BTCUSDT` are a perpetual. */
  readonly exchange?: string;
  /** `--spot`: letters such as `BTCUSDT` are a spot pair. */
  readonly spot?: boolean;
  /** `--columns time=when,volume=traded`: names in the file, or numbers from 1. */
  readonly columns?: Readonly<Partial<Record<Role, string>>>;
  /** `--time-zone`, of times that state none. */
  readonly timeZone?: string;
  /** `--skip-invalid`: wrong rows are left out and counted. */
  readonly skipInvalid?: boolean;
}

/** A file that is to be recognized. Its content is read only on request, and at most its beginning. */
export interface Candidate {
  /** Absolute, with `/` between its parts. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** Names of the files in its folder, itself included. */
  readonly siblings: ReadonlySet<string>;
  readonly hints: Hints;
  /**
   * The first 64 KiB of a text file, decompressed (`.gz`, `.zst`, the one CSV of a `.zip`). Undefined for a file that cannot be read
   * as text: the import states the reason when it reads the whole file.
   */
  head(): Promise<string | undefined>;
}

/**
 * One kind of folder or file, such as a download of a vendor. A new kind is a file in `recognizers/` and a line in
 * `recognize.ts`; a new file format is a line in `formats.ts`.
 */
export interface Recognizer {
  /** Name of the kind in the list of files, such as `Binance public data`. */
  readonly name: string;
  /**
   * Content of a file of this kind, or `other` with the reason why it is not imported. Undefined for a file of another kind: the
   * next recognizer is asked.
   */
  recognize(file: Candidate): FileContent | undefined | Promise<FileContent | undefined>;
}
