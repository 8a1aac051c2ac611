import * as z from 'zod';
import { MAX_GRANTS, PRINCIPAL, SHARE_LEVELS } from '../values/sharing.ts';

/** Owner and grants of a resource, as they are stored and shown. */

export const Grant = z
  .object({
    principal: z.string().meta({ description: '`user:<id>`, `group:<name>` or `everyone`' }),
    level: z.enum(SHARE_LEVELS).meta({ description: '`write` includes `read`' }),
  })
  .meta({ id: 'Grant' });
export type Grant = z.infer<typeof Grant>;

export const Sharing = z
  .object({
    owner: z.string().meta({ description: 'ID of the user who created it' }),
    shared_with: z.array(Grant).meta({ description: 'Empty: private to the owner' }),
  })
  .meta({ id: 'Sharing' });
export type Sharing = z.infer<typeof Sharing>;

export const TransferRequest = z
  .looseObject({
    resource: z.string().meta({
      description:
        'Path of a model, a job, a file of signals or a webhook: `models/<name>`, `backtests/bt-…`, `hyperopt/ho-…`, `signals/sg-…`, `webhooks/wh-…`',
    }),
    owner: z
      .string()
      .meta({ description: 'ID of the user who owns it from now on: the `sub` of its tokens' }),
  })
  .meta({ id: 'TransferRequest', examples: [{ resource: 'models/ema_crossover', owner: 'ada' }] });

const givenGrants = z.array(
  z.looseObject({
    principal: z.string().meta({
      description:
        '`user:<id>` (the `sub` of its tokens), `group:<name>` (of `cognito:groups`; roles are groups), or `everyone`',
      pattern: PRINCIPAL.source,
    }),
    level: z
      .string()
      .optional()
      .meta({ description: '`write` includes `read`', enum: [...SHARE_LEVELS], default: 'read' }),
  }),
);

export const SharingRequest = z
  .looseObject({
    shared_with: givenGrants.meta({
      description: 'All grants. A principal that is not in the list loses access',
      maxItems: MAX_GRANTS,
    }),
    expected_shared_with: givenGrants.optional().meta({
      description: 'Reject with RES005 unless these are the grants now, in any order',
      maxItems: MAX_GRANTS,
    }),
  })
  .meta({
    id: 'SharingRequest',
    examples: [
      { shared_with: [{ principal: 'user:ada' }, { principal: 'group:approver', level: 'write' }] },
      { shared_with: [] },
    ],
  });
