import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { APPROVAL_ACTIONS, APPROVAL_STATUSES } from '../values/approval-limits.ts';
import { MAX_NOTE_LENGTH } from '../values/registry-limits.ts';
import { MAX_ID_LENGTH } from '../values/request-limits.ts';
import { VersionReference } from './registry-api.ts';
import { StoredApproval } from './stored-approval.ts';

/** Requests and responses of approvals. */

export const Approval = StoredApproval.omit({
  schema_version: true,
  registered_by: true,
  written_at: true,
}).meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;

export const ApprovalList = paginated(Approval).meta({ id: 'ApprovalList' });

export const ApprovalRequest = z
  .looseObject({
    action: z.string().meta({ enum: APPROVAL_ACTIONS, description: 'Requested transition' }),
    version: VersionReference.optional(),
    reason: z.string().meta({ description: 'Why it should happen', maxLength: MAX_NOTE_LENGTH }),
    due_at: z
      .string()
      .optional()
      .meta({ description: 'From one minute to 30 days from now, ISO 8601. Default: in 7 days' }),
    expected_production: z.union([VersionReference, z.null()]).optional().meta({
      description:
        'Version that must be in Production, now and at the approval; null: no version. Default: the version in Production now',
    }),
  })
  .meta({
    id: 'ApprovalRequest',
    examples: [{ action: 'promote', version: '1', reason: 'Won the challenge' }],
  });

const decision = (id: string, description: string) =>
  z
    .looseObject({ reason: z.string().optional().meta({ description, maxLength: MAX_NOTE_LENGTH }) })
    .meta({ id, examples: [{ reason: 'Reviewed the trades' }] });

export const ApproveRequest = decision('ApproveRequest', 'Why');
export const DeclineRequest = decision('DeclineRequest', 'Why. Required');
export const WithdrawRequest = decision('WithdrawRequest', 'Why');

export const ApprovalParams = z.object({
  approval_id: stringParameter(MAX_ID_LENGTH, 'ID of the request, `ap-...`'),
});

const status = z.enum(APPROVAL_STATUSES).optional().meta({ description: 'Only requests with this status' });

export const ModelApprovalsQuery = z.object({ status, ...PAGE_FIELDS });

export const ApprovalsQuery = z.object({
  status,
  waiting_for: z
    .enum(['me'])
    .optional()
    .meta({ description: '`me`: only open requests that the caller may approve' }),
  ...PAGE_FIELDS,
});
