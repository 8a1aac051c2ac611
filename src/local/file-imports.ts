import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { hintsOf } from '#adapters/import/hints.ts';
import type { MarketStorageEnv } from '#adapters/open-market-stores.ts';
import type { ImportDetails, ImportOptions, ImportState } from '#contract/market-data/imports.ts';
import type { Calendar } from '#contract/values/calendars.ts';
import { CodedError } from '#contract/values/errors.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';
import { isEnded } from '#domain/imports/file-imports.ts';
import type { FileImports, ImportKind } from '#domain/imports/import-ports.ts';
import type { Clock, Ids } from '#domain/ports.ts';
import { isoTime } from '#domain/shared/iso-time.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import type { Log } from '#runtime/log.ts';
import { errorResponse } from '#runtime/responses.ts';
import type { ServiceApp } from '#runtime/service.ts';
import { type ImportRun, startImportRun } from './import-run.ts';
import { UploadFolder } from './upload-folder.ts';

const PREFIX = '/uploads/';
/** Time after which files that nobody imports are removed, ms. */
const UNUSED_MS = 24 * 3_600_000;
const CHECK_EVERY_MS = 3_600_000;
/** Free space that uploads leave to the rest of the platform, bytes. */
const MIN_FREE = 256 * 2 ** 20;

const STAYS = 'Months that were complete by then are stored: import the files again to store the rest';

export interface FileImportsOptions {
  /** Folder of the uploaded files; what another process left there is removed. */
  readonly folder: string;
  readonly storage: MarketStorageEnv;
  readonly platformExchange: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Throws DATA005 while the disk has no room. */
  readonly checkDiskSpace?: (() => Promise<void>) | undefined;
  readonly log: Log;
}

interface Entry {
  details: ImportDetails;
  readonly upload: UploadFolder;
  /** Part of the address that is the permission to send files; undefined for imports of an earlier process. */
  readonly secret?: string;
  running?: ImportRun;
}

/**
 * Imports of uploaded files in local mode. Each has a folder for its files, which goes with its end, and a file with its state, so that a
 * restart can say what became of it. One import or preview runs at a time, in a process of its own.
 */
