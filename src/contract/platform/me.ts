import * as z from 'zod';

/** Response of the operation about the caller. */
export const Me = z
  .object({
    subject: z.string().meta({
      description:
        'Id of the caller, as in `user:<id>` of a grant: the `sub` of the token, or `anonymous` without one',
    }),
    roles: z.array(z.enum(['viewer', 'researcher', 'approver', 'admin'])).meta({
      description:
        'Every role whose operations the caller may use, lowest first: a higher role includes the lower ones',
    }),
    groups: z
      .array(z.string())
      .meta({ description: 'Groups of the token, as in `group:<name>` of a grant; roles are groups too' }),
    enforced: z.boolean().meta({
      description:
        'True where calls need a token, except health and documentation; false where calls without one are accepted',
    }),
  })
  .meta({ id: 'Me' });
