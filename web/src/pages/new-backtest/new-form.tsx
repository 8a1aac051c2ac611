import LIMITS from 'virtual:limits';
import { useIsMutating } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useMemo } from 'react';
import { webConfig } from '../../api/config.ts';
import { useAction } from '../../api/queries.ts';
import { useDraft } from '../../forms/drafts.ts';
import { NumberField, TextField } from '../../forms/inputs.tsx';
import { AccountFields, MarketFields, MarketOptionFields } from '../../forms/job-fields.tsx';
import { FormSection, settingsBeside } from '../../forms/section.tsx';
import { JobForm, type JobStart } from '../../forms/start-job.tsx';
import { Panel } from '../../ui/parts.tsx';
import { type Config, changed, type Draft, defaultsFor, draftFor, requestOf } from './draft.ts';
import { ExitFields } from './exit-fields.tsx';
import { ModelFields } from './model-fields.tsx';
import { ParameterFields } from './parameter-fields.tsx';
import { ProtectionFields } from './protection-fields.tsx';
import { RobustnessFields } from './robustness-fields.tsx';
import { SignalsFields, UPLOAD_KEY } from './signals-fields.tsx';
import { UniverseFields } from './universe-fields.tsx';

const { limits, defaults } = LIMITS.backtest;

/** The form of a backtest and the request that it sends. Long because it is the list of the panels. */
export function NewForm(props: JobStart<Draft>) {
  const { strategies, source, isCopy } = props;
  const kept = useDraft('backtest', source, props.initial);
  const { initial, draft, setDraft } = kept;
  const start = useAction('submitBacktest', ['listBacktests']);
  const navigate = useNavigate();
  const { config, submission, roi } = draft;
  // One object per draft: a second try of the same request starts no second backtest.
  const request = useMemo(() => ({ body: requestOf(draft) }), [draft]);
  const strategy = strategies.find((each) => each.strategy === config.strategy);
  const { exchange } = webConfig();
  const settings = useMemo(
    () => settingsBeside(defaultsFor(strategy, config, exchange), request.body),
    [strategy, config, exchange, request],
  );
  const change = (next: Partial<Config>) =>
    setDraft((before) => ({ ...before, config: changed(before.config, next) }));
  const changeSubmission = (next: Partial<Draft['submission']>) =>
    setDraft((before) => ({ ...before, submission: { ...before.submission, ...next } }));
  const pickStrategy = (name: string) => setDraft(withStrategy(draft, name, strategies));
  const isGiven = config.strategy === LIMITS.signals.strategy;
  const isUploading = useIsMutating({ mutationKey: UPLOAD_KEY }) > 0;
  const submit = () =>
    start.mutate(request, {
      onSuccess: ({ job_id }) => {
        kept.drop();
        void navigate({ to: '/backtests/$id', params: { id: job_id } });
      },
    });
  return (
    <JobForm
      label="New backtest"
      operation="submitBacktest"
      body={request.body}
      before={isCopy ? requestOf(initial) : undefined}
      draft={kept}
      error={start.error}
      isPending={start.isPending || isUploading}
      onSubmit={submit}
      action={
        <>
          <Play aria-hidden="true" />{' '}
          {isUploading ? 'Uploading' : start.isPending ? 'Submitting' : 'Run the backtest'}
        </>
      }
      more={
        <>
          {!isGiven && (
            <FormSection title="Parameters" settings={settings}>
              <ParameterFields
                parameters={strategy?.parameters ?? {}}
                values={config.params ?? {}}
                onChange={(params) => change({ params })}
              />
            </FormSection>
          )}
          <FormSection title="Account and costs" settings={settings}>
            <AccountFields
              prefix="config."
              openTrades={config.universe && 'The pairs at a time'}
              {...{ strategy, fields: config, onChange: change }}
            />
          </FormSection>
          <FormSection title="Exits and fills" settings={settings}>
            <ExitFields
              {...{ strategy, config, roi }}
              onChange={change}
              onRoi={(steps) => setDraft((before) => ({ ...before, roi: steps }))}
            />
          </FormSection>
          <FormSection title="Exchange and candles" settings={settings}>
            <div className="fields pad">
              <MarketOptionFields
                prefix="config."
                fields={config}
                universe={config.universe}
                onChange={change}
              />
            </div>
          </FormSection>
          {!isGiven && (
            <FormSection title="Pairs chosen over time" settings={settings}>
              <UniverseFields value={config.universe} onChange={(universe) => change({ universe })} />
            </FormSection>
          )}
          <FormSection title="Protections" settings={settings}>
            <ProtectionFields
              strategy={strategy}
              value={config.protections}
              onChange={(protections) => change({ protections })}
            />
          </FormSection>
          {!isGiven && (
            <FormSection title="Models" settings={settings}>
              <ModelFields
                strategy={strategy}
                value={config.ml_engine}
                onChange={(ml_engine) => change({ ml_engine })}
              />
            </FormSection>
          )}
          <FormSection title="Robustness" settings={settings}>
            <RobustnessFields value={config.robustness} onChange={(robustness) => change({ robustness })} />
          </FormSection>
          <FormSection title="Submission" settings={settings}>
            <SubmissionFields {...{ submission }} onChange={changeSubmission} />
          </FormSection>
        </>
      }
    >
      <Panel title="Strategy, market and period">
        <MarketFields
          prefix="config."
          strategyName={config.strategy}
          onStrategy={pickStrategy}
          universe={config.universe}
          {...{ strategies, strategy, fields: config, onChange: change }}
        />
      </Panel>
      {isGiven && (
        <Panel title="Signals">
          <SignalsFields value={config.signals} onChange={change} />
        </Panel>
      )}
    </JobForm>
  );
}

