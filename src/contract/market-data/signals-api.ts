import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { bounds } from '../values/bounds.ts';
import {
  SIGNALS_FORMATS,
  SIGNALS_ID,
  SIGNALS_LIMITS,
  UNUSED_SIGNALS_DAYS,
} from '../values/signals-limits.ts';

/** Requests and responses of files of signals. */

export const SignalsParams = z.object({
  signals_id: stringParameter(64, 'ID of the file, `sg-...`'),
});

export const SignalsListQuery = z.object(PAGE_FIELDS);

export const SignalsRequest = z
  .looseObject({
    format: z.string().meta({ description: 'Format of the file', enum: [...SIGNALS_FORMATS] }),
    bytes: z.int().meta({ description: 'Size of the file', ...bounds(SIGNALS_LIMITS.bytes) }),
    sha256: z.string().meta({
      description: 'SHA-256 of the file, hex: the upload accepts these bytes only',
      pattern: '^[0-9a-f]{64}$',
    }),
    name: z.string().optional().meta({ description: 'Name for lists', maxLength: SIGNALS_LIMITS.name }),
  })
  .meta({
    id: 'SignalsRequest',
    examples: [
      {
        format: 'csv',
        bytes: 51_200,
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        name: 'ma-cross.csv',
      },
    ],
  });
export type SignalsRequest = z.infer<typeof SignalsRequest>;

const fields = {
  signals_id: z.string().meta({ pattern: SIGNALS_ID.source }),
  owner: z.string(),
  name: z.string().nullable(),
  format: z.enum(SIGNALS_FORMATS),
  bytes: z.int(),
  sha256: z.string(),
  created_at: Timestamp,
};

export const Signals = z
  .object({
    ...fields,
    last_used_at: Timestamp.nullable().meta({
      description: `Submission of the newest backtest with this file; null: none. A file without one is deleted after ${UNUSED_SIGNALS_DAYS} days`,
    }),
  })
  .meta({ id: 'Signals', description: 'A file of signals. Its content never changes' });
export type Signals = z.infer<typeof Signals>;

export const SignalsUpload = Signals.extend({
  upload_url: z.string().meta({
    description: 'Address for a PUT of the file. Locally it is a path of this service',
  }),
  upload_headers: z
    .record(z.string(), z.string())
    .meta({ description: 'Headers that the PUT must have, with these values' }),
  upload_expires_at: Timestamp.meta({
    description: 'The PUT must begin before. Repeat the request with its Idempotency-Key for another address',
  }),
}).meta({ id: 'SignalsUpload' });
export type SignalsUpload = z.infer<typeof SignalsUpload>;

export const SignalsList = paginated(Signals).meta({ id: 'SignalsList' });
