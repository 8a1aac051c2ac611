import type { ColumnsStatus } from '#contract/backtests/backtest-columns.ts';
import type { TradePath, TradePathQuery } from '#contract/backtests/trade-reasons.ts';
import type { Cursors } from '../shared/cursors.ts';
import type { ColumnsJobDeps } from './columns-job.ts';
import { computedTrade } from './computed-trade.ts';
import { TradeLevels } from './trade-levels.ts';

/**
 * Stop, target and liquidation price in each candle of a trade, from the fill of its entry on.
 * Throws as {@link computedTrade}, and VAL006 for a cursor of another trade.
 */
export async function getTradePath(
  deps: ColumnsJobDeps & { readonly cursors: Cursors },
  jobId: string,
  id: number,
  { limit, cursor, correlationId }: TradePathQuery & { readonly correlationId: string },
): Promise<TradePath | ColumnsStatus> {
  const scope = { job_id: jobId, trade_id: String(id) };
  const [position = '0'] = cursor ? deps.cursors.decode(cursor, scope, 1) : [];
  const computed = await computedTrade(deps, jobId, id, correlationId);
  if ('status' in computed) return computed;
  const { trade, pair, reasons, backtest } = computed;
  const levels = new TradeLevels(trade, reasons, backtest.config);
  const rowOf = (time: number) => Math.floor((time - pair.first) / pair.step);
  const first = rowOf(levels.start);
  const end = rowOf(reasons.closed_at) + 1;
  const from = Math.min(end, first + (Number.parseInt(position, 10) || 0));
  const to = Math.min(end, from + limit);
  const items = Array.from({ length: to - from }, (_, index) => {
    const time = pair.first + (from + index) * pair.step;
    const found = levels.at(Math.max(time, reasons.opened_at), time + pair.step);
    const stop = found?.stop ?? null;
    return {
      time: time / 1_000,
      stop,
      trailing: found?.moved ? stop : null,
      target: found?.target?.price ?? null,
      liquidation: found?.liquidation ?? null,
    };
  });
  return {
    trade_id: id,
    pair: trade.pair,
    timeframe: pair.timeframe,
    items,
    next_cursor: to < end ? deps.cursors.encode([String(to - first)], scope) : null,
  };
}
