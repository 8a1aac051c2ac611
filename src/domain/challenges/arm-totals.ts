import type {
  ArmTotals,
  StoredAssignment,
  StoredChallenge,
  StoredTrade,
} from '#contract/stored-challenge.ts';
import { type Cluster, NO_CLUSTERS, withCluster } from '#engine/stats/clusters.ts';
import { minus, type Precise, plus, times, ZERO } from '#engine/stats/precise-sum.ts';

/** What the trades of one key came to. */
export type KeyTotals = Pick<StoredAssignment, 'closed' | 'sum' | 'marked' | 'marked_sum'>;

/** Of a key without trades. */
export const NO_KEY: KeyTotals = { closed: 0, sum: ZERO, marked: 0, marked_sum: ZERO };

/** A trade as far as totals know of it. */
type Counted = Pick<StoredTrade, 'status' | 'profit_pct'>;

/** A trade as it is now, and as it was counted before; null of a new one. */
export interface Step {
  readonly before: Counted | null;
  readonly now: Counted;
}

/** An arm whose trade, of a key as it was before, is now another than it was. */
export function armWith(
  arm: ArmTotals,
  step: Step,
  key: KeyTotals | undefined,
  unit: StoredChallenge['analysis_unit'],
): ArmTotals {
  const { before, now } = step;
  const profit = closedOf(now);
  const moved = {
    ...arm,
    open: arm.open + countOf(now.status === 'open') - countOf(before?.status === 'open'),
    closed: arm.closed + countOf(profit !== null),
    errors: arm.errors + countOf(now.status === 'error'),
    sum: replaced(arm.sum, null, profit),
    sum_of_squares: replaced(arm.sum_of_squares, null, profit, square),
    marked: markedWith(arm, step),
  };
  if (unit === 'trade') return moved;
  const was = key ?? keyWith(NO_KEY, { before: null, now: before });
  return withClusters(arm, moved, { before: was, now: keyWith(was, step) });
}

/** A key whose trade is now another than it was. */
export function keyWith<T extends KeyTotals>(
  key: T,
  { before, now }: { readonly before: Counted | null; readonly now: Counted | null },
): T {
  const profit = closedOf(now);
  const marked = key.marked + countOf(markOf(now) !== null) - countOf(markOf(before) !== null);
  return {
    ...key,
    closed: key.closed + countOf(profit !== null),
    sum: replaced(key.sum, null, profit),
    marked,
    // Without marks nothing is left, not even rounding.
    marked_sum: marked === 0 ? ZERO : replaced(key.marked_sum, markOf(before), markOf(now)),
  };
}

/** An arm as if its marked trades had been closed at their marks. */
export function asIfClosed(arm: ArmTotals): ArmTotals {
  const { marked } = arm;
  if (!marked) return arm;
  return {
    ...arm,
    open: arm.open - marked.count,
    closed: arm.closed + marked.count,
    sum: plus(arm.sum, marked.sum),
    sum_of_squares: plus(arm.sum_of_squares, marked.sum_of_squares),
    clusters: marked.clusters,
    marked: null,
  };
}

function markedWith({ marked }: ArmTotals, { before, now }: Step): ArmTotals['marked'] {
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
  { clusters, marked: before }: ArmTotals,
  moved: ArmTotals,
  key: { readonly before: KeyTotals; readonly now: KeyTotals },
): ArmTotals {
  const closed = clusters ?? NO_CLUSTERS;
  const { marked } = moved;
  return {
    ...moved,
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

/** The unrealised result of an open trade, if somebody told it. */
function markOf(trade: Counted | null): number | null {
  return trade?.status === 'open' ? trade.profit_pct : null;
}

/** A sum with one value instead of another. */
function replaced(sum: Precise, was: number | null, is: number | null, of = single): Precise {
  const less = was === null ? sum : minus(sum, of(was));
  return is === null ? less : plus(less, of(is));
}

function single(value: number): Precise {
  return [value, 0];
}

function square(value: number): Precise {
  return times([value, 0], [value, 0]);
}

function countOf(there: boolean): number {
  return there ? 1 : 0;
}
