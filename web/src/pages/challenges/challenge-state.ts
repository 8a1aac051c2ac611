import { words } from '../../ui/format.ts';
import type { Challenge } from './search.ts';

const HOLDS: Readonly<Record<NonNullable<Challenge['hold']>['reason'], string>> = {
  manual: 'An approver holds it',
  approval: 'The next stage waits for an approver',
  sample_ratio_mismatch: 'The assignments do not match the traffic split',
  open_trades: 'One version holds its open trades longer than the other',
  no_traffic: 'No trade was logged for long',
};

/** What a challenge waits for, or how it ended. */
export function stateOf(challenge: Challenge): string {
  const { hold, next_stage, outcome, reason, status } = challenge;
  if (status !== 'active')
    return (
      [outcome, reason]
        .filter((each) => each !== null)
        .map(words)
        .join(': ') || words(status)
    );
  if (hold) return HOLDS[hold.reason];
  if (!next_stage) return 'Last stage: waits for enough trades to decide';
  const { challenger_trades, trades_needed, needs_approval } = next_stage;
  if (challenger_trades < trades_needed) {
    return `${challenger_trades} of ${trades_needed} trades in this stage`;
  }
  return needs_approval ? 'The next stage needs an approver' : 'Waits for the least time of this stage';
}

/** True when somebody must act before it goes on. */
export function isWaitingForSomebody({ status, hold, promotion_rejected }: Challenge): boolean {
  return (status === 'active' && hold !== null) || promotion_rejected !== null;
}
