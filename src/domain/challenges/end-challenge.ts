import type { StoredChallenge } from '#contract/stored-challenge.ts';
import type { StoredModel } from '#contract/stored-registry.ts';
import type { RegistryCall } from '../registry/make-move.ts';
import {
  begin,
  changeOf,
  conflict,
  isAwaiting,
  type Progress,
  told,
  unknownChallenge,
} from './challenge-state.ts';
import type { ChallengeChange, ChallengeStore } from './challenge-store.ts';
import { settleChallenge } from './settle-challenge.ts';

/** A move of a model, as far as it decides what becomes of its challenges. */
interface NewProduction {
  readonly call: RegistryCall;
  /** ISO 8601. */
  readonly at: string;
  /** The version that comes into Production. */
  readonly version: string;
  /** The challenge that it won, which must still await its promotion. */
  readonly won?: string | undefined;
}

/**
 * What another version in Production makes of a model's challenges, for the transaction that brings it there: the active
 * one ends, promoted when it is the challenger's and rolled back otherwise; one that awaits its promotion is promoted, or
 * given up when it is neither of its versions.
 * Throws CHL001, RES005 when the challenge that is said to be won is not.
 */
export async function challengesEndedBy(
  challenges: Pick<ChallengeStore, 'latest' | 'read'>,
  { model_name }: StoredModel,
  production: NewProduction,
): Promise<ChallengeChange[]> {
  const { won } = production;
  const [latest, named] = await Promise.all([
    challenges.latest(model_name),
    won === undefined ? undefined : challenges.read(won),
  ]);
  if (won !== undefined && !named) throw unknownChallenge(won);
  const all = named && named.challenge_id !== latest?.challenge_id ? [latest, named] : [latest];
  return all
    .filter((challenge) => challenge !== undefined)
    .map((challenge) => changeOf(challenge, ended(challenge, production), production.at))
    .filter((change) => change !== null);
}

function ended(stored: StoredChallenge, production: NewProduction): Progress {
  const progress = settleChallenge(begin(stored), Date.parse(production.at));
  const { challenge } = progress;
  const { at, version, won, call } = production;
  const by = { at, actor: call.actor.id, correlationId: call.correlationId };
  const isChallenger = challenge.challenger_version === version;
  if (isAwaiting(challenge) && isChallenger) {
    return told(progress, { promoted_at: at }, { action: 'promote', ...by });
  }
  if (challenge.challenge_id === won) throw conflict(challenge, 'The challenge does not await a promotion');
  // Its own champion in Production is what its promotion may have waited for.
  if (isAwaiting(challenge) && version !== challenge.champion_version) {
    const reason = 'champion_replaced';
    return told(progress, { outcome: 'champion_kept', reason }, { action: 'keep_champion', reason, ...by });
  }
  if (challenge.status !== 'active') return progress;
  const end = { ended_at: at, hold: null };
  if (!isChallenger) {
    const fields = { ...end, status: 'rolled_back', reason: 'champion_replaced' } as const;
    return told(progress, fields, { action: 'roll_back', reason: 'champion_replaced', ...by });
  }
  const fields = { ...end, status: 'completed', outcome: 'promoted_manually', promoted_at: at } as const;
  return told(progress, fields, { action: 'promote', reason: 'promoted_manually', ...by });
}
