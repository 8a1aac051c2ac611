import { mkdir, open, rm } from 'node:fs/promises';
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
  /** Bytes of all files, with those that are arriving. */
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
    if (size === undefined && this.#sizes.size + this.#arriving.size >= this.#announced.files) {
      throw tooMuch(`More files than the ${formatInteger(this.#announced.files)} that were announced`);
    }
    this.#arriving.add(path);
    try {
      if (offset === 0) this.#bytes -= size ?? 0;
      await this.#append(join(this.#folder, ...parts), path, offset, modified, body);
    } finally {
      this.#arriving.delete(path);
    }
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  // More than five arguments because these are the parts of one piece.
  async #append(
    file: string,
    path: string,
    offset: number,
    modified: number | undefined,
    body: Piece['body'],
  ): Promise<void> {
    // A name that is a file and a folder cannot be both.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(rejectName(path));
    const handle = await open(file, offset === 0 ? 'w' : 'r+', 0o600).catch(rejectName(path));
    let end = offset;
    try {
      if (offset === 0) this.#sizes.set(path, 0);
      for await (const bytes of body) {
        this.#count(bytes.length, end - offset);
        end += bytes.length;
        for (let at = 0; at < bytes.length; ) {
          const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, end - bytes.length + at);
          at += bytesWritten;
        }
      }
      if (modified !== undefined) await handle.utimes(modified / 1_000, modified / 1_000);
      this.#sizes.set(path, end);
    } catch (error) {
      this.#bytes -= end - offset;
      await handle.truncate(offset).catch(() => {});
      throw error instanceof CodedError ? error : lost(error);
    } finally {
      await handle.close();
    }
  }

  #count(bytes: number, before: number): void {
    if (before + bytes > IMPORT_LIMITS.piece) {
      throw tooMuch(`A piece has up to ${formatInteger(IMPORT_LIMITS.piece)} bytes`);
    }
    if (this.#bytes + bytes > this.#announced.bytes) {
      throw tooMuch(`More than the ${formatInteger(this.#announced.bytes)} bytes that were announced`);
    }
    this.#bytes += bytes;
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

function rejectName(path: string) {
  return (cause: NodeJS.ErrnoException): never => {
    if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(cause.code ?? '')) throw lost(cause);
    throw new CodedError('VAL005', {
      message: `${path} cannot be stored: another file has the name of its folder, or a folder its name`,
      field: 'path',
      context: { value: path.slice(0, 200) },
      cause,
    });
  };
}

function lost(cause: unknown): CodedError {
  const { code } = cause as NodeJS.ErrnoException;
  const why = code === 'ENOSPC' ? 'The disk is full' : 'The piece could not be received or written';
  return new CodedError('DATA005', { message: `${why}: send it again, or cancel the import`, cause });
}

function tooMuch(message: string): CodedError {
  return new CodedError('HTTP413', { message, field: 'body' });
}
