import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { CheckField, SelectField } from '../../forms/choices.tsx';
import { Form } from '../../forms/form.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';

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

interface Draft {
  readonly model?: string | undefined;
  readonly challenger_version?: string | undefined;
  readonly min_trades?: number | undefined;
  readonly max_duration_hours?: number | undefined;
  readonly max_drawdown_pct?: number | undefined;
  readonly enable_canary: boolean;
  readonly auto_promote: boolean;
}

function NewChallengeDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>({ enable_canary: true, auto_promote: false });
  const set = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });
  const catalog = useCall('listCatalog', { query: { limit: 100 } });
  const create = useAction('createChallenge', ['listAllChallenges', 'listChallenges', 'getOverview']);
  const models = [...new Set(catalog.data?.items.map(({ model_name }) => model_name))];
  const inModel = catalog.data?.items.filter(({ model_name }) => model_name === draft.model) ?? [];
  const champion = inModel.find(({ stage }) => stage === 'Production');
  const challengers = inModel.filter(({ stage }) => stage === 'Staging');
  const { model, ...body } = draft;
  return (
    <Dialog title="New challenge" onClose={onClose}>
      <div className="pad">
        <Form
          label="New challenge"
          error={create.error}
          onSubmit={() =>
            create.mutate(
              {
                params: { model_name: model ?? '' },
                body: {
                  ...body,
                  champion_version: 'champion',
                  challenger_version: body.challenger_version ?? '',
                },
              },
              {
                onSuccess: ({ challenge_id }) =>
                  void navigate({ to: '/challenges/$id', params: { id: challenge_id } }),
              },
            )
          }
          actions={
            <ActButton operation="createChallenge" type="submit" kind="primary" isBusy={create.isPending}>
              Start the challenge
            </ActButton>
          }
        >
          <div className="fields">
            <SelectField
              label="Strategy"
              path="model_name"
              placeholder="Choose"
              options={models.map((value) => ({ value }))}
              value={model}
              onChange={(value) => set({ model: value, challenger_version: undefined })}
              help={model && !champion ? 'No version of it is in Production' : undefined}
            />
            <SelectField
              label="Challenger"
              path="challenger_version"
              placeholder="Choose a staged version"
              options={challengers.map(({ version }) => ({ value: version, label: `v${version}` }))}
              value={draft.challenger_version}
              onChange={(value) => set({ challenger_version: value })}
              help={champion ? `Against v${champion.version} in Production` : undefined}
            />
            <NumberField
              label="Trades of each"
              path="min_trades"
              isInteger
              help="Before the planned look"
              placeholder="Default"
              value={draft.min_trades}
              onChange={(value) => set({ min_trades: value })}
            />
            <NumberField
              label="Longest duration, hours"
              path="max_duration_hours"
              isInteger
              placeholder="Default"
              value={draft.max_duration_hours}
              onChange={(value) => set({ max_duration_hours: value })}
            />
            <NumberField
              label="Drawdown that rolls back, %"
              path="max_drawdown_pct"
              placeholder="None"
              value={draft.max_drawdown_pct}
              onChange={(value) => set({ max_drawdown_pct: value })}
            />
          </div>
          <CheckField
            label="Canary: start with 5 % of the traffic"
            path="enable_canary"
            value={draft.enable_canary}
            onChange={(value) => set({ enable_canary: value })}
          />
          <CheckField
            label="Promote the challenger when it has won"
            path="auto_promote"
            value={draft.auto_promote}
            onChange={(value) => set({ auto_promote: value })}
          />
        </Form>
      </div>
    </Dialog>
  );
}
