import type { Trade } from '#contract/backtests/report.ts';
import { TRADES_LIMITS } from '#contract/values/backtest-limits.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { backtestPath } from './load-results.ts';

/** All trades of a completed backtest, page by page. */
export async function allTrades(
  client: ApiClient,
  id: string,
  limit: number = TRADES_LIMITS.max,
): Promise<Trade[]> {
  const trades: Trade[] = [];
  try {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const path = backtestPath(id, `/trades?limit=${limit}&page=${page}`);
      const found = await client.get<{ items: Trade[]; pages: number }>(path);
      trades.push(...found.items);
      pages = found.pages;
    }
    return trades;
  } catch (error) {
    // Pages of trades with long tags are too large for a response; the error states a limit that fits.
    const max =
      error instanceof ApiError && error.issues[0]?.field === 'limit' ? Number(error.context.max) : 0;
    if (max >= 1 && max < limit) return allTrades(client, id, max);
    throw error;
  }
}
