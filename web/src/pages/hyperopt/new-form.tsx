import LIMITS from 'virtual:limits';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useAction } from '../../api/queries.ts';
import { useDraft } from '../../forms/drafts.ts';
import { TextField } from '../../forms/inputs.tsx';
import { AccountFields, MarketFields, MarketOptionFields } from '../../forms/job-fields.tsx';
import { JobForm, type JobStart } from '../../forms/start-job.tsx';
import { Panel } from '../../ui/parts.tsx';
import { type ChangeFields, type Draft, draftFor, requestOf } from './draft.ts';
import { SearchFields } from './new-fields.tsx';
import { SpaceFields } from './new-space.tsx';

/** The form of a new job and the request that it sends. Long because it is the list of the panels. */
export function NewForm(props: JobStart<Draft>) {
  const { strategies, source, isCopy } = props;
  const kept = useDraft('hyperopt', source, props.initial);
  const { initial, draft, setDraft } = kept;
  const start = useAction('startHyperopt', ['listHyperopts']);
  const navigate = useNavigate();
  // One object per draft: a second try of the same request starts no second job.
  const request = useMemo(() => ({ body: requestOf(draft) }), [draft]);
  const strategy = strategies.find((each) => each.strategy === draft.fields.strategy);
  const change = (next: Partial<Draft>) => setDraft((before) => ({ ...before, ...next }));
  const changeFields: ChangeFields = (fields) =>
    setDraft((before) => ({ ...before, fields: { ...before.fields, ...fields } }));
  const submit = () =>
    start.mutate(request, {
      onSuccess: ({ job_id }) => {
        kept.drop();
        void navigate({ to: '/hyperopt/$id', params: { id: job_id } });
      },
    });
  const pickStrategy = (name: string) => {
    const next = draftFor(strategies.find((each) => each.strategy === name));
    // Costs, objective and trials stay; parameters, market and orders belong to the strategy.
    const {
      pairs: _,
      timeframe: __,
      model_types: ___,
      order_types,
      unfilled_timeout,
      ...rest
    } = draft.fields;
    const { ignore_entry_after_candles, max_adjustments, ...others } = rest;
    setDraft({ ...next, fields: { ...others, strategy: name } });
  };
  return (
    <JobForm
      label="New hyperopt job"
      operation="startHyperopt"
      body={request.body}
      before={isCopy ? requestOf(initial) : undefined}
      draft={kept}
      error={start.error}
      isPending={start.isPending}
      onSubmit={submit}
      action={start.isPending ? 'Starting' : 'Start the search'}
    >
      <Panel title="Strategy and market">
        <MarketFields
          prefix=""
          strategyName={draft.fields.strategy}
          onStrategy={pickStrategy}
          {...{ strategies, strategy, fields: draft.fields, onChange: changeFields }}
        >
          <MarketOptionFields prefix="" fields={draft.fields} onChange={changeFields} />
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
    </JobForm>
  );
}
