import './approvals.css';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { ActButton } from '../../auth/act.tsx';
import { useMe } from '../../auth/me.ts';
import { Time } from '../../ui/parts.tsx';
import { type Approval, approvalTitle } from './approval.ts';
import type { Decision } from './decision-dialog.tsx';

/** With the evidence of a promotion, which the first page does without. */
const DecisionDialog = lazy(async () => ({
  default: (await import('./decision-dialog.tsx')).DecisionDialog,
}));

const TONES: Readonly<Record<Approval['status'], string | undefined>> = {
  requested: 'warn',
  approved: 'up',
  declined: 'down',
  withdrawn: undefined,
  expired: undefined,
};

/** Requests with who asks for what and why, and the decisions that the caller can take. */
export function ApprovalList({ items }: { readonly items: readonly Approval[] }) {
  return (
    <ol className="approvals">
      {items.map((approval) => (
        <ApprovalLine key={approval.approval_id} approval={approval} />
      ))}
    </ol>
  );
}

function ApprovalLine({ approval }: { readonly approval: Approval }) {
  const { model_name, version, status, reason, requested_by, requested_at, due_at } = approval;
  const { decided_by, decided_at, decision_reason } = approval;
  const title = approvalTitle(approval);
  return (
    <li>
      <span className="row">
        {version === null ? (
          <Link to="/strategies/$name" params={{ name: model_name }}>
            {title}
          </Link>
        ) : (
          <Link to="/strategies/$name/versions/$version" params={{ name: model_name, version }}>
            {title}
          </Link>
        )}
        <span className="badge" data-tone={TONES[status]}>
          {status}
        </span>
        {status === 'requested' && <Decisions approval={approval} />}
      </span>
      <span className="muted">
        {requested_by}, <Time at={requested_at} />: “{reason}”
        {status === 'requested' && (
          <>
            {' '}
            · due <Time at={due_at} />
          </>
        )}
      </span>
      {decided_by && decided_at && (
        <span className="muted">
          {decided_by}, <Time at={decided_at} />
          {decision_reason && `: “${decision_reason}”`}
        </span>
      )}
    </li>
  );
}

function Decisions({ approval }: { readonly approval: Approval }) {
  const [open, setOpen] = useState<Decision>();
  const me = useMe();
  const isOwn = me?.subject === approval.requested_by;
  return (
    <>
      {!isOwn && (
        <>
          <ActButton operation="approveRequest" kind="small" onClick={() => setOpen('approve')}>
            Approve
          </ActButton>
          <ActButton operation="declineRequest" kind="small danger" onClick={() => setOpen('decline')}>
            Decline
          </ActButton>
        </>
      )}
      {(isOwn || me?.roles.includes('admin')) && (
        <ActButton operation="withdrawRequest" kind="small" onClick={() => setOpen('withdraw')}>
          Withdraw
        </ActButton>
      )}
      {open && (
        <Suspense>
          <DecisionDialog approval={approval} decision={open} onClose={() => setOpen(undefined)} />
        </Suspense>
      )}
    </>
  );
}
