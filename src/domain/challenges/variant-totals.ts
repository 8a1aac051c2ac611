import type {
  StoredAssignment,
  StoredChallenge,
  StoredTrade,
  TradeResult,
  Variant,
  VariantTotals,
} from '#contract/registry/stored-challenge.ts';
import { type Cluster, NO_CLUSTERS, withCluster } from '#engine/stats/clusters.ts';
import { type DoubleDouble, minus, plus, times, ZERO } from '#engine/stats/double-double.ts';
import type { StageValues } from '#engine/stats/permutation.ts';
import { changed, type KeyTotals, NO_KEY_TOTALS, type Progress } from './challenge-state.ts';

/** A trade as far as totals know of it. */
type Counted = Pick<StoredTrade, 'status' | 'profit_pct'>;

/** Current state of a trade, null when it counts no more, and the state counted before; null for a new trade. */
interface Step {
  readonly before: Counted | null;
  readonly now: Counted | null;
}

/** Variant after a change of one trade, given the previous totals of the trade's key. */
function variantWith(
  variant: VariantTotals,
  step: Step,
  key: KeyTotals | undefined,
  unit: StoredChallenge['analysis_unit'],
): VariantTotals {
  const { before, now } = step;
  const profit = closedOf(now);
  const after = {
    ...variant,
    open: variant.open + countOf(now?.status === 'open') - countOf(before?.status === 'open'),
    closed: variant.closed + countOf(profit !== null),
    errors: variant.errors + countOf(now?.status === 'error'),
    sum: replaced(variant.sum, null, profit),
    sum_of_squares: replaced(variant.sum_of_squares, null, profit, square),
    marked: markedWith(variant, step),
  };
  if (unit === 'trade') return after;
  const was = key ?? keyWith(NO_KEY_TOTALS, { before: null, now: before });
  return withClusters(variant, after, { before: was, now: keyWith(was, step) });
}

/** Totals of a key after a change of one trade. */
function keyWith<T extends KeyTotals>(key: T, { before, now }: Step): T {
  const profit = closedOf(now);
  const marked = key.marked + countOf(markOf(now) !== null) - countOf(markOf(before) !== null);
  return {
    ...key,
    closed: key.closed + countOf(profit !== null),
    sum: replaced(key.sum, null, profit),
    marked,
    // Without marks the sum is exactly 0, without rounding errors.
    marked_sum: marked === 0 ? ZERO : replaced(key.marked_sum, markOf(before), markOf(now)),
  };
}

/** A variant as if its marked trades had been closed at their marks. */
export function asIfClosed(variant: VariantTotals): VariantTotals {
  const { marked } = variant;
  if (!marked) return variant;
  return {
    ...variant,
    open: variant.open - marked.count,
    closed: variant.closed + marked.count,
    sum: plus(variant.sum, marked.sum),
    sum_of_squares: plus(variant.sum_of_squares, marked.sum_of_squares),
    clusters: marked.clusters,
    marked: null,
  };
}

function markedWith({ marked }: VariantTotals, { before, now }: Step): VariantTotals['marked'] {
  const [was, is] = [markOf(before), markOf(now)];
  const count = (marked?.count ?? 0) + countOf(is !== null) - countOf(was !== null);
  if (count === 0) return null;
  return {
    count,
    sum: replaced(marked?.sum ?? ZERO, was, is),
    sum_of_squares: replaced(marked?.sum_of_squares ?? ZERO, was, is, square),
    clusters: marked?.clusters ?? null,
  };
}

/** The clusters of closed trades, and of them with the marked ones, which may be of one key. */
function withClusters(
  { clusters, marked: before }: VariantTotals,
  after: VariantTotals,
  key: { readonly before: KeyTotals; readonly now: KeyTotals },
): VariantTotals {
  const closed = clusters ?? NO_CLUSTERS;
  const { marked } = after;
  return {
    ...after,
    clusters: withCluster(closed, closedIn(key.before), closedIn(key.now)),
    marked: marked && {
      ...marked,
      clusters: withCluster(before?.clusters ?? closed, allIn(key.before), allIn(key.now)),
    },
  };
}

function closedIn({ closed, sum }: KeyTotals): Cluster {
  return { size: closed, sum };
}

function allIn({ closed, sum, marked, marked_sum }: KeyTotals): Cluster {
  return { size: closed + marked, sum: plus(sum, marked_sum) };
}

function closedOf(trade: Counted | null): number | null {
  return trade?.status === 'closed' ? trade.profit_pct : null;
}

/** The unrealised result of an open trade, if it was posted. */
function markOf(trade: Counted | null): number | null {
  return trade?.status === 'open' ? trade.profit_pct : null;
}

