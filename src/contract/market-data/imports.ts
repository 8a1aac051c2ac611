import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { Timestamp } from '../common/time.ts';
import { CALENDAR_NAMES } from '../values/calendars.ts';
import { IMPORT_LIMITS, IMPORT_STATUSES } from '../values/import-limits.ts';
import { EXCHANGE_KEY } from '../values/market-data-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';

/** Import of uploaded files: what is sent, what is recognized, and what was stored. */

export const ImportRequest = z
  .looseObject({
    files: z.int().meta({
      description: 'Number of files that will be sent',
      minimum: IMPORT_LIMITS.files.min,
      maximum: IMPORT_LIMITS.files.max,
    }),
    bytes: z.int().meta({
      description: 'Size of all files together, bytes',
      minimum: IMPORT_LIMITS.bytes.min,
      maximum: IMPORT_LIMITS.bytes.max,
    }),
  })
  .meta({ id: 'ImportRequest', examples: [{ files: 1, bytes: 10_000 }] });
export type ImportRequest = Immutable<z.output<typeof ImportRequest>>;

const text = (description: string) =>
  z.string().optional().meta({ description, maxLength: IMPORT_LIMITS.option });

const OPTIONS = {
  exchange: z.string().optional().meta({
    description:
      'Exchange of the candles. Default: named by the files, else the configured exchange, else `binanceusdm`',
    pattern: EXCHANGE_KEY.source,
  }),
  symbols: text(
    'Symbols of files that do not say them completely, separated by commas, such as `ETH/BTC`, or `ESH5=ES/USD:USD` for the series `ESH5` of a file',
  ),
  timeframe: z
    .string()
    .optional()
    .meta({ description: 'Default: by name, else by the rows', enum: [...ALL_TIMEFRAMES] }),
  columns: text('Columns by name or number, such as `time=when,volume=traded`'),
  time_zone: text('Zone of times that state none, such as `Europe/Athens` or `UTC-5`. Default: UTC'),
  spot: z.boolean().optional().meta({ description: 'Names such as `BTCUSDT` are spot pairs' }),
  skip_invalid: z
    .boolean()
    .optional()
    .meta({ description: 'Leave out and count wrong rows, which otherwise reject their file' }),
  calendar: z
    .string()
    .optional()
    .meta({
      description: 'When the markets are open. Default: found in three weeks of candles or more',
      enum: [...CALENDAR_NAMES],
    }),
};

export const ImportOptions = z.looseObject(OPTIONS).meta({
  id: 'ImportOptions',
  description: 'Statements on the files, as the options of `touchstone import`',
  examples: [{ symbols: 'BTC/USDT', time_zone: 'Europe/Athens' }],
});
export type ImportOptions = Immutable<z.output<typeof ImportOptions>>;

const StatedImportOptions = z.object(OPTIONS).meta({ id: 'StatedImportOptions' });

const RecognizedFiles = z
  .object({
    recognizer: z.string().meta({ description: 'Kind of file; empty for files that are not known' }),
    content: z.string(),
    market: z.string().meta({ description: '`futures`, `spot`, or empty before the file is read' }),
    symbols: z.array(z.string()).meta({ description: 'The first three' }),
    symbol_count: z.int(),
    timeframes: z.array(z.string()),
    format: z.string(),
    files: z.int(),
    bytes: z.int(),
  })
  .meta({ id: 'RecognizedFiles', description: 'Files of one kind' });

const ImportedSeries = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    series: z.string().meta({ description: 'Timeframe, or `funding`' }),
    files: z.int(),
    rows: z.int().meta({ description: 'Rows in the files' }),
    stored: z.int().nullable().meta({ description: 'Rows stored between first and last; null in a preview' }),
    first: Timestamp,
    last: Timestamp,
    gaps: z
      .int()
      .nullable()
      .meta({ description: 'Gaps between first and last; null for funding, and in a preview' }),
    missing: z.int().nullable().meta({ description: 'Candles missing in these gaps' }),
    duplicates: z
      .int()
      .nullable()
      .meta({ description: 'Rows merged into another row of the same time; null for funding' }),
  })
  .meta({ id: 'ImportedSeries' });

