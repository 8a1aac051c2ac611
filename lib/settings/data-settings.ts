import * as z from 'zod';

const days = z.int().min(1).max(36_500);
/** Null: forever. The default is null too: in a settings file, null removes the default of a stage. */
const daysOrForever = days.nullable().default(null);

const streamArn = z
  .string()
  .regex(
    /^arn:aws(-[a-z]+)*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]+\/stream\/[\w.:-]+$/,
    "write the ARN of a table's stream",
  );

/** Settings of stored data: how long it is kept, in which storage class, and its backups. */
export const dataSettings = {
  retention: z
    .strictObject({
      results: daysOrForever.describe(
        'Days after its end for which report, equity and trades of a backtest are kept; null: forever.',
      ),
      trials: daysOrForever.describe(
        'Days after its end for which the trials of a hyperopt job are kept; null: forever.',
      ),
      jobs: daysOrForever.describe(
        'Days after its end for which a job is kept with all that belongs to it; null: forever. A kept or shared job and the evidence of a registered version never expire.',
      ),
      audit: daysOrForever.describe('Days for which entries of the audit trail are kept; null: forever.'),
      previousObjects: days
        .default(30)
        .describe('Days for which previous versions of overwritten and deleted objects are kept.'),
      accessLog: daysOrForever.describe(
        'Days for which the log of reads and writes of objects is kept; null: forever.',
      ),
    })
    .prefault({})
    .describe('How long each kind of data is kept, in days: see docs/data.md.'),
  tierResultsAfterDays: z
    .int()
    .min(0)
    .max(36_500)
    .nullable()
    .default(null)
    .describe(
      'Age from which results of at least 128 KB are in S3 Intelligent-Tiering, days; null: never. Results without reads then cost 0.0125 instead of 0.023 USD per GB and month after 30 days, and 0.004 after 90. The move costs 0.01 USD per 1,000 objects.',
    ),
  backup: z
    .strictObject({
      dailyDays: days.default(35).describe('Days for which daily backups are kept.'),
      monthlyDays: daysOrForever.describe(
        'Days for which the backup of the first day of a month is kept; null: forever.',
      ),
      buckets: z.boolean().default(true).describe('Back up results and candles too, not only tables.'),
      copyToRegion: z
        .string()
        .min(1)
        .optional()
        .describe('Region of a second vault, to which every backup is copied. The stage then needs `env`.'),
    })
    .optional()
    .describe(
      'Daily and monthly backups by AWS Backup: about 0.10 USD per GB and month of tables and 0.05 of objects. Absent: only point-in-time recovery of the tables, 35 days.',
    ),
  restoredTables: z
    .strictObject({ jobs: z.string(), registry: z.string(), series: z.string() })
    .partial()
    .default({})
    .describe('Names of restored tables that replace those of the data stack: see docs/runbook.md.'),
  restoredStreams: z
    .strictObject({ jobs: streamArn, registry: streamArn, series: streamArn })
    .partial()
    .default({})
    .describe(
      'ARNs of the streams of restoredTables, from which events and webhooks are derived. `npm run restore-drill` writes both.',
    ),
};

/** Rules of restored tables, for the schema of a stage. */
export function checkRestored({
  value: { restoredTables, restoredStreams },
  issues,
}: z.core.ParsePayload<{
  readonly restoredTables: Readonly<Record<string, string | undefined>>;
  readonly restoredStreams: Readonly<Record<string, string | undefined>>;
}>): void {
  for (const [id, stream] of Object.entries(restoredStreams)) {
    const name = restoredTables[id];
    if (stream?.split('/')[1] === name) continue;
    const message = name
      ? `is no stream of ${name}: run npm run restore-drill with --restored for the tables of restoredTables`
      : 'is a stream of a table that the stage does not use: remove it, as restoredTables was removed';
    issues.push({ code: 'custom', path: ['restoredStreams', id], message, input: stream });
  }
}
