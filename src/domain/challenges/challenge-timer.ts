import type { ChallengeChange } from '../transitions/registry-store.ts';
import type { ChallengeStore } from './challenge-store.ts';
import { deadlineOf } from './settle-challenge.ts';

/** Lets time pass for a challenge at a moment of its own, beside the regular passes over all. */
export interface ChallengeTimer {
  /**
   * Lets time pass for it then, or within a minute after. Repeating it does no harm, nor does a moment at which nothing is due.
   *
   * @param time unix ms
   */
  at(challengeId: string, time: number): Promise<void>;
}

/** Sets the timer for deadlines that changes have made: of what has begun, and of what was won. */
export async function setTimers(timer: ChallengeTimer, changes: readonly ChallengeChange[]): Promise<void> {
  for (const { before, after } of changes) {
    const deadline = deadlineOf(after);
    if (deadline === undefined || (before && deadlineOf(before) === deadline)) continue;
    await timer.at(after.challenge_id, deadline);
  }
}

/** Sets the timer for every deadline there is, of a host whose timers end with it. */
export async function resumeTimers(
  challenges: Pick<ChallengeStore, 'unfinished' | 'read'>,
  timer: ChallengeTimer,
): Promise<void> {
  for await (const id of challenges.unfinished()) {
    const challenge = await challenges.read(id);
    if (challenge) await setTimers(timer, [{ before: null, after: challenge, events: [] }]);
  }
}
