import LIMITS from 'virtual:limits';
import { Plus, X } from 'lucide-react';
import { CheckField, SelectField } from '../../forms/choices.tsx';
import { FieldGroup } from '../../forms/field.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { Strategy } from '../../forms/start-job.tsx';
import type { Config, Draft, RoiStep } from './draft.ts';
import { stepsOf } from './draft.ts';

const { limits, defaults } = LIMITS.backtest;

type Choice = 'own' | 'none';
const OWN_OR_NONE = [
  { value: 'own', label: 'Own values' },
  { value: 'none', label: 'None' },
] as const;

/** Stop, targets and trailing stop, and how orders fill inside a candle. Long because it is the list of the fields. */
export function ExitFields(props: {
  readonly strategy: Strategy | undefined;
  readonly config: Config;
  readonly roi: Draft['roi'];
  readonly onChange: (config: Partial<Config>) => void;
  readonly onRoi: (roi: Draft['roi']) => void;
}) {
  const { strategy, config, roi, onChange, onRoi } = props;
  const { trailing } = config;
  const roiChoice: Choice | undefined = roi && (roi.length > 0 ? 'own' : 'none');
  const trailingChoice: Choice | undefined = trailing === null ? 'none' : trailing && 'own';
  return (
    <div className="stack pad">
      <div className="fields">
        <NumberField
          label="Stop loss, ratio of the stake"
          path="config.stoploss"
          help="Negative: -0.1 is 10 % below the entry"
          min={limits.stoploss.min}
          max={limits.stoploss.max}
          value={config.stoploss}
          placeholder={String(strategy?.stoploss ?? '')}
          onChange={(stoploss) => onChange({ stoploss })}
        />
        <SelectField
          label="Minimal ROI"
          path="config.minimal_roi"
          help="Profit at which a trade closes, by its age"
          value={roiChoice}
          placeholder={`That of the strategy (${roiText(strategy)})`}
          options={OWN_OR_NONE}
          onChange={(choice) => onRoi(choice === 'own' ? firstSteps(strategy) : choice && [])}
        />
        <SelectField
          label="Trailing stop"
          path="config.trailing"
          value={trailingChoice}
          placeholder={`That of the strategy (${strategy?.trailing ? 'on' : 'none'})`}
          options={OWN_OR_NONE}
          onChange={(choice) =>
            onChange({ trailing: choice === 'own' ? (strategy?.trailing ?? {}) : choice && null })
          }
        />
        <SelectField
          label="Order of events inside a candle"
          path="config.timeframe_detail"
          help="A shorter timeframe decides it; its candles must be stored or are collected"
          value={config.timeframe_detail === null ? 'none' : config.timeframe_detail}
          placeholder="By rule (default)"
          options={[{ value: 'none', label: 'By rule' }, ...LIMITS.timeframes.map((value) => ({ value }))]}
          onChange={(value) => onChange({ timeframe_detail: value === 'none' ? null : value })}
        />
        <SelectField
          label="Fill model"
          path="config.fill_model"
          help="conservative: by the path through the candle on which the trade is worth less at its close"
          value={config.fill_model}
          placeholder={`${defaults.fill_model} (default)`}
          options={LIMITS.fillModels.map((value) => ({ value }))}
          onChange={(value) => onChange({ fill_model: value })}
        />
        <NumberField
          label="Seed"
          path="config.seed"
          help="The same seed gives the same run"
          {...{ min: limits.seed.min, max: limits.seed.max, isInteger: true }}
          value={config.seed}
          placeholder={String(defaults.seed)}
          onChange={(seed) => onChange({ seed })}
        />
      </div>
      {roi && roi.length > 0 && <RoiSteps steps={roi} onChange={onRoi} />}
      {trailing && <TrailingFields value={trailing} onChange={(next) => onChange({ trailing: next })} />}
    </div>
  );
}