/** The draft for another strategy. Costs, range and account stay; what belongs to the former strategy does not. */
function withStrategy(
  { config, submission }: Draft,
  name: string,
  strategies: JobStart<Draft>['strategies'],
): Draft {
  // Parameters, market, exits, protections, orders and signals.
  const {
    timeframe: _,
    params,
    stoploss,
    trailing,
    protections,
    ...rules
  } = changed(config, { pairs: undefined });
  const { order_types, unfilled_timeout, ignore_entry_after_candles, max_adjustments, ...account } = rules;
  const { ml_engine, signals, signals_digest, ...others } = account;
  const { model_version, hyperopt_job_id, ...rest } = submission;
  const next = draftFor(strategies.find((each) => each.strategy === name));
  // A file of signals names its pairs.
  const market = name === LIMITS.signals.strategy ? { ...others, universe: undefined } : others;
  return { ...next, config: { ...market, strategy: name }, submission: rest };
}

/** How the job is queued and listed, and what its configuration begins with. */
function SubmissionFields(props: {
  readonly submission: Draft['submission'];
  readonly onChange: (next: Partial<Draft['submission']>) => void;
}) {
  const { submission, onChange } = props;
  return (
    <div className="fields pad">
      <TextField
        label="Experiment"
        path="experiment_name"
        help="Name for filtering the list"
        maxLength={limits.experiment_name.max}
        value={submission.experiment_name}
        onChange={(value) => onChange({ experiment_name: value })}
      />
      <NumberField
        label="Priority"
        path="priority"
        help={`${limits.priority.min} to ${limits.priority.max}; from 8 the run uses on-demand capacity`}
        {...{ min: limits.priority.min, max: limits.priority.max, isInteger: true }}
        value={submission.priority}
        placeholder={String(defaults.priority)}
        onChange={(value) => onChange({ priority: value })}
      />
      <TextField
        label="Registered version"
        path="model_version"
        help="A number, latest or champion: its configuration replaces the defaults"
        value={submission.model_version === undefined ? undefined : String(submission.model_version)}
        onChange={(value) => onChange({ model_version: value })}
      />
      <TextField
        label="Best of a hyperopt job"
        path="hyperopt_job_id"
        placeholder="ho-…"
        help="Its best parameters replace the defaults"
        value={submission.hyperopt_job_id}
        onChange={(value) => onChange({ hyperopt_job_id: value })}
      />
    </div>
  );
}