/** A sum with one value instead of another. */
function replaced(sum: DoubleDouble, was: number | null, is: number | null, of = single): DoubleDouble {
  const less = was === null ? sum : minus(sum, of(was));
  return is === null ? less : plus(less, of(is));
}

function single(value: number): DoubleDouble {
  return [value, 0];
}

function square(value: number): DoubleDouble {
  return times([value, 0], [value, 0]);
}

function countOf(there: boolean): number {
  return there ? 1 : 0;
}

/** Current state of a trade, which replaces the state counted before. */
interface TradeStep {
  readonly now: StoredTrade;
  /** null of a new one. */
  readonly before: StoredTrade | null;
  /** Assignment of its key, if it has one. */
  readonly assignment: StoredAssignment | undefined;
}

/** A challenge and the assignment of a key with a trade in their totals. */
export interface CountedTrade {
  readonly progress: Progress;
  /** null when it has not changed. */
  readonly assignment: StoredAssignment | null;
}

/**
 * The totals with the current state of a trade. A late, misassigned or unassigned trade is not counted, nor any more when it becomes
 * late. The totals of an ended challenge stay.
 */
export function countTrade(progress: Progress, { now: trade, before, assignment }: TradeStep): CountedTrade {
  const { challenge } = progress;
  const step = { before: before && countedOf(before), now: countedOf(trade) };
  const { now } = step;
  if (challenge.status !== 'active' || (!step.before && !now)) return { progress, assignment: null };
  const { canary_stage, variant } = trade;
  const stages = challenge.stages.map((stage) =>
    stage.canary_stage === canary_stage
      ? { ...stage, [variant]: variantWith(stage[variant], step, assignment, challenge.analysis_unit) }
      : stage,
  );
  const key = assignment && withKeyTotals(assignment, step);
  const isSecond = key?.closed === 2 && now?.status === 'closed';
  const several = challenge.keys_with_several_trades + (isSecond ? 1 : 0);
  const counted = changed(progress, { stages, keys_with_several_trades: several });
  const isDone = now?.status === 'closed' && variant === 'challenger';
  return {
    progress: isDone ? withProfit(counted, now.profit_pct!) : counted,
    assignment: key ?? null,
  };
}

/** The trade if it counts. */
function countedOf<T extends Pick<StoredTrade, 'late' | 'misassigned' | 'unassigned'>>(trade: T): T | null {
  return trade.late || trade.misassigned || trade.unassigned ? null : trade;
}

function withKeyTotals(assignment: StoredAssignment, step: Step): StoredAssignment | null {
  const { now, before } = step;
  // An open trade without a mark price and an error are in no total of their key.
  if ((now?.profit_pct ?? null) === null && (before?.profit_pct ?? null) === null) return null;
  return { ...keyWith(assignment, step), revision: assignment.revision + 1 };
}

/** Trades that the permutation test looks at, the last ones: it takes some tenths of a second. */
export const MAX_PERMUTED = 5_000;

/** The profits of the closed trades that count, by stage; those of a key together where keys are what is compared. */
export function stageProfits(
  { stages, analysis_unit }: StoredChallenge,
  trades: readonly TradeResult[],
): StageValues<number | Cluster>[] {
  const counted = trades.filter((trade) => trade.status === 'closed' && countedOf(trade));
  return stages.map(({ canary_stage }) => {
    const here = counted.filter((trade) => trade.canary_stage === canary_stage);
    const of = (variant: Variant) => {
      const ofVariant = here.filter((trade) => trade.variant === variant);
      return analysis_unit === 'trade'
        ? ofVariant.map(({ profit_pct }) => profit_pct!)
        : clustersIn(ofVariant);
    };
    return { a: of('champion'), b: of('challenger') };
  });
}

function clustersIn(trades: readonly TradeResult[]): Cluster[] {
  const keyed = new Map<string, KeyTotals>();
  for (const trade of trades) {
    const { assignment_key: key, trade_id } = trade;
    const id = key === null ? `trade ${trade_id}` : `key ${key}`;
    keyed.set(id, keyWith(keyed.get(id) ?? NO_KEY_TOTALS, { before: null, now: trade }));
  }
  return [...keyed.values()].map(({ closed, sum }) => ({ size: closed, sum }));
}

/** The challenger's account with one more closed trade. */
function withProfit(progress: Progress, profit: number): Progress {
  const { equity } = progress.challenge;
  const now = points(equity.profit + profit);
  const peak = Math.max(equity.peak, now);
  return changed(progress, {
    equity: { profit: now, peak, drawdown: Math.max(equity.drawdown, points(peak - now)) },
  });
}

/** To a billionth: three losses of 0.1 are 0.3, and no more than a limit of 0.3. */
function points(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
