import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { decimal, signed } from '../../ui/format.ts';
import { Age, Panel, Time } from '../../ui/parts.tsx';
import { CHANGED_BY_TRANSITIONS } from './changed-by-transitions.ts';
import { RequestApproval } from './request-approval.tsx';

type Version = ResponseOf<'listVersions'>['versions'][number];
type Action = 'rollback' | 'stop';

/** The version in Production, since when, what its live trades earned, and how it leaves. */
export function ProductionPanel(props: { readonly name: string; readonly versions: readonly Version[] }) {
  const { name, versions } = props;
  const [open, setOpen] = useState<Action>();
  const champion = versions.find(({ stage }) => stage === 'Production');
  const close = () => setOpen(undefined);
  if (!champion) return <NobodyInProduction versions={versions} />;
  const { version } = champion;
  return (
    <Panel
      title="In Production"
      actions={
        <>
          <RequestApproval
            transition={{ model: name, action: 'rollback', production: version }}
            name="Request a rollback"
          />
          <RequestApproval
            transition={{ model: name, action: 'stop', production: version }}
            name="Request a stop"
          />
          <ActButton operation="rollbackModel" kind="danger" onClick={() => setOpen('rollback')}>
            Roll back to the version before
          </ActButton>
          <ActButton operation="stopModel" kind="danger" onClick={() => setOpen('stop')}>
            Stop
          </ActButton>
        </>
      }
    >
      <div className="pad stack">
        <p>
          <Link to="/strategies/$name/versions/$version" params={{ name, version }}>
            <strong>v{version}</strong>
          </Link>{' '}
          since <Age at={champion.promoted_at ?? champion.updated_at} />
          {champion.description && <span className="muted">: {champion.description}</span>}
        </p>
        <LiveTrades name={name} />
      </div>
      {open && <LeaveDialog name={name} production={version} action={open} onClose={close} />}
    </Panel>
  );
}

function NobodyInProduction({ versions }: { readonly versions: readonly Version[] }) {
  const stopped = versions.find((version) => version.stopped);
  return (
    <Panel title="In Production">
      <p className="pad">
        No version is in Production.
        {stopped && (
          <>
            {' '}
            v{stopped.version} was stopped <Time at={stopped.updated_at} />: “{stopped.stopped_reason}”
          </>
        )}
      </p>
    </Panel>
  );
}

/** Trades of the champion in the running challenge. */
function LiveTrades({ name }: { readonly name: string }) {
  const query = useCall('listChallenges', {
    params: { model_name: name },
    query: { status: 'active', limit: 1 },
  });
  const challenge = query.data?.items[0];
  const evaluation = useCall(
    'evaluateChallenge',
    { params: { challenge_id: challenge?.challenge_id ?? '' } },
    { enabled: challenge !== undefined },
  ).data;
  if (query.isPending || (challenge && !evaluation)) return <p className="live-trades"> </p>;
  if (!challenge || !evaluation) {
    return <p className="live-trades muted">No challenge is running, so no live trades are known.</p>;
  }
  const { champion_trades: trades, champion_mean: mean } = evaluation;
  return (
    <p className="live-trades">
      {decimal(trades, 0)} live trades
      {trades > 0 && `, ${signed(mean, 'percent')} % a trade`} in the{' '}
      <Link to="/challenges/$id" params={{ id: challenge.challenge_id }}>
        challenge by v{challenge.challenger_version}
      </Link>
    </p>
  );
}

const LEAVES = {
  rollback: {
    operation: 'rollbackModel',
    name: 'Roll back',
    text: 'The version that was in Production before returns to it, if it was never rolled back or stopped.',
    help: 'Recorded in the history. Some platforms require it.',
  },
  stop: {
    operation: 'stopModel',
    name: 'Stop',
    text: 'No version is in Production afterwards: traders are told to close its positions, and a running challenge ends.',
    help: 'Required. Recorded in the history and with the version.',
  },
} as const;

function LeaveDialog(props: {
  readonly name: string;
  readonly production: string;
  readonly action: Action;
  readonly onClose: () => void;
}) {
  const { production, action, onClose } = props;
  const { operation, name, text, help } = LEAVES[action];
  const [reason, setReason] = useState<string>();
  const change = useAction(operation, [...CHANGED_BY_TRANSITIONS, 'listChallenges', 'listAllChallenges']);
  return (
    <Dialog title={`${name}: ${props.name} v${production}`} onClose={onClose}>
      <div className="pad stack">
        <p>{text}</p>
        <Form
          label={name}
          error={change.error}
          onSubmit={() =>
            change.mutate(
              {
                params: { model_name: props.name },
                // Another version may have entered Production since this dialog was opened.
                body: { expected_production: production, ...(reason ? { reason } : {}) },
              },
              { onSuccess: onClose },
            )
          }
          actions={
            <ActButton operation={operation} type="submit" kind="danger" isBusy={change.isPending}>
              {name}
            </ActButton>
          }
        >
          <TextField label="Reason" path="reason" help={help} value={reason} onChange={setReason} />
        </Form>
      </div>
    </Dialog>
  );
}
