import { useState } from 'react';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { type Approval, approvalTitle } from './approval.ts';
import { CHANGED_BY_TRANSITIONS } from './changed-by-transitions.ts';
import { CheckList, failedChecks } from './check-list.tsx';
import { PromotionEvidence } from './promotion-evidence.tsx';

export type Decision = 'approve' | 'decline' | 'withdraw';

const DECISIONS = {
  approve: { operation: 'approveRequest', name: 'Approve', kind: 'primary' },
  decline: { operation: 'declineRequest', name: 'Decline', kind: 'danger' },
  withdraw: { operation: 'withdrawRequest', name: 'Withdraw', kind: 'primary' },
} as const;

/** Ends a request. A promotion is approved with what decides it in view. */
export function DecisionDialog(props: {
  readonly approval: Approval;
  readonly decision: Decision;
  readonly onClose: () => void;
}) {
  const { approval, decision, onClose } = props;
  const { operation, name, kind } = DECISIONS[decision];
  const { approval_id, requested_by, reason: asked } = approval;
  const [reason, setReason] = useState<string>();
  const change = useAction(operation, CHANGED_BY_TRANSITIONS);
  const checks = failedChecks(change.error);
  return (
    <Dialog title={`${name}: ${approvalTitle(approval)}`} onClose={onClose}>
      <div className="pad stack">
        <p>
          {requested_by} asks: “{asked}”
        </p>
        {decision === 'approve' && approval.action === 'promote' && <Evidence approval={approval} />}
        <Form
          label={name}
          error={change.error}
          onSubmit={() =>
            change.mutate(
              { params: { approval_id }, body: { ...(reason ? { reason } : {}) } },
              { onSuccess: onClose },
            )
          }
          actions={
            <ActButton operation={operation} type="submit" kind={kind} isBusy={change.isPending}>
              {name}
            </ActButton>
          }
        >
          <TextField
            label="Reason"
            path="reason"
            help={decision === 'decline' ? 'Required. Kept with the request.' : 'Kept with the request.'}
            value={reason}
            onChange={setReason}
          />
          {checks.length > 0 && <CheckList checks={checks} />}
        </Form>
      </div>
    </Dialog>
  );
}

function Evidence({ approval: { model_name, version } }: { readonly approval: Approval }) {
  const { data: current } = useCall('getProduction', { params: { model_name } });
  if (version === null || !current || !('version' in current)) return null;
  return <PromotionEvidence model={model_name} version={version} champion={current.version} />;
}
