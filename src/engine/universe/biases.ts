import type { ResolvedBacktestConfig } from '#contract/backtest.ts';

/** What a universe assumes; nothing without one. */
export function universeBiases({ universe }: Pick<ResolvedBacktestConfig, 'universe'>) {
  if (!universe) return [];
  return [
    {
      effect: 'neutral' as const,
      text: 'The pairs were chosen from the stored candles of days before each choice. A pair that was never stored could not be chosen: delisted pairs count only where their candles are stored.',
    },
    {
      effect: 'neutral' as const,
      text: 'Market change, benchmark, alpha and beta hold every pair that was ever in, also before it came in: they know the choice in advance.',
    },
  ];
}
