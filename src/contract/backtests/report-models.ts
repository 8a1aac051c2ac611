import * as z from 'zod';

/** Section of the report about the models of a run. */

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });
const percentOrNull = z.number().nullable().meta({ 'x-unit': 'percent' });

const ModelQuality = z
  .object({
    rows: z.int().meta({ description: 'Predictions with a known outcome' }),
    positives_pct: percentOrNull,
    auc: z.number().nullable().meta({
      description:
        'Probability that a row with label 1 ranks above a row with label 0; 0.5 has no predictive value',
    }),
    log_loss: z.number().nullable().meta({
      description: 'Mean negative log of the predicted probability of the outcome; 0.693 for a coin flip',
    }),
    base_log_loss: z
      .number()
      .nullable()
      .meta({ description: 'Log loss of always predicting the base rate of label 1' }),
    brier: z
      .number()
      .nullable()
      .meta({ description: 'Mean squared error of the probability; 0.25 for a coin flip' }),
  })
  .meta({ id: 'ModelQuality', description: 'Out of sample; null where undefined' });
export type ModelQuality = z.infer<typeof ModelQuality>;

const Calibration = z
  .array(
    z.object({
      low: z.number(),
      high: z.number(),
      rows: z.int(),
      mean_probability: z.number(),
      positive_share: z.number(),
    }),
  )
  .meta({
    description:
      'Predicted and observed frequency per decile of probability; deciles without predictions are omitted',
  });

const ReportWindow = z
  .object({
    pair: z.string(),
    index: z.int().meta({ description: '0 for the first window' }),
    train_from: timestamp,
    train_to: timestamp.meta({
      format: 'date-time',
      description: 'Exclusive; rows whose label is not known by then are left out',
    }),
    test_from: timestamp,
    test_to: timestamp.meta({ format: 'date-time', description: 'Exclusive' }),
    training_rows: z.int(),
    training_positives_pct: percentOrNull,
    iterations: z
      .int()
      .nullable()
      .meta({ description: 'Trees, or steps of the regression; null without a model' }),
    skipped: z.string().nullable().meta({ description: 'Reason why no model was trained; null otherwise' }),
    quality: ModelQuality,
    calibration: Calibration,
  })
  .meta({ id: 'ReportWindow', description: 'One model: training data and prediction quality' });
export type ReportWindow = z.infer<typeof ReportWindow>;

export const ReportModels = z
  .object({
    model_kind: z.string().meta({ description: 'Classifier kind of `model_type`' }),
    features: z.int(),
    horizon: z.int().meta({
      description: 'Candles until a label is known: the gap between training and prediction',
    }),
    trained: z.int().meta({ description: 'Models over all windows and pairs' }),
    windows_total: z.int(),
    windows: z.array(ReportWindow).meta({ description: 'By pair and time; at most 1,000, evenly spread' }),
    quality: ModelQuality,
    calibration: Calibration,
    importances: z
      .array(
        z.object({
          feature: z.string(),
          gain: z.number().meta({ description: 'Mean share of the reduction of the training loss' }),
          permutation: z.number().nullable().meta({
            description:
              'Mean rise of the log loss out of sample when the feature is shuffled, over at most 12 windows',
          }),
        }),
      )
      .meta({ description: 'Largest gain first' }),
  })
  .meta({ id: 'ReportModels' });
export type ReportModels = z.infer<typeof ReportModels>;
