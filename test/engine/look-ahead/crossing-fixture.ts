import { sma } from '#engine/indicators/index.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';

/** Definition that each test completes with a name, signals and a stoploss. */
export const CROSSING = {
  description: 'Crossing of the price and its average.',
  timeframe: '1h',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100,
  parameters: {},
  startupCandles: () => 20,
  indicators: ({ close }) => ({ average: sma(close, 20) }),
} satisfies Partial<StrategyDefinition>;
