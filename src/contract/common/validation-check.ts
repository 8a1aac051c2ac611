import * as z from 'zod';

/** One line of the check list of a staging. */
export const ValidationCheck = z.object({
  name: z.string(),
  status: z
    .enum(['passed', 'failed', 'warning', 'pending', 'skipped', 'waived'])
    .meta({ description: '`waived`: it failed, and an admin waived it for this transition' }),
  message: z.string(),
  value: z.union([z.number(), z.string()]).nullable(),
  threshold: z.union([z.number(), z.string()]).nullable(),
});
export type ValidationCheck = z.infer<typeof ValidationCheck>;