const SeriesPreview = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    timeframe: z.string(),
    rows: z
      .array(z.array(z.number()))
      .meta({ description: 'The first rows: open time in Unix ms, open, high, low, close, volume' }),
  })
  .meta({ id: 'SeriesPreview' });

const ImportNote = z
  .object({
    note: z.string(),
    files: z.int(),
    names: z.array(z.string()).meta({ description: 'The first three files' }),
  })
  .meta({ id: 'ImportNote', description: 'A correction of rows of some files' });

const RejectedFiles = z
  .object({
    outcome: z.enum(['skipped', 'failed']),
    reason: z.string(),
    files: z.int(),
    bytes: z.int(),
    names: z.array(z.string()).meta({ description: 'The first three files' }),
  })
  .meta({ id: 'RejectedFiles', description: 'Files that are not imported for one reason' });

export const ImportReport = z
  .object({
    dry_run: z.boolean().meta({ description: 'True for a preview: nothing was stored' }),
    exchange: z.string().nullable().meta({ description: 'Exchange of files that name none' }),
    spot_exchange: z.string().nullable().meta({ description: 'The same of spot pairs' }),
    files: z.int().meta({ description: 'Files that were read' }),
    imported_files: z.int(),
    recognized: z.array(RecognizedFiles),
    series: z.array(ImportedSeries).meta({ description: 'Ascending by symbol; the first 1,000' }),
    series_count: z.int(),
    previews: z.array(SeriesPreview).meta({ description: 'In a preview the first 50 series' }),
    notes: z.array(ImportNote),
    rejected: z.array(RejectedFiles).meta({ description: 'Failed files first' }),
    next: z.array(z.string()).meta({ description: 'Commands of backtests on what was imported' }),
  })
  .meta({ id: 'ImportReport', description: 'What files hold, or what was stored of them' });
export type ImportReport = z.output<typeof ImportReport>;

export const ImportState = z
  .object({
    import_id: z.string(),
    status: z.enum(IMPORT_STATUSES).meta({
      description:
        '`receiving`: files arrive, or a preview can be asked for. `previewed`: it can be started. `completed`, `failed` and `cancelled` are final, and the files are gone',
    }),
    files: z.int().meta({ description: 'Files that were announced' }),
    bytes: z.int(),
    received_files: z.int().meta({ description: 'Files that began to arrive' }),
    received_bytes: z.int(),
    options: StatedImportOptions.nullable().meta({ description: 'Those of the last preview or start' }),
    progress: z.number().nullable().meta({
      description: 'Read share of the files, 0 to 1; null while it waits for another import, and at rest',
    }),
    error: z.string().nullable().meta({ description: 'Why the last preview or the import failed' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'ImportState' });
export type ImportState = z.output<typeof ImportState>;

export const ImportDetails = ImportState.extend({
  report: ImportReport.nullable().meta({
    description: 'Of the last preview, or of the import once it has ended',
  }),
}).meta({ id: 'ImportDetails' });
export type ImportDetails = z.output<typeof ImportDetails>;

export const CreatedImport = ImportState.extend({
  upload_url: z.string().meta({
    description:
      'Address at this service for a PUT of each file in pieces, with `path`, `offset` and `modified` (Unix ms) as query. It is a permission of its own and returned once',
  }),
}).meta({ id: 'CreatedImport' });

export const ImportList = z
  .object({ items: z.array(ImportState).meta({ description: 'Newest first' }), count: z.int() })
  .meta({ id: 'ImportList' });

export const ImportParams = z.object({
  import_id: z
    .string()
    .regex(/^im-[A-Za-z0-9]{1,64}$/)
    .meta({ description: 'Shape `im-<id>`' }),
});
