import type { StrategyDefinition } from '../strategy.ts';
import { bollingerBreakout } from './bollinger-breakout.ts';
import { buyAndHold } from './buy-and-hold.ts';
import { donchianTrend } from './donchian-trend.ts';
import { emaCrossover } from './ema-crossover.ts';
import { macdMomentum } from './macd-momentum.ts';
import { mlClassifier } from './ml-classifier.ts';
import { rsiMeanReversion } from './rsi-mean-reversion.ts';
import { supertrendFollower } from './supertrend.ts';

/** The strategies that come with the engine. */
export const builtInStrategies: readonly StrategyDefinition[] = [
  bollingerBreakout,
  buyAndHold,
  donchianTrend,
  emaCrossover,
  macdMomentum,
  mlClassifier,
  rsiMeanReversion,
  supertrendFollower,
];
