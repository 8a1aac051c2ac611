import * as z from 'zod';

/** The ML engine of a run: what a submission may say, and what the job carries. */

const MODEL_TYPES =
  'depthwise_gbdt, leafwise_gbdt, symmetric_gbdt or logistic_regression; names in whose style they are, such as `xgboost`, `LightGBMClassifier` or `catboost`, are taken for them';

const ModelType = z.string().meta({ description: MODEL_TYPES });

const TrainPeriodDays = z.int().meta({
  description: 'Days before a window from which its model learns',
  minimum: 1,
  maximum: 730,
});
const BacktestPeriodDays = z.int().meta({
  description: 'Days that one model predicts before the next is trained',
  minimum: 1,
  maximum: 365,
});

/** How a classifier is trained, by name; see the engine's settings. */
const CLASSIFIER = {
  n_estimators: z.int().meta({ description: 'Trees at most', minimum: 1, maximum: 5000 }),
  learning_rate: z
    .number()
    .meta({ description: "Factor of each tree's values", minimum: 0.0001, maximum: 1 }),
  max_depth: z.int().meta({ description: 'Splits from root to leaf', minimum: 1, maximum: 10 }),
  max_leaves: z
    .int()
    .meta({ description: 'Leaves of a tree, leafwise_gbdt only', minimum: 2, maximum: 1024 }),
  max_bins: z.int().meta({ description: "Bins of a feature's values", minimum: 2, maximum: 255 }),
  l2: z.number().meta({ description: 'Penalty on leaf values or weights', minimum: 0, maximum: 1e6 }),
  min_child_weight: z.number().meta({ description: 'Least weight of a leaf', minimum: 0, maximum: 1e6 }),
  gamma: z.number().meta({ description: 'Loss reduction that a split must reach', minimum: 0, maximum: 1e6 }),
  subsample: z
    .number()
    .meta({ description: 'Share of the rows that a tree sees', minimum: 0.05, maximum: 1 }),
  column_sample: z
    .number()
    .meta({ description: 'Share of the features that a tree sees', minimum: 0.05, maximum: 1 }),
  early_stopping_rounds: z.int().meta({
    description:
      'Trees without a gain on the tail of the training window after which boosting ends; 0: never',
    minimum: 0,
    maximum: 1000,
  }),
  validation_fraction: z
    .number()
    .meta({ description: 'That tail, as a share of the training rows', minimum: 0.05, maximum: 0.5 }),
  class_weight: z.union([z.number(), z.string()]).meta({
    description: '`none`, `balanced`, or the weight of label 1 beside 1 of label 0, from 0.001 to 1000',
  }),
};

const optional = <S extends z.ZodRawShape>(shape: S) => z.object(shape).partial().shape;

export const MlEngineRequest = z
  .looseObject({
    enabled: z.boolean().optional().meta({
      description: 'Whether models are trained and predict',
      default: true,
    }),
    ...optional({
      model_type: ModelType,
      train_period_days: TrainPeriodDays,
      backtest_period_days: BacktestPeriodDays,
      ...CLASSIFIER,
    }),
    entry_threshold: z.number().optional().meta({
      description:
        'Probability that a long needs, and 1 less which a short must stay; not for strategies that read the predictions themselves. Default 0.5',
      minimum: 0,
      maximum: 1,
    }),
  })
  .meta({
    id: 'MlEngine',
    description:
      'Models that learn from the past of each pair and predict its next days, window by window. What is left out is what the strategy declares, else a default',
  });

/** Settings that a request may give of the ML engine. */
export type MlEngineRequest = z.infer<typeof MlEngineRequest>;

export const ResolvedMlEngine = z
  .object({
    enabled: z.literal(true),
    model_type: ModelType.meta({ description: 'As it was asked for' }),
    train_period_days: TrainPeriodDays,
    backtest_period_days: BacktestPeriodDays,
    ...CLASSIFIER,
    class_weight: z.union([z.number(), z.literal('none'), z.literal('balanced')]),
    entry_threshold: z
      .number()
      .nullable()
      .meta({ description: 'null: the strategy reads the predictions itself' }),
  })
  .meta({ id: 'ResolvedMlEngine' });
/** The ML engine of a run, with every default filled in. */
export type ResolvedMlEngine = z.infer<typeof ResolvedMlEngine>;
