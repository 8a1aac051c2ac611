import * as z from 'zod';
import { Timestamp } from '../common/time.ts';

/** Retention of a job, as it is stored and shown. */

/** Fields of every stored job that retention reads and writes. */
export const retainedJobFields = {
  /** True: a user keeps the job. Absent or false: the platform may delete it. */
  kept: z.boolean().optional(),
  /** Model with a version of which the job is evidence, and the time of its registration; absent: of none. */
  evidence_of: z.object({ model: z.string(), at: Timestamp }).optional(),
  /** State of the deletion of results or trials; absent: they are stored. */
  results_expired: z.enum(['deleting', 'deleted']).optional(),
  /** Start of the deletion of the job; absent: it is stored. */
  expired_at: Timestamp.optional(),
};

/** Fields of a job in responses. */
export const retentionView = {
  kept: z.boolean().meta({
    description:
      'The platform never deletes the job: a user keeps it, it is shared, or a registered version has it as evidence',
  }),
  expires_at: Timestamp.nullable().meta({
    description:
      'Earliest time at which the platform deletes the job, or its results or trials; null: never, or not known before its end',
  }),
  results_deleted: z
    .boolean()
    .meta({ description: 'Its results or trials were deleted; its summary is stored' }),
};

export const KeepRequest = z
  .looseObject({
    keep: z.boolean().optional().meta({
      description: 'false: the platform may delete the job again',
      default: true,
    }),
  })
  .meta({ id: 'KeepRequest', examples: [{}, { keep: false }] });
