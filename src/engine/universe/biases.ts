import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';

/** What the choice of the pairs assumes. */
export function universeBiases({ universe }: Pick<ResolvedBacktestConfig, 'universe'>) {
  if (!universe) {
    return [
      {
        effect: 'optimistic' as const,
        text: 'The pairs were chosen with present knowledge (survivorship bias). Coins delisted since then are missing, and coins that rose are more likely to be known.',
      },
    ];
  }
  const { delisting_haircut: haircut } = universe;
  const percent = Number((haircut * 100).toPrecision(12));
  return [
    {
      effect: 'optimistic' as const,
      text: 'The pairs were chosen from the stored candles of days before each choice. A pair that was never stored could not be chosen: delisted pairs count only where their candles are stored.',
    },
    {
      effect: haircut > 0 ? ('neutral' as const) : ('optimistic' as const),
      text: `A position in a pair whose candles end a day or more before the run is closed at the last stored close, less a haircut of ${percent} % for longs, plus it for shorts (universe.delisting_haircut). A delisted pair may have been worth less, or could not be sold.`,
    },
    {
      effect: 'neutral' as const,
      text: 'Market change, benchmark, alpha and beta hold every pair that was ever in, also before it came in: they know the choice in advance.',
    },
  ];
}
