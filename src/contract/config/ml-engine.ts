import * as z from 'zod';
import { bounds } from '../values/bounds.ts';
import {
  CLASS_WEIGHTS,
  CLASSIFIER_LIMITS,
  ML_ENGINE_DEFAULTS,
  ML_ENGINE_LIMITS,
  MODEL_ALIASES,
  MODEL_KINDS,
} from '../values/model-limits.ts';

/** The ML engine of a run: settings of a request, and of the job. */

const LIMITS = { ...CLASSIFIER_LIMITS, ...ML_ENGINE_LIMITS };

const integer = (name: keyof typeof LIMITS, description: string) =>
  z.int().meta({ description, ...bounds(LIMITS[name]) });
const number = (name: keyof typeof LIMITS, description: string) =>
  z.number().meta({ description, ...bounds(LIMITS[name]) });

const { class_weight: WEIGHT } = CLASSIFIER_LIMITS;

const SETTINGS = {
  model_type: z.string().meta({
    description: `${MODEL_KINDS.join(', ')}, or an alias in any case: ${Object.keys(MODEL_ALIASES).join(', ')}`,
  }),
  train_period_days: integer('train_period_days', 'Training window before each prediction window, days'),
  backtest_period_days: integer('backtest_period_days', 'Prediction window of one model, days'),
  n_estimators: integer('n_estimators', 'Maximum number of trees'),
  learning_rate: number('learning_rate', "Factor of each tree's values"),
  max_depth: integer('max_depth', 'Splits from root to leaf'),
  max_leaves: integer('max_leaves', 'Leaves of a tree, leafwise_gbdt only'),
  max_bins: integer('max_bins', "Bins of a feature's values"),
  l2: number('l2', 'L2 penalty on leaf values or weights'),
  min_child_weight: number('min_child_weight', 'Minimum weight of a leaf'),
  gamma: number('gamma', 'Minimum loss reduction of a split'),
  subsample: number('subsample', 'Fraction of the rows that a tree sees'),
  column_sample: number('column_sample', 'Fraction of the features that a tree sees'),
  early_stopping_rounds: integer(
    'early_stopping_rounds',
    'Boosting stops after this many trees without improvement on the validation rows; 0: never',
  ),
  validation_fraction: number(
    'validation_fraction',
    'Validation rows: the last fraction of the training rows',
  ),
  class_weight: z
    .union([z.number().meta(bounds(WEIGHT)), z.string().meta({ enum: [...CLASS_WEIGHTS] })])
    .meta({ description: '`none`, `balanced`, or the weight of label 1 relative to label 0' }),
};

/** Optional fields whose description names the default. */
const REQUEST_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, schema]) => {
    const fallback = ML_ENGINE_DEFAULTS[name as keyof typeof SETTINGS];
    const description = `${schema.description}. Default: the setting of the strategy, else ${fallback}`;
    return [name, schema.optional().meta({ description })];
  }),
) as { [K in keyof typeof SETTINGS]: z.ZodOptional<(typeof SETTINGS)[K]> };

export const MlEngineRequest = z
  .looseObject({
    enabled: z.boolean().optional().meta({ description: 'Train models and predict', default: true }),
    ...REQUEST_SETTINGS,
    entry_threshold: number(
      'entry_threshold',
      `Minimum probability of a long entry; a short needs at most 1 minus it. Not for strategies that read the predictions. Default: ${ML_ENGINE_DEFAULTS.entry_threshold}`,
    ).optional(),
  })
  .meta({
    id: 'MlEngine',
    description:
      'Models that are trained on the past of each pair and predict its next days, window by window. A setting that is not given is that of the strategy, else the default',
  });
/** Settings that a request may give of the ML engine. */
export type MlEngineRequest = z.infer<typeof MlEngineRequest>;

export const ResolvedMlEngine = z
  .object({
    enabled: z.literal(true),
    ...SETTINGS,
    model_type: SETTINGS.model_type.meta({ description: 'As in the request' }),
    class_weight: z.union([z.number(), z.literal(CLASS_WEIGHTS[0]), z.literal(CLASS_WEIGHTS[1])]),
    entry_threshold: z.number().nullable().meta({ description: 'null: the strategy reads the predictions' }),
  })
  .meta({ id: 'ResolvedMlEngine' });
/** The ML engine of a run, with every default filled in. */
export type ResolvedMlEngine = z.infer<typeof ResolvedMlEngine>;
