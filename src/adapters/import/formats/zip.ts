import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { formatInteger } from '#contract/values/format-count.ts';
import { BadFileError } from '../file-rows.ts';

/**
 * Records of a zip file: pkware.com, APPNOTE.TXT 6.3.10, sections 4.3 and 4.5. All numbers are little-endian. Names in the file are
 * compared and quoted, and never used as paths.
 */
const SIGNATURE = {
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
  entry: 0x02014b50,
  local: 0x04034b50,
} as const;
const LENGTH = { end: 22, end64: 56, locator64: 20, entry: 46, local: 30 } as const;
const MAX_COMMENT = 0xffff;
/** Values that refer to a ZIP64 field. */
const SEE_64 = { short: 0xffff, long: 0xffff_ffff } as const;
const ZIP64_EXTRA = 0x0001;
/** Bits of the flags: encrypted, patched data, strong encryption, masked headers. */
const UNSUPPORTED_FLAGS = { encrypted: 0x2041, patched: 0x0020 } as const;
const METHOD = { stored: 0, deflated: 8 } as const;
/** List of the files in a zip. A download has one entry of about 80 bytes. */
const MAX_DIRECTORY_BYTES = 2 ** 20;
/** Decompressed. A month of 1m candles has 5 MB; a larger file is corrupt, or decompresses without end. */
const MAX_BYTES = 2 ** 31;
const READ_AT_ONCE = 65_536;

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  /** Bytes. */
  readonly compressed: number;
  /** Bytes. */
  readonly size: number;
  /** Position of the local header. */
  readonly offset: number;
}

/**
 * Content of the only CSV file in a zip, decompressed. Size and CRC-32 are verified at its end.
 * @throws BadFileError for a zip that is truncated, corrupt, encrypted, split, or holds anything else than one CSV
 */
export async function* csvInZip(path: string): AsyncIterable<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const directory = await readDirectory(file, size);
    const entry = onlyCsv(entriesOf(directory.bytes, directory.entries));
    const from = await dataStart(file, entry);
    yield* verified(contentOf(file, entry, from), entry);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!(position >= 0 && position <= Number.MAX_SAFE_INTEGER)) throw corrupt();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw truncated();
  return buffer;
}

async function readDirectory(file: FileHandle, size: number) {
  const tailLength = Math.min(size, LENGTH.end + MAX_COMMENT);
  const tail = await readAt(file, size - tailLength, tailLength);
  const at = endRecord(tail);
  if (at === undefined) throw new BadFileError('is not a zip file, or is truncated');
  const end = tail.subarray(at);
  let [entries, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  let limit = size - tailLength + at;
  if (end.readUInt32LE(4) !== 0) throw new BadFileError('is one part of a split zip file: join the parts');
  if (entries === SEE_64.short || length === SEE_64.long || start === SEE_64.long) {
    const locator = await readAt(file, limit - LENGTH.locator64, LENGTH.locator64).catch(() => undefined);
    if (locator?.readUInt32LE(0) !== SIGNATURE.locator64) throw corrupt();
    limit = long(locator, 8);
    const end64 = await readAt(file, limit, LENGTH.end64);
    if (end64.readUInt32LE(0) !== SIGNATURE.end64) throw corrupt();
    [entries, length, start] = [long(end64, 32), long(end64, 40), long(end64, 48)];
  }
  if (length > MAX_DIRECTORY_BYTES) throw new BadFileError('holds too many files: expected one CSV');
  if (start + length > limit) throw corrupt();
  return { bytes: await readAt(file, start, length), entries };
}

/** Position of the record that ends the file with its comment. */
function endRecord(tail: Buffer): number | undefined {
  for (let at = tail.length - LENGTH.end; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== SIGNATURE.end) continue;
    if (at + LENGTH.end + tail.readUInt16LE(at + 20) === tail.length) return at;
  }
  return undefined;
}

