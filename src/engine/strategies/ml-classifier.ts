import { predictedAbove, predictedBelow } from '../indicators/index.ts';
import { riseLabel } from '../ml/labels.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * Trades the predictions of a classifier that is retrained every week on the last two months. Long at a high probability of a
 * rise, short at a high probability of a fall; exits when the probability drops. A row without a prediction has no signal.
 */
export const mlClassifier = defineStrategy({
  name: 'ml_classifier',
  description: 'Trades the direction that a classifier, retrained weekly on past candles, holds likely.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    horizon: {
      kind: 'integer',
      default: 12,
      min: 2,
      max: 48,
      description: 'Candles ahead at which a rise or fall is predicted',
    },
    enter_probability: {
      kind: 'number',
      default: 0.58,
      min: 0.5,
      max: 0.8,
      description: 'Least probability of a rise for a long, of a fall for a short',
    },
    exit_probability: {
      kind: 'number',
      default: 0.48,
      min: 0.3,
      max: 0.5,
      description: 'Probability of its direction at or below which a trade is closed',
    },
  },
  // The features are the default ones, which bring their own startup candles.
  startupCandles: () => 0,
  indicators: () => ({}),
  mlLabel: (candles, { horizon }) => riseLabel(candles, horizon),
  mlEngine: { train_period_days: 60, n_estimators: 60, learning_rate: 0.05, max_depth: 3 },
  signals: (_candles, columns, { enter_probability, exit_probability }) => ({
    enterLong: predictedAbove(columns, enter_probability),
    exitLong: predictedBelow(columns, exit_probability),
    enterShort: predictedBelow(columns, 1 - enter_probability),
    exitShort: predictedAbove(columns, 1 - exit_probability),
  }),
  canShort: true,
  stoploss: -0.05,
});