export class LocalFileImports implements FileImports {
  readonly #options: FileImportsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  /** End of the last run that was asked for. */
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: FileImportsOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#recover();
    this.#timer = setInterval(() => this.#removeUnused(), CHECK_EVERY_MS).unref();
  }

  async create(files: number, bytes: number) {
    this.#removeUnused();
    const open = [...this.#entries.values()].filter(({ details }) => !isEnded(details.status));
    const uploaded = open.reduce((sum, { details }) => sum + details.bytes, 0);
    if (open.length >= IMPORT_LIMITS.unfinished || uploaded + bytes > IMPORT_LIMITS.together) {
      throw new CodedError('RES005', {
        message: `${open.length} imports with ${formatInteger(uploaded)} bytes have not ended; the platform takes ${IMPORT_LIMITS.unfinished} with ${formatInteger(IMPORT_LIMITS.together)} bytes. Start or cancel one of them`,
        context: { imports: open.map(({ details }) => details.import_id), bytes: uploaded },
      });
    }
    await this.#checkFree(bytes, open);
    const id = `im-${this.#options.ids.ulid()}`;
    const now = isoTime(this.#options.clock.now());
    const secret = randomUUID();
    const entry: Entry = {
      secret,
      upload: new UploadFolder(this.#folderOf(id), { files, bytes }),
      details: {
        import_id: id,
        status: 'receiving',
        files,
        bytes,
        received_files: 0,
        received_bytes: 0,
        options: null,
        progress: null,
        error: null,
        created_at: now,
        updated_at: now,
        report: null,
      },
    };
    mkdirSync(this.#folderOf(id), { mode: 0o700 });
    this.#entries.set(id, entry);
    this.#save(entry);
    return { state: stateOf(entry), uploadUrl: `${PREFIX}${secret}` };
  }

  list(): ImportState[] {
    return [...this.#entries.values()].map(stateOf).sort(newestFirst);
  }

  get(id: string): ImportDetails | undefined {
    const entry = this.#entries.get(id);
    return entry && { ...stateOf(entry), report: entry.details.report };
  }

  checkOptions(options: ImportOptions): void {
    try {
      hintsFor(options);
    } catch (error) {
      const [, option, message] = /^--([\w-]+): (.*)$/s.exec((error as Error).message) ?? [];
      throw new CodedError('VAL005', {
        message: message ?? (error as Error).message,
        ...(option && { field: option.replaceAll('-', '_') }),
      });
    }
  }

  run(id: string, kind: ImportKind, options: ImportOptions): ImportState {
    const entry = this.#entries.get(id)!;
    this.#change(entry, {
      status: kind === 'preview' ? 'previewing' : 'importing',
      options: statedIn(options),
      progress: null,
      error: null,
      report: null,
    });
    this.#last = this.#last
      .then(() => this.#execute(entry, kind, options))
      .catch((error: Error) => this.#fail(entry, error));
    return stateOf(entry);
  }

  async cancel(id: string): Promise<ImportState> {
    const entry = this.#entries.get(id)!;
    const error = entry.details.status === 'importing' && entry.running ? STAYS : null;
    this.#change(entry, { status: 'cancelled', progress: null, error });
    await entry.running?.stop();
    await this.#removeFiles(entry);
    return stateOf(entry);
  }

  /** Ends what runs. The next start says what became of it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const { running } of this.#entries.values()) await running?.stop();
    await this.#last;
  }

  /** The application with the addresses of files in front of it. Others reach the application: 404. */
  infront(app: Pick<ServiceApp, 'fetch'>): Pick<ServiceApp, 'fetch'> {
    return {
      fetch: async (request, env) => {
        const { pathname, searchParams } = new URL(request.url);
        const secret = pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) : undefined;
        const entry = [...this.#entries.values()].find((each) => secret && each.secret === secret);
        if (request.method !== 'PUT' || !entry) return app.fetch(request, env);
        try {
          await this.#receive(entry, request, searchParams);
          return new Response(null, { status: 204 });
        } catch (error) {
          await request.body?.cancel().catch(() => {});
          const { status, body, headers } = errorResponse(error, this.#options.log);
          return new Response(JSON.stringify(body), {
            status,
            headers: { ...headers, 'Content-Type': 'application/json' },
          });
        }
      },
    };
  }

  async #receive({ details, upload }: Entry, request: Request, query: URLSearchParams): Promise<void> {
    const entry = this.#entries.get(details.import_id)!;
    const checkOpen = () => {
      if (entry.details.status === 'receiving') return;
      throw new CodedError('RES005', {
        message: `The import is ${entry.details.status}: it takes no further files`,
        context: { status: entry.details.status },
      });
    };
    checkOpen();
    if (request.headers.has('content-encoding')) {
      throw new CodedError('HTTP415', {
        message: 'Send the bytes of the file as they are, without Content-Encoding',
        field: 'Content-Encoding',
      });
    }
    const offset = numberIn(query, 'offset') ?? 0;
    const modified = numberIn(query, 'modified');
    await this.#options.checkDiskSpace?.();
    entry.details.updated_at = isoTime(this.#options.clock.now());
    await upload.write({ path: query.get('path') ?? '', offset, modified, body: request.body ?? none() });
    // Cancelled meanwhile: nothing may be left.
    if (isEnded(entry.details.status)) await upload.remove();
    checkOpen();
  }

  async #execute(entry: Entry, kind: ImportKind, options: ImportOptions): Promise<void> {
    const { details } = entry;
    if (this.#isStopped || isEnded(details.status)) return;
    entry.running = startImportRun(
      {
        storage: this.#options.storage,
        platformExchange: this.#options.platformExchange,
        folder: this.#folderOf(details.import_id),
        hints: hintsFor(options),
        dryRun: kind === 'preview',
        ...(options.calendar !== undefined && { calendar: options.calendar as Calendar }),
      },
      (progress) => {
        if (!isEnded(entry.details.status)) entry.details.progress = progress;
      },
    );
    const ended = await entry.running.report.then(
      (report) => ({ report, error: null }),
      (error: Error) => ({ report: null, error: error.message }),
    );
    delete entry.running;
    // Cancelled, or the platform stops: its next start says what became of it.
    if (this.#isStopped || isEnded(entry.details.status)) return;
    if (kind === 'preview') {
      this.#change(entry, { ...ended, progress: null, status: ended.report ? 'previewed' : 'receiving' });
      return;
    }
    const error = ended.error === null ? null : `${ended.error}. ${STAYS}`;
    this.#change(entry, { ...ended, error, progress: null, status: ended.report ? 'completed' : 'failed' });
    await this.#removeFiles(entry);
  }

  /** The state could not be written, for example: the next run must not wait for this one. */
  #fail(entry: Entry, error: Error): void {
    this.#options.log.error('an import failed', { import_id: entry.details.import_id, error });
    delete entry.running;
    entry.details = { ...entry.details, status: 'failed', progress: null, error: error.message };
  }

  /** States of an earlier process. What it had not ended has failed, and its files go. */
  #recover(): void {
    const { folder } = this.#options;
    for (const name of readdirSync(folder)) {
      const [, id] = /^(im-\w+)\.json$/.exec(name) ?? [];
      const details = id ? readDetails(join(folder, name)) : undefined;
      if (!details) {
        rmSync(join(folder, name), { recursive: true, force: true });
        continue;
      }
      const entry: Entry = { details, upload: new UploadFolder(this.#folderOf(details.import_id), details) };
      this.#entries.set(details.import_id, entry);
      if (isEnded(details.status)) continue;
      const error =
        details.status === 'importing'
          ? `The platform ended while the files were imported. ${STAYS}`
          : 'The platform ended before the import was started: nothing was stored. Choose the files again';
      this.#change(entry, { status: 'failed', error, progress: null });
    }
    this.#forgetOldest();
  }

  #removeUnused(): void {
    const now = this.#options.clock.now();
    for (const entry of this.#entries.values()) {
      const { status, updated_at } = entry.details;
      if (status !== 'receiving' && status !== 'previewed') continue;
      if (now - Date.parse(updated_at) < UNUSED_MS) continue;
      const error = 'Nothing was sent or started for 24 hours: the files were removed, nothing was stored';
      this.#change(entry, { status: 'failed', error });
      void this.#removeFiles(entry);
    }
  }

  #change(entry: Entry, fields: Partial<ImportDetails>): void {
    entry.details = { ...entry.details, ...fields, updated_at: isoTime(this.#options.clock.now()) };
    this.#save(entry);
    if (isEnded(entry.details.status)) this.#forgetOldest();
  }

  #save(entry: Entry): void {
    const file = `${this.#folderOf(entry.details.import_id)}.json`;
    writeFileSync(`${file}.new`, JSON.stringify(this.get(entry.details.import_id)), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  #forgetOldest(): void {
    const ended = this.list().filter(({ status }) => isEnded(status));
    for (const { import_id } of ended.slice(IMPORT_LIMITS.ended)) {
      this.#entries.delete(import_id);
      rmSync(`${this.#folderOf(import_id)}.json`, { force: true });
    }
  }

  async #removeFiles({ upload, details }: Entry): Promise<void> {
    await upload.remove().catch((error: Error) =>
      this.#options.log.error('files of an import were not removed', {
        import_id: details.import_id,
        error,
      }),
    );
  }

  async #checkFree(bytes: number, open: readonly Entry[]): Promise<void> {
    const { bavail, bsize } = await statfs(this.#options.folder);
    const pending = open.reduce((sum, { details, upload }) => sum + details.bytes - upload.received.bytes, 0);
    const free = bavail * bsize - pending;
    if (free >= bytes + MIN_FREE) return;
    throw new CodedError('DATA005', {
      message: `The disk of the data folder has ${formatInteger(free)} bytes free; the files and the rest of the platform need ${formatInteger(bytes + MIN_FREE)}. Free disk space, or send fewer files`,
      context: { free_bytes: free, needed_bytes: bytes + MIN_FREE },
    });
  }

  #folderOf(id: string): string {
    return join(this.#options.folder, id);
  }
}

/** A state that can be read; undefined for a file that is corrupt. */
function readDetails(file: string): ImportDetails | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ImportDetails;
  } catch {
    return undefined;
  }
}

function stateOf({ details, upload, secret }: Entry): ImportState {
  const { report: _, ...state } = details;
  if (secret === undefined || isEnded(state.status)) return state;
  const { files, bytes } = upload.received;
  return { ...state, received_files: files, received_bytes: bytes };
}

const newestFirst = (a: ImportState, b: ImportState) => (a.import_id < b.import_id ? 1 : -1);

/** The options that exist. */
function statedIn(options: ImportOptions): NonNullable<ImportState['options']> {
  const { exchange, symbols, timeframe, columns, time_zone, spot, skip_invalid, calendar } = options;
  const stated = { exchange, symbols, timeframe, columns, time_zone, spot, skip_invalid, calendar };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

/** Throws Error for an option that means nothing. */
function hintsFor({ exchange, symbols, timeframe, columns, time_zone, spot, skip_invalid }: ImportOptions) {
  return hintsOf({
    ...(exchange !== undefined && { exchange }),
    ...(symbols !== undefined && { symbols }),
    ...(timeframe !== undefined && { timeframe: timeframe as Timeframe }),
    ...(columns !== undefined && { columns }),
    ...(time_zone !== undefined && { timeZone: time_zone }),
    ...(spot !== undefined && { spot }),
    ...(skip_invalid !== undefined && { skipInvalid: skip_invalid }),
  });
}

async function* none(): AsyncGenerator<Uint8Array> {}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CodedError('VAL005', {
    message: `${name} must be a number of up to 15 digits`,
    field: name,
    context: { value: text.slice(0, 100) },
  });
}
