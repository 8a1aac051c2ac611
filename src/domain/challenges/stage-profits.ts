import type { StoredChallenge, TradeResult, Variant } from '#contract/stored-challenge.ts';
import type { Cluster } from '#engine/stats/clusters.ts';
import type { StageValues } from '#engine/stats/permutation.ts';
import { type KeyTotals, keyWith, NO_KEY } from './arm-totals.ts';

/** Trades that the permutation test looks at, the last ones: it takes some tenths of a second. */
export const MAX_PERMUTED = 5_000;

/** The profits of the closed trades that count, by stage; those of a key together where keys are what is compared. */
export function stageProfits(
  { stages, analysis_unit }: StoredChallenge,
  trades: readonly TradeResult[],
): StageValues<number | Cluster>[] {
  const counted = trades.filter(
    ({ status, late, misassigned }) => status === 'closed' && !late && !misassigned,
  );
  return stages.map(({ canary_stage }) => {
    const here = counted.filter((trade) => trade.canary_stage === canary_stage);
    const of = (variant: Variant) => {
      const ofArm = here.filter((trade) => trade.variant === variant);
      return analysis_unit === 'trade' ? ofArm.map(({ profit_pct }) => profit_pct!) : clustersIn(ofArm);
    };
    return { a: of('champion'), b: of('challenger') };
  });
}

function clustersIn(trades: readonly TradeResult[]): Cluster[] {
  const keyed = new Map<string, KeyTotals>();
  for (const trade of trades) {
    const { assignment_key: key, trade_id } = trade;
    const id = key === null ? `trade ${trade_id}` : `key ${key}`;
    keyed.set(id, keyWith(keyed.get(id) ?? NO_KEY, { before: null, now: trade }));
  }
  return [...keyed.values()].map(({ closed, sum }) => ({ size: closed, sum }));
}
