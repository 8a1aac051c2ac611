import { MODEL_KINDS, type ModelKind } from './model-kind.ts';

/** How a classifier is trained. The names are those of a request's `ml_engine`. */
export interface ClassifierSettings {
  readonly kind: ModelKind;
  /** Trees at most; early stopping may keep fewer. */
  readonly n_estimators: number;
  /** What each tree's leaf values are multiplied with. */
  readonly learning_rate: number;
  /** Splits on the longest path from root to leaf. */
  readonly max_depth: number;
  /** Leaves of a tree; `leafwise_gbdt` only. */
  readonly max_leaves: number;
  /** Bins of a feature's present values; missing ones have a bin of their own. */
  readonly max_bins: number;
  /** L2 penalty: of leaf values, or of the weights of standardised features. */
  readonly l2: number;
  /** Smallest sum of hessians, p(1 - p) times weight, of a leaf. */
  readonly min_child_weight: number;
  /** Loss reduction that a split must reach: XGBoost's `gamma`. */
  readonly gamma: number;
  /** Share of the rows that each tree sees, drawn without replacement. */
  readonly subsample: number;
  /** Share of the features that each tree sees, at least one. */
  readonly column_sample: number;
  /** Rounds without a better validation loss after which boosting ends; 0 never. */
  readonly early_stopping_rounds: number;
  /** Share of the training rows, the last ones, that early stopping judges by; unused when early stopping is off. */
  readonly validation_fraction: number;
  /** `balanced` gives both classes the same total weight; a number is the weight of label 1 beside 1 of label 0. */
  readonly class_weight: 'none' | 'balanced' | number;
  /** Decides the rows and features of each tree: a 32-bit integer. */
  readonly seed: number;
}

export const DEFAULT_CLASSIFIER_SETTINGS: ClassifierSettings = {
  kind: 'depthwise_gbdt',
  n_estimators: 100,
  learning_rate: 0.1,
  max_depth: 6,
  max_leaves: 31,
  max_bins: 64,
  l2: 1,
  min_child_weight: 1,
  gamma: 0,
  subsample: 1,
  column_sample: 1,
  early_stopping_rounds: 0,
  validation_fraction: 0.2,
  class_weight: 'none',
  seed: 1,
};

interface SettingRange {
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
}

const whole = (min: number, max: number): SettingRange => ({ min, max, integer: true });
const real = (min: number, max: number): SettingRange => ({ min, max, integer: false });

/** The values that each number may have, both ends included. A `class_weight` that is a number is among them. */
export const CLASSIFIER_SETTING_RANGES = {
  n_estimators: whole(1, 5000),
  learning_rate: real(0.0001, 1),
  max_depth: whole(1, 10),
  max_leaves: whole(2, 1024),
  max_bins: whole(2, 255),
  l2: real(0, 1e6),
  min_child_weight: real(0, 1e6),
  gamma: real(0, 1e6),
  subsample: real(0.05, 1),
  column_sample: real(0.05, 1),
  early_stopping_rounds: whole(0, 1000),
  validation_fraction: real(0.05, 0.5),
  class_weight: real(0.001, 1000),
  seed: whole(0, 4_294_967_295),
} as const satisfies Readonly<Record<string, SettingRange>>;

/** Why a setting was not taken. */
export interface SettingProblem {
  readonly setting: keyof ClassifierSettings;
  /** Begins with the setting's name and says what is allowed. */
  readonly message: string;
}

/** Every setting that is out of its range or no value of its kind; empty when all can be used. Never throws. */
export function classifierSettingProblems(settings: ClassifierSettings): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (!MODEL_KINDS.includes(settings.kind)) {
    problems.push({ setting: 'kind', message: `kind: must be one of ${MODEL_KINDS.join(', ')}` });
  }
  for (const [name, range] of Object.entries(CLASSIFIER_SETTING_RANGES)) {
    const setting = name as keyof typeof CLASSIFIER_SETTING_RANGES;
    const value = settings[setting];
    const isName = setting === 'class_weight' && (value === 'none' || value === 'balanced');
    if (isName || isWithin(value, range)) continue;
    const kind = range.integer ? 'an integer' : 'a number';
    const names = setting === 'class_weight' ? '"none", "balanced" or ' : '';
    const message = `${setting}: must be ${names}${kind} from ${range.min} to ${range.max}`;
    problems.push({ setting, message });
  }
  return problems;
}

function isWithin(value: unknown, { min, max, integer }: SettingRange): boolean {
  if (typeof value !== 'number' || !(value >= min && value <= max)) return false;
  return !integer || Number.isInteger(value);
}

/** Throws a RangeError that names every setting that cannot be used. */
export function checkClassifierSettings(settings: ClassifierSettings): void {
  const problems = classifierSettingProblems(settings);
  if (problems.length > 0) throw new RangeError(problems.map(({ message }) => message).join('; '));
}
