import { type FileHandle, mkdir, open, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError } from '#contract/values/errors.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';

/** A part of a file. */
export interface Piece {
  /** Path in the folder, with `/` between its parts: a dropped folder names exchange and series. */
  readonly path: string;
  /** Position of the piece: the number of bytes that are there already, or 0 to begin again. */
  readonly offset: number;
  /** Time of the last change of the file, Unix milliseconds: the last candle of some exports is open then. */
  readonly modified: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Files that arrive piece by piece. They are written as they arrive, and never beyond what was announced. */
export class UploadFolder {
  readonly #folder: string;
  readonly #announced: { readonly files: number; readonly bytes: number };
  readonly #sizes = new Map<string, number>();
  /** Files of which a piece is arriving. */
  readonly #arriving = new Set<string>();
  /** Bytes of all files. */
  #bytes = 0;

  constructor(folder: string, announced: { readonly files: number; readonly bytes: number }) {
    this.#folder = folder;
    this.#announced = announced;
  }

  get received(): { readonly files: number; readonly bytes: number } {
    return { files: this.#sizes.size, bytes: this.#bytes };
  }

  /**
   * Appends a piece to its file. A piece that breaks off leaves the file as it was. Throws VAL005 for a path that leads elsewhere, HTTP413
   * beyond the limits, RES005 for another offset than the size of the file, DATA005.
   */
  async write({ path, offset, modified, body }: Piece): Promise<void> {
    const parts = partsOf(path);
    const size = this.#sizes.get(path);
    if (this.#arriving.has(path) || (offset !== 0 && offset !== size)) {
      throw new CodedError('RES005', {
        message: `${path} has ${formatInteger(size ?? 0)} bytes: send the piece that follows, one at a time`,
        field: 'offset',
        context: { received: size ?? 0 },
      });
    }
    if (size === undefined && this.#sizes.size >= this.#announced.files) {
      throw tooMuch(`More files than the ${formatInteger(this.#announced.files)} that were announced`);
    }
    this.#arriving.add(path);
    // Counted before it arrives: others may arrive at the same time.
    this.#sizes.set(path, size ?? 0);
    try {
      const handle = await this.#open(parts, path, offset);
      if (offset === 0) this.#resize(path, 0);
      await this.#append(handle, path, body).finally(() => handle.close());
      if (modified !== undefined) await utimes(this.#fileOf(parts), modified / 1_000, modified / 1_000);
    } finally {
      this.#arriving.delete(path);
    }
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  async #open(parts: readonly string[], path: string, offset: number): Promise<FileHandle> {
    const file = this.#fileOf(parts);
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      return await open(file, offset === 0 ? 'w' : 'r+', 0o600);
    } catch (error) {
      if (this.#sizes.get(path) === 0) this.#sizes.delete(path);
      throw rejectedName(path, error as NodeJS.ErrnoException);
    }
  }

  /** A piece that breaks off is taken back. */
  async #append(handle: FileHandle, path: string, body: Piece['body']): Promise<void> {
    const start = this.#sizes.get(path)!;
    let end = start;
    try {
      for await (const bytes of body) {
        this.#check(end - start, bytes.length);
        for (let at = 0; at < bytes.length; ) {
          const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, end + at);
          at += bytesWritten;
        }
        end += bytes.length;
        this.#resize(path, end);
      }
    } catch (error) {
      this.#resize(path, start);
      await handle.truncate(start).catch(() => {});
      throw error instanceof CodedError ? error : lost(error);
    }
  }

  #fileOf(parts: readonly string[]): string {
    return join(this.#folder, ...parts);
  }

  #resize(path: string, size: number): void {
    this.#bytes += size - this.#sizes.get(path)!;
    this.#sizes.set(path, size);
  }

  /** Throws HTTP413 when so many bytes after `before` of a piece are too many. */
  #check(before: number, bytes: number): void {
    if (before + bytes > IMPORT_LIMITS.piece) {
      throw tooMuch(`A piece has up to ${formatInteger(IMPORT_LIMITS.piece)} bytes`);
    }
    if (this.#bytes + bytes > this.#announced.bytes) {
      throw tooMuch(`More than the ${formatInteger(this.#announced.bytes)} bytes that were announced`);
    }
  }
}

const { path: LIMITS } = IMPORT_LIMITS;
/** Control characters, and what separates the parts of a path elsewhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_NAME = /[\u0000-\u001f\u007f\\]/;

/** Parts of a path inside the folder. Throws VAL005 for any other. */
function partsOf(path: string): string[] {
  const parts = path.split('/');
  const isName = (part: string) =>
    part !== '' &&
    part !== '.' &&
    part !== '..' &&
    !NO_NAME.test(part) &&
    Buffer.byteLength(part) <= LIMITS.part;
  const isPath =
    path.isWellFormed() &&
    Buffer.byteLength(path) <= LIMITS.bytes &&
    parts.length <= LIMITS.parts &&
    parts.every(isName);
  if (isPath) return parts;
  throw new CodedError('VAL005', {
    message: `path must be the path of a file in its folder, such as binance/BTC_USDT-5m.csv: up to ${LIMITS.parts} names of up to ${LIMITS.part} bytes, ${formatInteger(LIMITS.bytes)} together`,
    field: 'path',
    context: { value: path.slice(0, 200) },
  });
}

function rejectedName(path: string, cause: NodeJS.ErrnoException): CodedError {
  if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(cause.code ?? '')) return lost(cause);
  return new CodedError('VAL005', {
    message: `${path} cannot be stored: another file has the name of its folder, or a folder its name`,
    field: 'path',
    context: { value: path.slice(0, 200) },
    cause,
  });
}

function lost(cause: unknown): CodedError {
  const { code } = cause as NodeJS.ErrnoException;
  const why = code === 'ENOSPC' ? 'The disk is full' : 'The piece could not be received or written';
  return new CodedError('DATA005', { message: `${why}: send it again, or cancel the import`, cause });
}

function tooMuch(message: string): CodedError {
  return new CodedError('HTTP413', { message, field: 'body' });
}
