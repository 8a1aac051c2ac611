import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import { STAKE_RATIO } from '../analysis/given-signals.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * Trades the rows of an uploaded file: the run takes them from there, so this definition computes none. Exits are those of
 * the file, and the stop and the ROI table of the configuration.
 */
export const givenSignals = defineStrategy({
  name: SIGNALS_STRATEGY,
  description: 'Trades the signals of an uploaded file.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {},
  startupCandles: () => 0,
  indicators: () => ({}),
  signals: () => ({}),
  canShort: true,
  stoploss: -0.99,
  callbacks: {
    customStake: ({ columns, index }, _side, proposed) => proposed * (columns[STAKE_RATIO]?.[index - 1] ?? 1),
  },
});
