import { runBacktest } from '#engine/backtest.ts';
import { sampleLookAhead } from '#engine/look-ahead/sample.ts';
import { sha256 } from '../backtest-sample.ts';
import type { Define } from './leaking-strategies.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

/** Two years of hourly candles of four pairs. */
export const TWO_YEARS = { seeds: [31, 32, 33, 34], rows: 2 * 365 * 24, max_open_trades: 4 };

/** A backtest as a task runs it, searched for look-ahead bias. */
export async function searchedRun(
  define: Define,
  options: Parameters<typeof lookAheadSubject>[1] = TWO_YEARS,
  spent = () => 1_000_000,
) {
  const subject = lookAheadSubject(define, options);
  const { config, pairs } = subject;
  const input = { strategy: define(), config, pairs, strategyDigest: sha256(config.strategy) };
  const outcome = runBacktest(input, { digest: sha256, observed: true });
  const sample = await sampleLookAhead(subject, outcome.observed!, { spent });
  return { outcome, sample };
}
