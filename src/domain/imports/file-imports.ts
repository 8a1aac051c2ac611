import type {
  ImportDetails,
  ImportOptions,
  ImportRequest,
  ImportState,
} from '#contract/market-data/imports.ts';
import { CALENDAR_NAMES } from '#contract/values/calendars.ts';
import { CodedError } from '#contract/values/errors.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';
import { SIMULATED, TOUCHSTONE } from '#contract/values/names.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import { checkOneOf, checkTimeframe, isExchangeKey } from '../shared/validate.ts';
import type { FileImports, ImportKind } from './import-ports.ts';

export interface ImportDeps {
  /** Null on hosts that receive no files: AWS. */
  readonly imports: FileImports | null;
}

/** Begins an import. Throws VAL005, RES005, DATA005. */
export async function createImport(
  { imports }: ImportDeps,
  { files, bytes }: ImportRequest,
): Promise<ImportState & { readonly upload_url: string }> {
  if (!imports) {
    throw new CodedError('RES005', {
      message: `This platform receives no files. Collect the candles, or import the files into a local platform: ${TOUCHSTONE} import <folder>`,
    });
  }
  checkRoom('files', files);
  checkRoom('bytes', bytes);
  const { state, uploadUrl } = await imports.create(files, bytes);
  return { ...state, upload_url: uploadUrl };
}

function checkRoom(field: 'files' | 'bytes', value: number): void {
  const { min, max } = IMPORT_LIMITS[field];
  if (value >= min && value <= max) return;
  throw new CodedError('VAL005', {
    message: `${field} is ${formatInteger(value)}; an import here has ${formatInteger(min)} to ${formatInteger(max)}. Send fewer files, or import them where they are: ${TOUCHSTONE} import <folder>`,
    field,
    context: { value, min, max },
  });
}

/** Newest first. */
export function listImports({ imports }: ImportDeps): ImportState[] {
  return imports?.list() ?? [];
}

/** Throws IMP001 for an unknown ID. */
export function getImport({ imports }: ImportDeps, id: string): ImportDetails {
  const found = imports?.get(id);
  if (!found) throw unknownImport(id);
  return found;
}

/** Reads the files and stores nothing. Throws IMP001, VAL003, VAL005, RES005. */
export function previewImport(deps: ImportDeps, id: string, options: ImportOptions): ImportState {
  return run(deps, id, 'preview', options);
}

/** Stores the files. Throws IMP001, VAL003, VAL005, RES005. */
export function startImport(deps: ImportDeps, id: string, options: ImportOptions): ImportState {
  return run(deps, id, 'import', options);
}

/** Ends an import and removes its files. Throws IMP001, RES005 when it has ended, DATA005. */
export async function cancelImport(deps: ImportDeps, id: string): Promise<ImportState> {
  const { status } = getImport(deps, id);
  if (isEnded(status)) throw conflict(id, `The import is already ${status}`, { status });
  return deps.imports!.cancel(id);
}

/** True for a final status. */
export function isEnded(status: ImportState['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

function run(deps: ImportDeps, id: string, kind: ImportKind, options: ImportOptions): ImportState {
  const { status, files, bytes, received_files, received_bytes } = getImport(deps, id);
  if (status === 'previewing' || status === 'importing') {
    throw conflict(id, `The import is ${status}. Wait for its end, or cancel it`, { status });
  }
  if (isEnded(status)) throw conflict(id, `The import is already ${status}: begin another one`, { status });
  if (received_files < files || received_bytes < bytes) {
    throw conflict(
      id,
      `${formatInteger(received_files)} of ${formatInteger(files)} files and ${formatInteger(received_bytes)} of ${formatInteger(bytes)} bytes have arrived. Send the rest, or cancel the import`,
      { received_files, received_bytes },
    );
  }
  checkOptions(options);
  deps.imports!.checkOptions(options);
  return deps.imports!.run(id, kind, options);
}

function checkOptions({ exchange, timeframe, calendar, ...texts }: ImportOptions): void {
  if (exchange === SIMULATED) {
    throw new CodedError('VAL005', {
      message: `${SIMULATED} is the simulated market. Pass the exchange of the candles`,
      field: 'exchange',
    });
  }
  if (exchange !== undefined && !isExchangeKey(exchange)) {
    throw new CodedError('VAL005', {
      message: `exchange must be the key of an exchange, such as binanceusdm`,
      field: 'exchange',
      context: { value: exchange.slice(0, 100) },
    });
  }
  if (timeframe !== undefined) checkTimeframe(timeframe, 'timeframe', ALL_TIMEFRAMES);
  if (calendar !== undefined) checkOneOf(calendar, 'calendar', CALENDAR_NAMES);
  for (const field of ['symbols', 'columns', 'time_zone'] as const) {
    const { length } = texts[field] ?? '';
    if (length <= IMPORT_LIMITS.option) continue;
    throw new CodedError('VAL005', {
      message: `${field} has ${formatInteger(length)} characters, more than ${formatInteger(IMPORT_LIMITS.option)}`,
      field,
      context: { length, max: IMPORT_LIMITS.option },
    });
  }
}

function unknownImport(id: string): CodedError {
  return new CodedError('IMP001', { field: 'import_id', context: { import_id: id } });
}

function conflict(id: string, message: string, context: object): CodedError {
  return new CodedError('RES005', { message, field: 'import_id', context: { import_id: id, ...context } });
}
