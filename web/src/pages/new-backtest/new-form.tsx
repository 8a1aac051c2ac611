import LIMITS from 'virtual:limits';
import { useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { webConfig } from '../../api/config.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { ChangesList } from '../../forms/changes-list.tsx';
import { Form } from '../../forms/form.tsx';
import { NumberField, TextField } from '../../forms/inputs.tsx';
import { AccountFields, MarketFields } from '../../forms/job-fields.tsx';
import { RequestView } from '../../forms/request-view.tsx';
import { Panel } from '../../ui/parts.tsx';
import { type Config, type Draft, draftFor, requestOf, type Strategy } from './draft.ts';
import { ModelFields } from './model-fields.tsx';
import { ParameterFields } from './parameter-fields.tsx';
import { ProtectionFields } from './protection-fields.tsx';

const { limits, defaults } = LIMITS.backtest;

/** The form of a backtest and the request that it sends. */
export function NewForm(props: {
  readonly strategies: readonly Strategy[];
  readonly initial: Draft;
  /** True: filled from a backtest; what differs from it is shown. */
  readonly isCopy?: boolean;
}) {
  const { strategies, initial, isCopy = false } = props;
  const [draft, setDraft] = useState(initial);
  const submit = useAction('submitBacktest', ['listBacktests']);
  const navigate = useNavigate();
  const { config, submission, roi } = draft;
  const body = requestOf(draft);
  const strategy = strategies.find((each) => each.strategy === config.strategy);
  const change = (next: Partial<Config>) =>
    setDraft((before) => ({ ...before, config: { ...before.config, ...next } }));
  const changeSubmission = (next: Partial<Draft['submission']>) =>
    setDraft((before) => ({ ...before, submission: { ...before.submission, ...next } }));
  const pickStrategy = (name: string) => {
    // Costs, range and account stay; parameters, market and protections belong to the strategy.
    const { pairs: _, timeframe: __, params, stoploss, trailing, ml_engine, ...kept } = config;
    const { model_version, hyperopt_job_id, ...rest } = submission;
    const next = draftFor(strategies.find((each) => each.strategy === name));
    setDraft({ ...next, config: { ...kept, strategy: name }, submission: rest });
  };
  return (
    <div className="new-job">
      <Form
        label="New backtest"
        error={submit.error}
        onSubmit={() =>
          submit.mutate(
            { body },
            { onSuccess: ({ job_id }) => void navigate({ to: '/backtests/$id', params: { id: job_id } }) },
          )
        }
        actions={
          <ActButton operation="submitBacktest" type="submit" kind="primary" isBusy={submit.isPending}>
            <Play aria-hidden="true" /> {submit.isPending ? 'Submitting' : 'Run the backtest'}
          </ActButton>
        }
      >
        <Panel title="Strategy and market">
          <MarketFields
            prefix="config."
            strategyName={config.strategy}
            onStrategy={pickStrategy}
            {...{ strategies, strategy, fields: config, onChange: change }}
          />
        </Panel>
        <Panel title="Parameters">
          <ParameterFields
            parameters={strategy?.parameters ?? {}}
            values={config.params ?? {}}
            onChange={(params) => change({ params })}
          />
        </Panel>
        <Panel title="Account and costs">
          <AccountFields prefix="config." strategy={strategy} fields={config} onChange={change} />
        </Panel>
        <Panel title="Protections and fills">
          <ProtectionFields
            {...{ strategy, config, roi }}
            onChange={change}
            onRoi={(steps) => setDraft((before) => ({ ...before, roi: steps }))}
          />
        </Panel>
        <Panel title="Models">
          <ModelFields
            strategy={strategy}
            value={config.ml_engine}
            onChange={(ml_engine) => change({ ml_engine })}
          />
        </Panel>
        <Panel title="Submission">
          <div className="fields pad">
            <TextField
              label="Experiment"
              path="experiment_name"
              help="Name for filtering the list"
              maxLength={limits.experiment_name.max}
              value={submission.experiment_name}
              onChange={(value) => changeSubmission({ experiment_name: value })}
            />
            <NumberField
              label="Priority"
              path="priority"
              help={`${limits.priority.min} to ${limits.priority.max}; from 8 the run uses on-demand capacity`}
              {...{ min: limits.priority.min, max: limits.priority.max, isInteger: true }}
              value={submission.priority}
              placeholder={String(defaults.priority)}
              onChange={(value) => changeSubmission({ priority: value })}
            />
            <TextField
              label="Registered version"
              path="model_version"
              help="A number, latest or champion: its configuration replaces the defaults"
              value={submission.model_version === undefined ? undefined : String(submission.model_version)}
              onChange={(value) => changeSubmission({ model_version: value })}
            />
            <TextField
              label="Best of a hyperopt job"
              path="hyperopt_job_id"
              placeholder="ho-…"
              help="Its best parameters replace the defaults"
              value={submission.hyperopt_job_id}
              onChange={(value) => changeSubmission({ hyperopt_job_id: value })}
            />
          </div>
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
            <RequestView operation="submitBacktest" body={body} needsToken={webConfig().auth !== null} />
          </div>
        </Panel>
      </aside>
    </div>
  );
}
