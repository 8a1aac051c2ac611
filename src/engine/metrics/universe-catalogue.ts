import { define } from './catalogue.ts';

/** Definitions for a run with a universe. */
export const UNIVERSE_DEFINITIONS = define('universe', {
  'universe.candidates': ['Candidates', 'count', 'stored pairs whose volumes were ranked'],
  'universe.rebalances': ['Choices', 'count', 'times at which the pairs were chosen, the first included'],
  'universe.short_rebalances': [
    'Short choices',
    'count',
    'choices that found fewer pairs than asked for: too young, or without a candle on the day before',
  ],
  'universe.delisted_trades': [
    'Closed by a delisting',
    'count',
    'trades closed at the last close of a pair that ends a day or more before the run, less the haircut for longs, plus it for shorts',
  ],
  'universe.days_in': ['Days in', 'days', 'time in which the pair may be entered'],
  'universe.total_profit_pct': [
    'Profit % of another choice',
    'percent',
    'profit % of the same run over the other pairs; in `added` less that of this run',
  ],
  'universe.cagr_pct': [
    'CAGR % of another choice',
    'percent',
    'CAGR of the same run over the other pairs; in `added` less that of this run',
  ],
  'universe.sharpe_ratio': [
    'Sharpe ratio of another choice',
    'ratio',
    'Sharpe ratio of the same run over the other pairs; in `added` less that of this run',
  ],
  'universe.max_drawdown_pct': [
    'Drawdown % of another choice',
    'percent',
    'maximum drawdown of the same run over the other pairs; in `added` less that of this run',
  ],
  'universe.total_trades': [
    'Trades of another choice',
    'count',
    'trades of the same run over the other pairs; in `added` less those of this run',
  ],
});
