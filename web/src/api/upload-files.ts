import { formatInteger } from '#contract/values/format-count.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';
import { ApiError, call, errorOf } from './client.ts';

/** A file with its path in the folder that was chosen: folders name exchange and series. */
export interface ChosenFile {
  readonly path: string;
  readonly file: File;
}

const SERVICE = '/services/data-collection';
/** Files that are sent at the same time: most are small, so that their number counts. */
const AT_ONCE = 4;
/** Attempts to send a piece. A restart of the platform ends the address, so more do not help. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

/** Reads what was dropped: files, and all files in folders. Names that begin with a dot are left out, as by `touchstone import`. */
export async function droppedFiles(data: DataTransfer): Promise<ChosenFile[]> {
  // Before anything is awaited: the browser empties the list after the event.
  const dropped = [...data.items].map((item) => ({
    entry: item.webkitGetAsEntry?.() ?? null,
    file: item.getAsFile(),
  }));
  const files: ChosenFile[] = [];
  for (const { entry, file } of dropped) {
    if (entry) await addEntry(entry, entry.name, files);
    else if (file) files.push({ path: file.name, file });
  }
  return checked(files);
}

/** Files of an input, which has the paths of a folder that was chosen. */
export function inputFiles(list: FileList | null): ChosenFile[] {
  return checked([...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

function checked(files: readonly ChosenFile[]): ChosenFile[] {
  return files.filter(({ path }) => !path.split('/').some((name) => name.startsWith('.')));
}

async function addEntry(entry: FileSystemEntry, path: string, files: ChosenFile[]): Promise<void> {
  if (entry.name.startsWith('.')) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    files.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A browser lists a folder in parts.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return;
    for (const each of some) await addEntry(each, `${path}/${each.name}`, files);
  }
}

/**
 * Begins an import and sends its files in pieces. An import whose files could not be sent is cancelled.
 *
 * @param onSent called with the bytes that were sent so far
 * @returns ID of the import
 * @throws ApiError if the platform rejects it; Error if a file cannot be read or sent
 */
export async function uploadFiles(
  files: readonly ChosenFile[],
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const created = await call('createImport', { body: { files: files.length, bytes } }, { signal });
  const params = { import_id: created.import_id };
  try {
    let sent = 0;
    const waiting = files.values();
    const send = async () => {
      for (const each of waiting) {
        await sendFile(each, created.upload_url, signal, (count) => {
          sent += count;
          onSent(sent);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    return created.import_id;
  } catch (error) {
    await call('cancelImport', { params }).catch(() => {});
    throw error;
  }
}

async function sendFile(
  { path, file }: ChosenFile,
  address: string,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<void> {
  let offset = 0;
  do {
    const piece = file.slice(offset, offset + IMPORT_LIMITS.piece);
    const query = new URLSearchParams({
      path,
      offset: String(offset),
      modified: String(Math.max(0, Math.floor(file.lastModified))),
    });
    await sendPiece(`${SERVICE}${address}?${query}`, piece, path, signal);
    offset += piece.size;
    onSent(piece.size);
  } while (offset < file.size);
}

async function sendPiece(url: string, piece: Blob, path: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { method: 'PUT', body: piece, signal }).catch(() => undefined);
    signal.throwIfAborted();
    if (response?.ok) return;
    const error = response ? await errorOf(response) : undefined;
    // It has arrived, and only its response was lost.
    const end = Number(new URL(url, location.origin).searchParams.get('offset')) + piece.size;
    if (attempt > 1 && error?.context.received === end) return;
    if (attempt === ATTEMPTS || (error && error.status < 500)) throw error ?? unsent(path);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
  }
}

function unsent(path: string): Error {
  return new ApiError(
    0,
    'OFFLINE',
    `${path} could not be sent: it has changed since you chose it, or Touchstone does not answer. Choose the files again.`,
  );
}

/** Why so many files cannot be sent; undefined if they can. */
export function tooMany(files: readonly ChosenFile[]): string | undefined {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length === 0) return 'There is no file in it.';
  if (files.length <= IMPORT_LIMITS.files.max && bytes <= IMPORT_LIMITS.bytes.max) return undefined;
  return `${formatInteger(files.length)} files with ${formatInteger(bytes)} bytes are more than this page takes: ${formatInteger(IMPORT_LIMITS.files.max)} files with ${formatInteger(IMPORT_LIMITS.bytes.max)} bytes. Choose fewer, or run the command below.`;
}
