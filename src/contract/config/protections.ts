import * as z from 'zod';

/** Protections: rules that lock pairs against entries after losses, with the names and defaults of freqtrade. */

const minutes = (description: string) =>
  z.number().meta({ description, 'x-unit': 'minutes', 'x-default': 60 });
const candles = (description: string) => z.int().meta({ description });

const common = {
  lookback_period: minutes('Trades closed within this time count').optional(),
  lookback_period_candles: candles('The same in candles of the timeframe').optional(),
  stop_duration: minutes('Length of the lock from the last counted trade').optional(),
  stop_duration_candles: candles('The same in candles of the timeframe').optional(),
  unlock_at: z.string().optional().meta({ description: 'End of the lock as a time of day, `HH:MM` in UTC' }),
};

const tradeLimit = (preset: number) =>
  z.int().optional().meta({ description: 'Least number of trades', 'x-default': preset });
const onlyPerSide = z
  .boolean()
  .optional()
  .meta({ description: 'Count and lock the side of the closed trade only', 'x-default': false });
const requiredProfit = z.number().optional().meta({ 'x-default': 0, 'x-unit': 'ratio' });

export const Protection = z
  .discriminatedUnion('method', [
    z.object({ method: z.literal('CooldownPeriod'), ...common }),
    z.object({
      method: z.literal('StoplossGuard'),
      ...common,
      trade_limit: tradeLimit(10),
      only_per_pair: z.boolean().optional().meta({ description: 'Lock the pair only', 'x-default': false }),
      only_per_side: onlyPerSide,
      required_profit: requiredProfit,
    }),
    z.object({
      method: z.literal('LowProfitPairs'),
      ...common,
      trade_limit: tradeLimit(1),
      only_per_side: onlyPerSide,
      required_profit: requiredProfit,
    }),
    z.object({
      method: z.literal('MaxDrawdown'),
      ...common,
      trade_limit: tradeLimit(1),
      max_allowed_drawdown: z.number().optional().meta({ 'x-default': 0, 'x-unit': 'ratio' }),
      calculation_mode: z.enum(['ratios', 'equity']).optional().meta({ 'x-default': 'ratios' }),
    }),
  ])
  .meta({ id: 'Protection' });
export type Protection = z.infer<typeof Protection>;
