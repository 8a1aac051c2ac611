import { crossedAbove, crossedBelow, sma } from '#engine/indicators/index.ts';
import { defineStrategy, type StrategyDefinition } from '#engine/strategy.ts';

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

/** Causal strategy that trades often; the tests change it in one place. */
export function sound(change: Partial<StrategyDefinition> = {}): StrategyDefinition {
  return {
    ...defineStrategy({
      ...CROSSING,
      name: 'sound',
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!),
        exitLong: crossedBelow(close, average!),
        enterShort: crossedBelow(close, average!),
        exitShort: crossedAbove(close, average!),
      }),
      canShort: true,
      stoploss: -0.2,
      unfilledTimeoutMinutes: 600,
    }),
    ...change,
  };
}
