import type { StoredAssignment, StoredTrade } from '#contract/stored-challenge.ts';
import { armWith, keyWith } from './arm-totals.ts';
import { changed, type Progress } from './challenge-state.ts';
import { withProfit } from './judge-challenge.ts';

/** A trade as it is now, to be counted instead of as it was. */
interface TradeStep {
  readonly now: StoredTrade;
  /** null of a new one. */
  readonly before: StoredTrade | null;
  /** Of its key, if it has one. */
  readonly assignment: StoredAssignment | undefined;
}

/** A challenge and the assignment of a key with a trade in their totals. */
export interface CountedTrade {
  readonly progress: Progress;
  /** null when nothing of it has changed. */
  readonly assignment: StoredAssignment | null;
}

/** The totals with a trade as it is now; a late or misassigned one is in none. */
export function countTrade(progress: Progress, step: TradeStep): CountedTrade {
  const { now, assignment } = step;
  if (now.late || now.misassigned) return { progress, assignment: null };
  const { challenge } = progress;
  const stages = challenge.stages.map((stage) =>
    stage.canary_stage === now.canary_stage
      ? { ...stage, [now.variant]: armWith(stage[now.variant], step, assignment, challenge.analysis_unit) }
      : stage,
  );
  const key = assignment && withKeyTotals(assignment, step);
  const isSecond = key?.closed === 2 && now.status === 'closed';
  const several = challenge.keys_with_several_trades + (isSecond ? 1 : 0);
  const counted = changed(progress, { stages, keys_with_several_trades: several });
  const isDone = now.status === 'closed' && now.variant === 'challenger';
  return {
    progress: isDone ? withProfit(counted, now.profit_pct!) : counted,
    assignment: key ?? null,
  };
}

function withKeyTotals(assignment: StoredAssignment, step: TradeStep): StoredAssignment | null {
  const { now, before } = step;
  // What is open without a mark is in no total of its key, nor is an error.
  if (now.profit_pct === null && (before?.profit_pct ?? null) === null) return null;
  return { ...keyWith(assignment, step), revision: assignment.revision + 1 };
}
