import { CodedError } from '#contract/errors.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import type { Digest } from '#engine/digest.ts';
import type { Random } from '#engine/random.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { begin, changeOf, type Progress } from './challenge-state.ts';
import type { ChallengeQuestion, ChallengeState, ChallengeStore, ChallengeWrite } from './challenge-store.ts';
import { settleChallenge } from './settle-challenge.ts';

export interface ChallengeDeps {
  readonly challenges: ChallengeStore;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly chance: Random;
  readonly sleep: (ms: number) => Promise<unknown>;
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
  readonly body: T;
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
      const { body, progress, more } = await decide(found);
      const change = changeOf(found.challenge, progress, found.at);
      if (!change || (await deps.challenges.commit({ ...change, ...more })) === 'done') return body;
      if (attempt === MAX_RETRIES) throw outpaced(id);
      await deps.sleep(Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** attempt) * (0.5 + deps.chance() / 2));
    }
  });
}

/** Throws CHL001 when there is none. */
export function foundChallenge(
  { clock }: Pick<ChallengeDeps, 'clock'>,
  id: string,
  state: ChallengeState,
): FoundChallenge {
  const { challenge } = state;
  if (!challenge) throw unknownChallenge(id);
  const now = Math.max(clock.now(), Date.parse(challenge.updated_at));
  return { ...state, challenge, progress: settleChallenge(begin(challenge), now), at: isoTime(now), now };
}

/** There is no challenge of that id. */
export function unknownChallenge(id: string, field = 'challenge_id'): CodedError {
  return new CodedError('CHL001', { field, context: { challenge_id: id.slice(0, 100) } });
}

function outpaced(id: string): CodedError {
  const message = 'Other calls keep changing this challenge: repeat the call';
  return new CodedError('SVC005', { message, field: 'challenge_id', context: { challenge_id: id } });
}
