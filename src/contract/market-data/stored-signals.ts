import * as z from 'zod';
import { Grant } from '../common/sharing-schemas.ts';
import { Timestamp } from '../common/time.ts';
import { SIGNALS_FORMATS } from '../values/signals-limits.ts';

/** A file of signals as it is stored. The file itself is an object that is named after the ID. */
export const StoredSignals = z.object({
  schema_version: z.literal(1),
  signals_id: z.string(),
  owner: z.string(),
  /** Absent: never shared. */
  shared_with: z.array(Grant).optional(),
  name: z.string().nullable(),
  format: z.enum(SIGNALS_FORMATS),
  bytes: z.int(),
  sha256: z.string(),
  created_at: Timestamp,
  /** Submission of the newest job with the file; null: none. */
  last_used_at: Timestamp.nullable(),
  /** Model of the newest registration from a run of the file. The registry says whether a version was stored. */
  registered_by: z.string().optional(),
  /** Time of that registration. Absent with `registered_by`: registered before it was kept. */
  registered_at: Timestamp.optional(),
  /** Present: the file is being deleted. */
  deleted_at: Timestamp.optional(),
});
export type StoredSignals = z.infer<typeof StoredSignals>;