function roiText(strategy: Strategy | undefined): string {
  const count = Object.keys(strategy?.minimal_roi ?? {}).length;
  return count === 0 ? 'none' : count === 1 ? '1 step' : `${count} steps`;
}

/** Steps to start from: those of the strategy. */
function firstSteps(strategy: Strategy | undefined): readonly RoiStep[] {
  const steps = stepsOf(strategy?.minimal_roi ?? {});
  return steps.length > 0 ? steps : [{ minutes: 0, ratio: undefined }];
}

function RoiSteps(props: {
  readonly steps: readonly RoiStep[];
  readonly onChange: (steps: readonly RoiStep[]) => void;
}) {
  const { steps, onChange } = props;
  const { minutes, ratio, steps: most } = limits.minimal_roi;
  const set = (index: number, step: RoiStep) => onChange(steps.with(index, { ...steps[index], ...step }));
  return (
    <FieldGroup label="Minimal ROI" path="config.minimal_roi.steps" help="-1 closes at any profit">
      {() => (
        <div className="stack tight">
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity of its own
            <div key={index} className="roi-step">
              <NumberField
                label="From minute"
                path={`config.minimal_roi.${step.minutes}`}
                {...{ min: minutes.min, max: minutes.max, isInteger: true }}
                value={step.minutes}
                problem={minuteProblem(steps, index)}
                onChange={(value) => set(index, { ...step, minutes: value })}
              />
              <NumberField
                label="Profit, ratio"
                path={`config.minimal_roi.${step.minutes}.ratio`}
                {...{ min: ratio.min, max: ratio.max }}
                value={step.ratio}
                problem={step.ratio === undefined ? MISSING : undefined}
                onChange={(value) => set(index, { ...step, ratio: value })}
              />
              <button
                type="button"
                className="btn icon"
                aria-label={`Remove step ${index + 1}`}
                onClick={() => onChange(steps.toSpliced(index, 1))}
              >
                <X aria-hidden="true" />
              </button>
            </div>
          ))}
          {steps.length < most && (
            <button
              type="button"
              className="btn small roi-add"
              onClick={() => onChange([...steps, { minutes: undefined, ratio: undefined }])}
            >
              <Plus aria-hidden="true" /> Step
            </button>
          )}
        </div>
      )}
    </FieldGroup>
  );
}

const MISSING = 'A step needs a minute and a profit';

/** A table has one profit for each minute: a second one would replace the first. */
function minuteProblem(steps: readonly RoiStep[], index: number): string | undefined {
  const { minutes } = steps[index]!;
  if (minutes === undefined) return MISSING;
  const isTaken = steps.slice(0, index).some((step) => step.minutes === minutes);
  return isTaken ? 'Another step begins at this minute' : undefined;
}

type Trailing = NonNullable<Config['trailing']>;

function TrailingFields(props: {
  readonly value: Trailing;
  readonly onChange: (trailing: Trailing) => void;
}) {
  const { value, onChange } = props;
  return (
    <div className="fields">
      <NumberField
        label="Trailing distance, ratio"
        path="config.trailing.positive"
        help="Once the offset is reached. Empty: the stop loss"
        min={limits.trailing.positive.min}
        max={limits.trailing.positive.max}
        value={value.positive}
        onChange={(positive) => onChange({ ...value, positive })}
      />
      <NumberField
        label="Trailing offset, ratio"
        path="config.trailing.offset"
        help="Profit from which the distance applies"
        min={limits.trailing.offset.min}
        max={limits.trailing.offset.max}
        value={value.offset}
        placeholder={String(defaults.trailing.offset)}
        onChange={(offset) => onChange({ ...value, offset })}
      />
      <CheckField
        label="Do not trail before the offset"
        path="config.trailing.only_offset_is_reached"
        value={value.only_offset_is_reached ?? defaults.trailing.only_offset_is_reached}
        onChange={(only_offset_is_reached) => onChange({ ...value, only_offset_is_reached })}
      />
    </div>
  );
}