function entriesOf(directory: Buffer, count: number): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  while (at < directory.length) {
    if (directory.length - at < LENGTH.entry || directory.readUInt32LE(at) !== SIGNATURE.entry)
      throw corrupt();
    const nameEnd = at + LENGTH.entry + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    if (extraEnd > directory.length) throw corrupt();
    const fields = {
      size: directory.readUInt32LE(at + 24),
      compressed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    };
    entries.push({
      name: directory.toString('utf8', at + LENGTH.entry, nameEnd),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      ...withZip64(fields, directory.subarray(nameEnd, extraEnd)),
    });
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
  if (entries.length !== count) throw corrupt();
  return entries;
}

/** Replaces the fields that do not fit into 32 bits: the ZIP64 field has them in this order. */
function withZip64<Fields extends Readonly<Record<string, number>>>(fields: Fields, extra: Buffer): Fields {
  const names = Object.keys(fields).filter((name) => fields[name] === SEE_64.long);
  if (names.length === 0) return fields;
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) throw corrupt();
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) {
      if (end - at - 4 < 8 * names.length) throw corrupt();
      return {
        ...fields,
        ...Object.fromEntries(names.map((name, index) => [name, long(extra, at + 4 + 8 * index)])),
      };
    }
    at = end;
  }
  throw corrupt();
}

/** Folders, and what macOS adds to a zip of its own. */
const NO_FILE = /\/$|^__MACOSX\/|(^|\/)\.DS_Store$/;

function onlyCsv(entries: readonly Entry[]): Entry {
  const files = entries.filter(({ name }) => !NO_FILE.test(name));
  const [entry] = files;
  if (entry === undefined || files.length > 1)
    throw new BadFileError(
      `holds ${formatInteger(files.length)} files: expected one CSV; unpack it, and import the folder`,
    );
  if (!/\.csv$/i.test(entry.name))
    throw new BadFileError(`holds ${JSON.stringify(entry.name.slice(0, 100))}: expected one CSV`);
  if (entry.flags & UNSUPPORTED_FLAGS.encrypted) throw new BadFileError('is encrypted: decrypt it first');
  if (entry.flags & UNSUPPORTED_FLAGS.patched || !Object.values<number>(METHOD).includes(entry.method))
    throw new BadFileError(`is compressed with method ${entry.method}: expected deflate (8) or none (0)`);
  if (entry.size > MAX_BYTES) throw tooLarge();
  return entry;
}

/** Position of an entry's data. The local header repeats the name, with an extra field of another length. */
async function dataStart(file: FileHandle, { offset }: Entry): Promise<number> {
  const header = await readAt(file, offset, LENGTH.local);
  if (header.readUInt32LE(0) !== SIGNATURE.local) throw corrupt();
  return offset + LENGTH.local + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function* contentOf(file: FileHandle, { method, compressed }: Entry, from: number) {
  const bytes = bytesOf(file, from, compressed);
  if (method === METHOD.stored) {
    yield* bytes;
    return;
  }
  const inflated = createInflateRaw();
  // Errors are thrown by the iterator below.
  pipeline(bytes, inflated, () => {});
  try {
    yield* inflated as AsyncIterable<Buffer>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'Z_BUF_ERROR' || code === 'Z_DATA_ERROR' ? corrupt() : error;
  }
}

async function* bytesOf(file: FileHandle, from: number, length: number): AsyncIterable<Buffer> {
  for (let done = 0; done < length; done += READ_AT_ONCE)
    yield await readAt(file, from + done, Math.min(READ_AT_ONCE, length - done));
}

/** Stops at the first byte beyond the stated size: a small zip may decompress to any size. */
async function* verified(content: AsyncIterable<Buffer>, { size, crc }: Entry): AsyncIterable<Buffer> {
  let [length, sum] = [0, 0];
  for await (const bytes of content) {
    length += bytes.length;
    if (length > size) throw corrupt();
    sum = crc32(bytes, sum);
    yield bytes;
  }
  if (length !== size || sum !== crc) throw corrupt();
}

/** A 64-bit field; beyond 2^53, as only in a corrupt file, the nearest number. */
const long = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at));

const corrupt = () => new BadFileError('its zip data is corrupt');
const truncated = () => new BadFileError('is truncated');
const tooLarge = () => new BadFileError('is larger than 2 GiB when decompressed');
