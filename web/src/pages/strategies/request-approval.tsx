import { useState } from 'react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { useMe } from '../../auth/me.ts';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CHANGED_BY_TRANSITIONS } from './changed-by-transitions.ts';

/** A transition that a user asks another one for. */
export interface RequestedTransition {
  readonly model: string;
  readonly action: 'stage' | 'promote' | 'rollback' | 'stop';
  /** Absent: that of the action, such as the version before. */
  readonly version?: string;
  readonly production: string | null;
}

/** Button of a request for a transition; nothing where no user can be told from another, because nobody could decide it. */
export function RequestApproval(props: { readonly transition: RequestedTransition; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!useMe()?.enforced) return null;
  return (
    <>
      <ActButton operation="requestApproval" onClick={() => setOpen(true)}>
        {props.name}
      </ActButton>
      {isOpen && <RequestDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function RequestDialog(props: {
  readonly transition: RequestedTransition;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const { transition, name, onClose } = props;
  const { model, action, version, production } = transition;
  const [reason, setReason] = useState<string>();
  const change = useAction('requestApproval', CHANGED_BY_TRANSITIONS);
  const body = { action, ...(version && { version }), expected_production: production, reason: reason ?? '' };
  return (
    <Dialog title={`${name}: ${model}${version ? ` v${version}` : ''}`} onClose={onClose}>
      <div className="pad stack">
        <p className="muted">
          Another user decides. The request expires after 7 days, and when another version enters Production
          it can no longer be approved.
        </p>
        <Form
          label={name}
          error={change.error}
          onSubmit={() => change.mutate({ params: { model_name: model }, body }, { onSuccess: onClose })}
          actions={
            <ActButton operation="requestApproval" type="submit" kind="primary" isBusy={change.isPending}>
              {name}
            </ActButton>
          }
        >
          <TextField
            label="Reason"
            path="reason"
            help="Required. Whoever decides reads it."
            value={reason}
            onChange={setReason}
          />
        </Form>
      </div>
    </Dialog>
  );
}
