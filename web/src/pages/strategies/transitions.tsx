import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CHANGED_BY_TRANSITIONS } from './changed-by-transitions.ts';
import { CheckList, failedChecks } from './check-list.tsx';
import { PromotionEvidence } from './promotion-evidence.tsx';
import { RequestApproval } from './request-approval.tsx';
import { type Stage, StageBadge } from './stage-badge.tsx';
import { useWaiver, WaiverFields } from './waiver.tsx';

/** A version, and which one is in Production now. */
export interface TransitionSubject {
  readonly model: string;
  readonly version: string;
  readonly stage: Stage;
  readonly production: string | null;
}

export type Transition = 'stage' | 'promote' | 'rollback';

const NAMES: Readonly<Record<Transition, string>> = {
  stage: 'Stage',
  promote: 'Promote',
  rollback: 'Roll back',
};

const REQUESTS: Readonly<Record<Transition, string>> = {
  stage: 'Request staging',
  promote: 'Request promotion',
  rollback: 'Request a rollback',
};

/** Transitions that a version in a stage can make. */
function transitionsOf({ stage }: TransitionSubject): readonly Transition[] {
  if (stage === 'None') return ['stage'];
  if (stage === 'Staging') return ['promote'];
  return stage === 'Archived' ? ['rollback'] : [];
}

const OPERATIONS = { stage: 'stageVersion', promote: 'promoteVersion', rollback: 'rollbackModel' } as const;

/** Buttons of the transitions that the version can make, with their dialogs. */
export function TransitionButtons({ subject }: { readonly subject: TransitionSubject }) {
  const [open, setOpen] = useState<Transition>();
  const close = () => setOpen(undefined);
  return (
    <>
      {transitionsOf(subject).map((transition) => (
        <ActButton
          key={transition}
          operation={OPERATIONS[transition]}
          kind={transition === 'rollback' ? 'danger' : 'primary'}
          onClick={() => setOpen(transition)}
        >
          {NAMES[transition]}
        </ActButton>
      ))}
      {transitionsOf(subject).map((transition) => (
        <RequestApproval
          key={transition}
          transition={{
            model: subject.model,
            action: transition,
            version: subject.version,
            production: subject.production,
          }}
          name={REQUESTS[transition]}
        />
      ))}
      {open === 'stage' && <StageDialog subject={subject} onClose={close} />}
      {open === 'promote' && <PromoteDialog subject={subject} onClose={close} />}
      {open === 'rollback' && <RollbackDialog subject={subject} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly subject: TransitionSubject;
  readonly onClose: () => void;
}

function StageDialog({ subject, onClose }: DialogProps) {
  const { model, version, stage } = subject;
  const [comment, setComment] = useState<string>();
  const change = useAction('stageVersion', CHANGED_BY_TRANSITIONS);
  const check = useAction('stageVersion');
  const waiver = useWaiver(failedChecks(change.error));
  const params = { name: model };
  const checks = change.error ? failedChecks(change.error) : (check.data?.validation.checks ?? []);
  return (
    <Dialog title={`Stage ${model} v${version}`} onClose={onClose}>
      <div className="pad stack">
        <ChangeLine version={version} from={stage} to="Staging" />
        <p className="muted">
          Staging runs the check list. Checks that run the strategy again end later; the version shows them.
        </p>
        <Form
          label="Stage"
          error={change.error ?? check.error}
          onSubmit={() =>
            change.mutate(
              { params, body: { version, ...(comment ? { comment } : {}), ...waiver.body } },
              { onSuccess: onClose },
            )
          }
          actions={
            <>
              <ActButton
                operation="stageVersion"
                isBusy={check.isPending}
                onClick={() => check.mutate({ params, body: { version, validate_only: true } })}
              >
                Run the check list only
              </ActButton>
              <ActButton operation="stageVersion" type="submit" kind="primary" isBusy={change.isPending}>
                Stage
              </ActButton>
            </>
          }
        >
          <TextField label="Comment" path="comment" value={comment} onChange={setComment} />
          {checks.length > 0 && <CheckList checks={checks} />}
          <WaiverFields operation="stageVersion" waiver={waiver} />
        </Form>
      </div>
    </Dialog>
  );
}

function PromoteDialog({ subject, onClose }: DialogProps) {
  const { model, version, stage, production } = subject;
  const [comment, setComment] = useState<string>();
  const change = useAction('promoteVersion', CHANGED_BY_TRANSITIONS);
  const waiver = useWaiver(failedChecks(change.error));
  const checks = failedChecks(change.error);
  return (
    <Dialog title={`Promote ${model} v${version}`} onClose={onClose}>
      <div className="pad stack">
        <ChangeLine version={version} from={stage} to="Production" />
        {production === null ? (
          <p className="muted">No version is in Production now.</p>
        ) : (
          <ChangeLine version={production} from="Production" to="Archived" />
        )}
        <PromotionEvidence model={model} version={version} champion={production} />
        <Form
          label="Promote"
          error={change.error}
          onSubmit={() =>
            change.mutate(
              {
                params: { name: model },
                // Somebody else may have promoted another version since this dialog was opened.
                body: {
                  version,
                  expected_production: production,
                  ...(comment ? { comment } : {}),
                  ...waiver.body,
                },
              },
              { onSuccess: onClose },
            )
          }
          actions={
            <ActButton operation="promoteVersion" type="submit" kind="primary" isBusy={change.isPending}>
              Promote
            </ActButton>
          }
        >
          <TextField label="Comment" path="comment" value={comment} onChange={setComment} />
          {checks.length > 0 && <CheckList checks={checks} />}
          <WaiverFields operation="promoteVersion" waiver={waiver} />
        </Form>
      </div>
    </Dialog>
  );
}

function RollbackDialog({ subject, onClose }: DialogProps) {
  const { model, version, stage, production } = subject;
  const [reason, setReason] = useState<string>();
  const change = useAction('rollbackModel', CHANGED_BY_TRANSITIONS);
  return (
    <Dialog title={`Roll back ${model} to v${version}`} onClose={onClose}>
      <div className="pad stack">
        <ChangeLine version={version} from={stage} to="Production" />
        {production !== null && <ChangeLine version={production} from="Production" to="Archived" />}
        <Form
          label="Roll back"
          error={change.error}
          onSubmit={() =>
            change.mutate(
              {
                params: { model_name: model },
                body: { version, expected_production: production, ...(reason ? { reason } : {}) },
              },
              { onSuccess: onClose },
            )
          }
          actions={
            <ActButton operation="rollbackModel" type="submit" kind="danger" isBusy={change.isPending}>
              Roll back
            </ActButton>
          }
        >
          <TextField
            label="Reason"
            path="reason"
            help="Recorded in the history. Some platforms require it."
            value={reason}
            onChange={setReason}
          />
        </Form>
      </div>
    </Dialog>
  );
}

function ChangeLine(props: { readonly version: string; readonly from: Stage; readonly to: Stage }) {
  return (
    <p className="change-line">
      <strong>v{props.version}</strong> <StageBadge stage={props.from} />
      <ArrowRight role="img" aria-label="to" /> <StageBadge stage={props.to} />
    </p>
  );
}
