import type { ChallengeChange } from '../transitions/registry-store.ts';
import { applyCanaryRules, deadlineOf } from './apply-deadlines.ts';
import type { ChallengeStore } from './challenge-store.ts';
import { decideChallenge, isLookDue } from './decide-challenge.ts';
import { MAX_PERMUTED, stageProfits } from './variant-totals.ts';
import { type ChallengeDeps, writeChallenge } from './write-challenge.ts';

export interface ProcessingReport {
  readonly changed: readonly string[];
  readonly failed: readonly string[];
  /** Challenges that the run did not reach within its time limit. */
  readonly left: number;
}

/** Time limit of one run. The Lambda time-out is 4 minutes. */
const PROCESSING_LIMIT_MS = 2 * 60_000;
/** Challenges processed concurrently, so that a slow one delays few others. */
const CONCURRENCY = 8;

/**
 * Applies due deadlines to a challenge: expiry, the next traffic share, start and end of holds, the decision when its minimum
 * hours are reached, and the lapse of a promotion. Returns true if the challenge changed. Throws CHL001, SVC005.
 */
export function processDueChallenge(deps: ChallengeDeps, id: string): Promise<boolean> {
  return writeChallenge(deps, id, {}, async (found) => {
    const { challenge } = found.progress;
    const profits = async () => stageProfits(challenge, await deps.challenges.lastTrades(id, MAX_PERMUTED));
    const decided = isLookDue(challenge, found.at)
      ? await decideChallenge(found.progress, found.at, profits)
      : found.progress;
    const progress = applyCanaryRules(decided, found.now);
    return { response: (after) => after !== found.challenge, progress };
  });
}

/**
 * Applies due deadlines to every unfinished challenge. An error in one challenge does not stop the others. The run
 * starts at a random challenge: when the time limit does not suffice for all, the omitted ones vary.
 */
export async function processDueChallenges(
  deps: ChallengeDeps,
  onError: (challengeId: string, error: unknown) => void,
): Promise<ProcessingReport> {
  const until = deps.clock.now() + PROCESSING_LIMIT_MS;
  const ids: string[] = [];
  for await (const id of deps.challenges.unfinished()) ids.push(id);
  const start = Math.floor(deps.random() * ids.length);
  const waiting = [...ids.slice(start), ...ids.slice(0, start)];
  const changed: string[] = [];
  const failed: string[] = [];
  const worker = async () => {
    while (deps.clock.now() < until) {
      const id = waiting.shift();
      if (id === undefined) return;
      try {
        if (await processDueChallenge(deps, id)) changed.push(id);
      } catch (error) {
        failed.push(id);
        onError(id, error);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { changed, failed, left: waiting.length };
}

/** Processes a challenge at its own deadline, in addition to the repair runs. */
export interface ChallengeTimer {
  /**
   * Processes the challenge at that time or within a minute after. Idempotent. Processing without a due deadline changes
   * nothing.
   *
   * @param time unix ms
   */
  at(challengeId: string, time: number): Promise<void>;
}

/** Sets the timer for each deadline that a change has set: the time limit, or the lapse of a winner's promotion. */
export async function setTimers(timer: ChallengeTimer, changes: readonly ChallengeChange[]): Promise<void> {
  for (const { before, after } of changes) {
    const deadline = deadlineOf(after);
    if (deadline === undefined || (before && deadlineOf(before) === deadline)) continue;
    await timer.at(after.challenge_id, deadline);
  }
}

/** Sets a timer for every deadline, on a host whose timers end with its process. */
export async function resumeTimers(
  challenges: Pick<ChallengeStore, 'unfinished' | 'read'>,
  timer: ChallengeTimer,
): Promise<void> {
  for await (const id of challenges.unfinished()) {
    const challenge = await challenges.read(id);
    if (challenge) await setTimers(timer, [{ before: null, after: challenge, events: [] }]);
  }
}
