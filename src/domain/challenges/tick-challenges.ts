import { changeOf } from './challenge-state.ts';
import { steerChallenge } from './settle-challenge.ts';
import { type ChallengeDeps, writeChallenge } from './write-challenge.ts';

/**
 * Lets time pass for every challenge to which it can still do something: expiry, the next share, holds and their ends, and
 * winners that nobody promoted. One challenge's fault does not stop the others.
 */
export async function tickChallenges(
  deps: ChallengeDeps,
  onFault: (challengeId: string, error: unknown) => void,
): Promise<{ readonly changed: readonly string[] }> {
  const changed: string[] = [];
  for await (const id of deps.challenges.unfinished()) {
    try {
      const hasChanged = await writeChallenge(deps, id, {}, async (found) => {
        const progress = steerChallenge(found.progress, found.now);
        return { body: changeOf(found.challenge, progress, found.at) !== null, progress };
      });
      if (hasChanged) changed.push(id);
    } catch (error) {
      onFault(id, error);
    }
  }
  return { changed };
}
