import type { SymbolOutcome } from './collect-candles.ts';

const NAMED = 10;

/** A collection's end in words: failed as soon as one series failed, naming the first ten of those. */
export function describeOutcomes(outcomes: readonly SymbolOutcome[]): {
  readonly status: 'completed' | 'failed';
  readonly message: string;
} {
  const candles = outcomes.reduce((sum, each) => sum + each.candles, 0);
  const rejected = outcomes.reduce((sum, each) => sum + each.rejected, 0);
  const stored = `${candles} candles stored${rejected > 0 ? `, ${rejected} impossible ones left out` : ''}`;
  const failed = outcomes.flatMap(({ symbol, timeframe, error }) =>
    error ? [`${symbol} ${timeframe}: ${error.code} ${error.message}`] : [],
  );
  if (failed.length === 0) return { status: 'completed', message: stored };
  const more = failed.length > NAMED ? `; and ${failed.length - NAMED} more` : '';
  const named = failed.slice(0, NAMED).join('; ');
  return {
    status: 'failed',
    message: `${failed.length} of ${outcomes.length} series failed: ${named}${more}. ${stored}.`,
  };
}
