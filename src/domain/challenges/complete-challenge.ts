import type { StoredChallenge } from '#contract/stored-challenge.ts';
import { type Progress, told } from './challenge-state.ts';
import { compareArms } from './compare-arms.ts';

/** A challenge that ends by a verdict on its trades. */
export function completed(
  progress: Progress,
  outcome: 'challenger_wins' | 'champion_wins',
  at: string,
): Progress {
  const end = { status: 'completed', outcome, ended_at: at, hold: null } as const;
  const ended = told(progress, end, { action: 'complete', at, reason: outcome });
  const message = outcome === 'challenger_wins' ? whyNotByItself(progress.challenge) : null;
  return message === null ? ended : withoutPromotion(ended, { at, code: 'RES005', message });
}

/** A winner that the platform does not promote by itself, and why: once it has said so it leaves it to a person. */
export function withoutPromotion(
  progress: Progress,
  promotion_refused: NonNullable<StoredChallenge['promotion_refused']>,
): Progress {
  const { at, code, message } = promotion_refused;
  const event = { action: 'promotion_refused', at, reason: `${code}: ${message}` } as const;
  return told(progress, { promotion_refused }, event);
}

/** Why a person must look at a winner that would promote by itself; null when nothing speaks against it. */
function whyNotByItself(challenge: StoredChallenge): string | null {
  const { auto_promote, hold } = challenge;
  if (!auto_promote) return null;
  if (compareArms(challenge).degenerate) return 'No trade differs from another of its arm';
  // The other holds heal, if not by the trade that wins.
  const waits = hold?.reason === 'manual' || hold?.reason === 'approval' || hold?.reason === 'sample_ratio';
  return waits ? `It was held when it won: ${hold.reason}` : null;
}
