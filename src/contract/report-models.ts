import * as z from 'zod';

/** The models of a run with the ML engine, as its report tells of them. */

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });
const percentOrNull = z.number().nullable().meta({ 'x-unit': 'percent' });

const ModelQuality = z
  .object({
    rows: z.int().meta({ description: 'Predictions whose outcome is known by the end of the data' }),
    positives_pct: percentOrNull,
    auc: z.number().nullable().meta({
      description: 'Chance that a row with label 1 was given more than one with label 0; 0.5 knows nothing',
    }),
    log_loss: z
      .number()
      .nullable()
      .meta({ description: "Mean of -log of what the outcome was given; a coin's is 0.693" }),
    base_log_loss: z
      .number()
      .nullable()
      .meta({ description: 'That of always saying the share of label 1 among these rows' }),
    brier: z
      .number()
      .nullable()
      .meta({ description: "Mean squared error of the probability; a coin's is 0.25" }),
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
      'Tenths of probability: what was said beside what happened; those without a prediction are left out',
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
    skipped: z.string().nullable().meta({ description: 'Why there is no model' }),
    quality: ModelQuality,
    calibration: Calibration,
  })
  .meta({ id: 'ReportWindow', description: 'One model: what it learned from and how well it predicted' });
export type ReportWindow = z.infer<typeof ReportWindow>;

export const ReportModels = z
  .object({
    model_kind: z.string().meta({ description: 'What `model_type` stands for' }),
    features: z.int(),
    horizon: z.int().meta({
      description: 'Candles until a label is known: so far are training and prediction kept apart',
    }),
    trained: z.int().meta({ description: 'Models over all windows and pairs' }),
    windows_total: z.int(),
    windows: z
      .array(ReportWindow)
      .meta({ description: 'By pair and time; of more than 1,000 so many, evenly spread' }),
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
