import { define } from './catalogue.ts';

/** What the report of a run with the ML engine holds beside: p is a prediction out of sample, y the label, 0 or 1. */
export const MODEL_DEFINITIONS = define('models', {
  'models.features': ['Features', 'count', 'columns that a model is given'],
  'models.horizon': [
    'Horizon',
    'count',
    'candles until a label is known: so many before a window are left out of its training',
  ],
  'models.trained': ['Models', 'count', 'over all windows and pairs'],
  'models.windows_total': ['Windows', 'count', 'over all pairs'],
  'models.index': ['Window', 'count', '0 for the first window of the range'],
  'models.training_rows': ['Training rows', 'count', 'candles with a label on which the model was trained'],
  'models.training_positives_pct': ['Training label %', 'percent', 'of them with label 1'],
  'models.iterations': ['Iterations', 'count', 'trees, or steps of the regression, that predict'],
  'models.rows': ['Predictions', 'count', 'whose label is known by the end of the data'],
  'models.positives_pct': ['Label %', 'percent', 'share of y = 1 * 100'],
  'models.auc': [
    'AUC',
    'probability',
    'chance that a row with y = 1 has a larger p than one with y = 0, ties half; null with one class alone',
  ],
  'models.log_loss': ['Log loss', 'ratio', 'mean of -ln p where y = 1, -ln(1 - p) where y = 0'],
  'models.base_log_loss': [
    'Log loss of the base rate',
    'ratio',
    'log loss with p = share of y = 1 throughout',
  ],
  'models.brier': ['Brier score', 'ratio', 'mean of (p - y)^2'],
  'models.low': ['Low end', 'probability', 'p of the bin is at least this'],
  'models.high': ['High end', 'probability', 'p of the bin is below this; the last holds 1 too'],
  'models.mean_probability': ['Mean probability', 'probability', 'mean of p in the bin'],
  'models.positive_share': ['Came true', 'probability', 'share of y = 1 in the bin'],
  'models.gain': [
    'Gain',
    'ratio',
    'share of the reduction of the training loss at splits by the feature, or of the sizes of weights; mean over the models',
  ],
  'models.permutation': [
    'Permutation importance',
    'ratio',
    'rise of the log loss when the feature is shuffled among the rows of a window; mean over at most 12 windows',
  ],
});
