import { useState } from 'react';
import type { OperationId, RequestOf } from '../../api/client.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../ui/format.ts';
import { CheckList, failedChecks } from '../strategies/check-list.tsx';
import { useWaiver, WaiverFields } from '../strategies/waiver.tsx';
import type { Challenge } from './search.ts';

type ActionId =
  | 'advanceChallenge'
  | 'holdChallenge'
  | 'resumeChallenge'
  | 'promoteChallenge'
  | 'rollBackChallenge';

interface Action {
  readonly id: ActionId;
  readonly name: string;
  /** Field of the note: `comment` or `reason`. */
  readonly note: 'comment' | 'reason';
  readonly kind?: 'primary' | 'danger';
  /** What changes, from what to what. */
  readonly effect: (challenge: Challenge) => string;
}

const ADVANCE: Action = {
  id: 'advanceChallenge',
  name: 'Advance',
  note: 'comment',
  effect: ({ canary_stage, next_stage }) =>
    `From ${words(canary_stage)} to ${words(next_stage!.canary_stage)}: the challenger gets more of the traffic.`,
};
const HOLD: Action = {
  id: 'holdChallenge',
  name: 'Hold',
  note: 'reason',
  effect: ({ canary_stage }) => `The challenge stays in ${words(canary_stage)} until it is resumed.`,
};
const RESUME: Action = {
  id: 'resumeChallenge',
  name: 'Resume',
  note: 'comment',
  effect: ({ hold }) => `The hold (${words(hold!.reason)}) ends, and the challenge goes on by itself.`,
};
const PROMOTE: Action = {
  id: 'promoteChallenge',
  name: 'Promote the challenger',
  note: 'comment',
  kind: 'primary',
  effect: ({ champion_version, challenger_version }) =>
    `v${challenger_version} enters Production, v${champion_version} becomes Archived.`,
};
const ROLL_BACK: Action = {
  id: 'rollBackChallenge',
  name: 'Roll back',
  note: 'reason',
  kind: 'danger',
  effect: ({ champion_version, on_rollback }) =>
    `v${champion_version} gets all of the traffic, and the challenge ends. The challenger ${on_rollback === 'close' ? 'is to close its open positions' : 'manages its open positions to their end'}.`,
};

function actionsOf({ status, hold, next_stage, promoted_at, outcome }: Challenge): readonly Action[] {
  if (status === 'active') {
    return [...(next_stage ? [ADVANCE] : []), hold ? RESUME : HOLD, ROLL_BACK];
  }
  return outcome === 'challenger_wins' && promoted_at === null ? [PROMOTE] : [];
}

const CHANGED: readonly OperationId[] = [
  'getChallenge',
  'listAllChallenges',
  'evaluateChallenge',
  'listChallengeEvents',
  'listChallengeEvaluations',
  'listCatalog',
  'listVersions',
  'getVersion',
  'getOverview',
];

/** Buttons of what an approver can do now, with their dialogs. */
export function ChallengeActions({ challenge }: { readonly challenge: Challenge }) {
  // The text is that of the opening: the challenge changes before its dialog is closed.
  const [open, setOpen] = useState<{ readonly action: Action; readonly effect: string }>();
  return (
    <>
      {actionsOf(challenge).map((action) => (
        <ActButton
          key={action.id}
          operation={action.id}
          {...(action.kind ? { kind: action.kind } : {})}
          onClick={() => setOpen({ action, effect: action.effect(challenge) })}
        >
          {action.name}
        </ActButton>
      ))}
      {open && <ActionDialog {...open} challenge={challenge} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function ActionDialog(props: {
  readonly action: Action;
  readonly effect: string;
  readonly challenge: Challenge;
  readonly onClose: () => void;
}) {
  const { action, effect, challenge, onClose } = props;
  const [note, setNote] = useState<string>();
  const change = useAction(action.id, CHANGED);
  // Those of the release policy, which only a promotion can fail.
  const checks = failedChecks(change.error);
  const waiver = useWaiver(checks);
  const request = {
    params: { challenge_id: challenge.challenge_id },
    body: { ...(note ? { [action.note]: note } : {}), ...waiver.body },
  } as RequestOf<ActionId>;
  return (
    <Dialog title={`${action.name}: ${challenge.model_name}`} onClose={onClose}>
      <div className="pad stack">
        <p>{effect}</p>
        <Form
          label={action.name}
          error={change.error}
          onSubmit={() => change.mutate(request, { onSuccess: onClose })}
          actions={
            <ActButton
              operation={action.id}
              type="submit"
              kind={action.kind ?? 'primary'}
              isBusy={change.isPending}
            >
              {action.name}
            </ActButton>
          }
        >
          <TextField
            label={action.note === 'reason' ? 'Reason' : 'Comment'}
            path={action.note}
            help="Recorded in the history"
            value={note}
            onChange={setNote}
          />
          {checks.length > 0 && <CheckList checks={checks} />}
          <WaiverFields operation={action.id} waiver={waiver} />
        </Form>
      </div>
    </Dialog>
  );
}
