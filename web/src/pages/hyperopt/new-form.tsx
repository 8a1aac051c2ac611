import LIMITS from 'virtual:limits';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { webConfig } from '../../api/config.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { ChangesList } from '../../forms/changes-list.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { AccountFields, MarketFields } from '../../forms/job-fields.tsx';
import { RequestView } from '../../forms/request-view.tsx';
import { Panel } from '../../ui/parts.tsx';
import { type ChangeFields, type Draft, draftFor, requestOf, type Strategy } from './draft.ts';
import { SearchFields } from './new-fields.tsx';
import { SpaceFields } from './new-space.tsx';

/** The form of a new job and the request that it sends. */
export function NewForm(props: {
  readonly strategies: readonly Strategy[];
  readonly initial: Draft;
  /** True: filled from a job; what differs from it is shown. */
  readonly isCopy?: boolean;
}) {
  const { strategies, initial, isCopy = false } = props;
  const [draft, setDraft] = useState(initial);
  const start = useAction('startHyperopt', ['listHyperopts']);
  const navigate = useNavigate();
  const body = requestOf(draft);
  const strategy = strategies.find((each) => each.strategy === draft.fields.strategy);
  const change = (next: Partial<Draft>) => setDraft((before) => ({ ...before, ...next }));
  const changeFields: ChangeFields = (fields) =>
    setDraft((before) => ({ ...before, fields: { ...before.fields, ...fields } }));
  const submit = () =>
    start.mutate(
      { body },
      { onSuccess: ({ job_id }) => void navigate({ to: '/hyperopt/$id', params: { id: job_id } }) },
    );
  const pickStrategy = (name: string) => {
    const next = draftFor(strategies.find((each) => each.strategy === name));
    // Costs, objective and trials stay; parameters and market belong to the strategy.
    const { pairs: _, timeframe: __, model_types: ___, ...kept } = draft.fields;
    setDraft({ ...next, fields: { ...kept, strategy: name } });
  };
  return (
    <div className="new-job">
      <Form
        label="New hyperopt job"
        error={start.error}
        onSubmit={submit}
        actions={
          <ActButton operation="startHyperopt" type="submit" kind="primary" isBusy={start.isPending}>
            {start.isPending ? 'Starting' : 'Start the search'}
          </ActButton>
        }
      >
        <Panel title="Strategy and market">
          <MarketFields
            prefix=""
            strategyName={draft.fields.strategy}
            onStrategy={pickStrategy}
            {...{ strategies, strategy, fields: draft.fields, onChange: changeFields }}
          >
            <TextField
              label="Experiment"
              path="experiment_name"
              help="Name of the study, and for filtering the list"
              maxLength={LIMITS.backtest.limits.experiment_name.max}
              value={draft.fields.experiment_name}
              onChange={(value) => changeFields({ experiment_name: value })}
            />
          </MarketFields>
        </Panel>
        <Panel title="What to search">
          <SpaceFields {...{ draft, strategy, onChange: change, onFields: changeFields }} />
        </Panel>
        <Panel title="How to search">
          <SearchFields draft={draft} onChange={changeFields} />
        </Panel>
        <Panel title="Account and costs of every trial">
          <AccountFields prefix="" fields={draft.fields} strategy={strategy} onChange={changeFields} />
        </Panel>
      </Form>
      <aside className="stack" aria-label="Request">
        {isCopy && (
          <Panel title="Changes">
            <div className="pad">
              <ChangesList from={requestOf(initial)} to={body} />
            </div>
          </Panel>
        )}
        <Panel title="Request">
          <div className="pad">
            <RequestView operation="startHyperopt" body={body} needsToken={webConfig().auth !== null} />
          </div>
        </Panel>
      </aside>
    </div>
  );
}
