import challenges from 'virtual:challenges';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton, useDenial } from '../../auth/act.tsx';
import { CheckField, CheckGroup, SelectField } from '../../forms/choices.tsx';
import { Form } from '../../forms/form.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../ui/format.ts';

const { defaults, limits, stages } = challenges;

/** Button and dialog that start a challenge. */
export function NewChallenge() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActButton operation="createChallenge" kind="primary" onClick={() => setOpen(true)}>
        <Plus aria-hidden="true" /> New challenge
      </ActButton>
      {isOpen && <NewChallengeDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** The request without what is left to its default. */
interface Draft {
  readonly model?: string | undefined;
  readonly challenger_version?: string | undefined;
  readonly min_trades?: number | undefined;
  readonly max_duration_hours?: number | undefined;
  readonly enable_canary?: boolean;
  readonly auto_promote?: boolean;
  readonly max_drawdown_pct?: number | undefined;
  readonly max_errors?: number | undefined;
  readonly on_rollback?: string | undefined;
  readonly analysis_unit?: string | undefined;
  readonly require_assignment?: boolean | undefined;
  readonly approval_stages?: string[];
}
type SetDraft = (changes: Draft) => void;

/** Form of a new challenge. Long because it is the list of the fields, and the request of their values. */
function NewChallengeDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>({});
  const set: SetDraft = (changes) => setDraft({ ...draft, ...changes });
  const create = useAction('createChallenge', ['listAllChallenges', 'listChallenges', 'getOverview']);
  const { model, ...body } = draft;
  const submit = () =>
    create.mutate(
      {
        params: { model_name: model ?? '' },
        body: {
          ...(Object.fromEntries(Object.entries(body).filter(([, each]) => each !== undefined)) as object),
          champion_version: 'champion',
          challenger_version: draft.challenger_version ?? '',
        },
      },
      {
        onSuccess: ({ challenge_id }) =>
          void navigate({ to: '/challenges/$id', params: { id: challenge_id } }),
      },
    );
  return (
    <Dialog title="New challenge" onClose={onClose}>
      <div className="pad">
        <Form
          label="New challenge"
          error={create.error}
          onSubmit={submit}
          actions={
            <ActButton operation="createChallenge" type="submit" kind="primary" isBusy={create.isPending}>
              Start the challenge
            </ActButton>
          }
        >
          <div className="fields">
            <VersionFields draft={draft} set={set} />
            <NumberField
              label="Trades of each"
              path="min_trades"
              help="Before the planned look"
              {...limits.min_trades}
              isInteger
              placeholder={String(defaults.min_trades)}
              value={draft.min_trades}
              onChange={(value) => set({ min_trades: value })}
            />
            <NumberField
              label="Longest duration, hours"
              path="max_duration_hours"
              help="Without a verdict by then the champion stays"
              {...limits.max_duration_hours}
              isInteger
              placeholder={String(defaults.max_duration_hours)}
              value={draft.max_duration_hours}
              onChange={(value) => set({ max_duration_hours: value })}
            />
          </div>
          <CheckField
            label={`Canary: start with ${stages[0].share * 100} % of the traffic, else with ${stages.at(-1)!.share * 100} %`}
            path="enable_canary"
            value={draft.enable_canary ?? defaults.enable_canary}
            onChange={(value) => set({ enable_canary: value })}
          />
          <CheckField
            label="Promote the challenger when it has won"
            path="auto_promote"
            denial={useDenial('createChallenge', 'auto_promote')}
            value={draft.auto_promote ?? defaults.auto_promote}
            onChange={(value) => set({ auto_promote: value })}
          />
          <SafetyFields draft={draft} set={set} />
        </Form>
      </div>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly set: SetDraft;
}

/** Strategies with a staged version, and those versions. */
function VersionFields({ draft, set }: FieldsProps) {
  const { model } = draft;
  const { data } = useCall('listCatalog', { query: { stage: 'Staging', limit: 100 } });
  const production = useCall(
    'getProduction',
    { params: { model_name: model ?? '' } },
    { enabled: model !== undefined },
  );
  const staged = data?.items ?? [];
  const champion = production.data && 'version' in production.data ? production.data.version : undefined;
  return (
    <>
      <SelectField
        label="Strategy"
        path="model_name"
        placeholder={data && staged.length === 0 ? 'No version is staged' : 'Choose'}
        options={[...new Set(staged.map(({ model_name }) => model_name))].map((value) => ({ value }))}
        value={model}
        onChange={(value) => set({ model: value, challenger_version: undefined })}
        help={champion === null ? 'No version of it is in Production' : undefined}
      />
      <SelectField
        label="Challenger"
        path="challenger_version"
        placeholder="Choose a staged version"
        options={staged
          .filter(({ model_name }) => model_name === model)
          .map(({ version }) => ({ value: version, label: `v${version}` }))}
        value={draft.challenger_version}
        onChange={(value) => set({ challenger_version: value })}
        help={champion ? `Against v${champion} in Production` : undefined}
      />
    </>
  );
}

const ROLLBACKS = {
  finish: 'The challenger manages them to their end',
  close: 'They are to be closed',
} as const;
/** Trades that count. */
const COUNTED = { assigned: 'Those of assigned keys', all: 'Also those of other keys' } as const;
const UNITS = { trade: 'Each trade', assignment_key: 'All trades of an assignment key' } as const;

/** What ends it early, and how it is counted. Long because it is the list of the fields. */
function SafetyFields({ draft, set }: FieldsProps) {
  const { require_assignment: isRequired } = draft;
  return (
    <details>
      <summary>Rollback, approval and analysis</summary>
      <div className="stack challenge-more">
        <div className="fields">
          <NumberField
            label="Drawdown that rolls back, pp"
            path="max_drawdown_pct"
            help="Loss of the challenger since its peak"
            {...limits.max_drawdown_pct}
            placeholder="none"
            value={draft.max_drawdown_pct}
            onChange={(value) => set({ max_drawdown_pct: value })}
          />
          <NumberField
            label="Errors that are tolerated"
            path="max_errors"
            help="One more rolls back"
            {...limits.max_errors}
            isInteger
            placeholder="any number"
            value={draft.max_errors}
            onChange={(value) => set({ max_errors: value })}
          />
          <SelectField
            label="Open positions after a rollback"
            path="on_rollback"
            options={challenges.onRollback.map((value) => ({ value, label: ROLLBACKS[value] }))}
            value={draft.on_rollback ?? defaults.on_rollback}
            onChange={(value) => set({ on_rollback: value })}
          />
          <SelectField
            label="Unit of analysis"
            path="analysis_unit"
            help="Correlated trades of a key are compared as one"
            options={challenges.analysisUnits.map((value) => ({ value, label: UNITS[value] }))}
            value={draft.analysis_unit ?? defaults.analysis_unit}
            onChange={(value) => set({ analysis_unit: value })}
          />
          <SelectField
            label="Trades that count"
            path="require_assignment"
            help="A key is assigned before its trade is logged"
            placeholder="As the platform sets it"
            options={(['assigned', 'all'] as const).map((value) => ({ value, label: COUNTED[value] }))}
            value={isRequired === undefined ? undefined : isRequired ? 'assigned' : 'all'}
            onChange={(value) => set({ require_assignment: value && value === 'assigned' })}
          />
        </div>
        <CheckGroup
          label="Stages that an approver must open"
          path="approval_stages"
          options={stages.slice(1).map(({ name, share }) => ({
            value: name,
            label: `${words(name)} (${share * 100} %)`,
          }))}
          values={draft.approval_stages ?? []}
          onChange={(names) => set({ approval_stages: [...names] })}
        />
      </div>
    </details>
  );
}
