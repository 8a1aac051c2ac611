import { CodedError } from '#contract/errors.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import type { Clock } from '../ports.ts';
import type { PromoteVersionDeps } from '../registry/promote-version.ts';
import { isoTime } from '../validate.ts';
import { begin, type Progress, unknownChallenge } from './challenge-state.ts';
import type { ChallengeQuestion, ChallengeState, ChallengeStore, ChallengeWrite } from './challenge-store.ts';
import { withPromotion } from './promote-winner.ts';
import { settleChallenge } from './settle-challenge.ts';

/** With what a winner is promoted by itself. */
export interface ChallengeDeps extends PromoteVersionDeps {
  readonly challenges: ChallengeStore;
}

/** A challenge that exists, settled, with what else was asked for. */
export interface FoundChallenge extends ChallengeState {
  readonly challenge: StoredChallenge;
  readonly progress: Progress;
  /** The time of the write, ISO 8601: never before that of the last one. */
  readonly at: string;
  readonly now: number;
}

/** What a write comes to: an answer, and what it makes of the challenge. */
export interface ChallengeDecision<T> {
  /** By the challenge as it then is. */
  readonly answer: (after: StoredChallenge) => T;
  readonly progress: Progress;
  readonly more?: Pick<ChallengeWrite, 'trades' | 'assignments'>;
}

const MAX_RETRIES = 8;
/** Before the first retry; it doubles up to 0.64 s. Eight times 3 s at most. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 640;

/**
 * Reads a challenge, lets time do what is due, decides and stores the whole in one transaction; again when the challenge
 * has changed in between. Writes of one challenge take turns within a host.
 * Throws CHL001, SVC005 (it keeps being outpaced by other hosts), and what `decide` throws.
 */
export function writeChallenge<T>(
  deps: ChallengeDeps,
  id: string,
  question: ChallengeQuestion,
  decide: (found: FoundChallenge) => Promise<ChallengeDecision<T>>,
): Promise<T> {
  return deps.challenges.inTurn(id, async () => {
    for (let attempt = 0; ; attempt++) {
      const found = foundChallenge(deps, id, await deps.challenges.find(id, question));
      const { answer, progress, more } = await decide(found);
      const write = await withPromotion(deps, { ...found, progress });
      if (!write) return answer(found.challenge);
      if ((await deps.challenges.commit({ ...write, ...more })) === 'done') return answer(write.after);
      if (attempt === MAX_RETRIES) throw outpaced(id);
      await deps.sleep(Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** attempt) * (0.5 + deps.chance() / 2));
    }
  });
}

/** Throws CHL001 when there is none. */
export function foundChallenge(
  { clock }: { readonly clock: Clock },
  id: string,
  state: ChallengeState,
): FoundChallenge {
  const { challenge } = state;
  if (!challenge) throw unknownChallenge(id);
  const now = Math.max(clock.now(), Date.parse(challenge.updated_at));
  return { ...state, challenge, progress: settleChallenge(begin(challenge), now), at: isoTime(now), now };
}

function outpaced(id: string): CodedError {
  const message = 'Other calls keep changing this challenge: repeat the call';
  return new CodedError('SVC005', { message, field: 'challenge_id', context: { challenge_id: id } });
}
