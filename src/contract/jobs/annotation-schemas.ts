import * as z from 'zod';
import { ANNOTATION_LIMITS } from '../values/job-limits.ts';

/** What users write on a job, as it is stored, shown and changed. */

/** Fields of a stored job that a user has changed; absent: never. */
export const annotatedJobFields = {
  notes: z.string().optional(),
  tags: z.array(z.string()).optional(),
  pinned: z.boolean().optional(),
};

/** Fields of a job in responses. */
export const annotationView = {
  notes: z.string().meta({ description: 'Notes of users; empty without any' }),
  tags: z.array(z.string()),
  pinned: z.boolean().meta({ description: 'A user has marked the job to find it again' }),
};

export const AnnotationRequest = z
  .looseObject({
    notes: z.string().optional().meta({
      description: 'Replaces the notes; an empty string removes them',
      maxLength: ANNOTATION_LIMITS.notes,
    }),
    tags: z
      .array(z.string().meta({ maxLength: ANNOTATION_LIMITS.tag }))
      .optional()
      .meta({ description: 'Replace the tags', maxItems: ANNOTATION_LIMITS.tags }),
    pinned: z.boolean().optional(),
  })
  .meta({
    id: 'AnnotationRequest',
    description: 'Absent fields keep their values. Unknown fields are ignored',
    examples: [{ notes: 'stop too tight in March', tags: ['baseline'], pinned: true }],
  });
