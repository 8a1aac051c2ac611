import { assignKey, routeKey } from '#domain/challenges/assign-key.ts';
import {
  advanceChallenge,
  type ControlDeps,
  holdChallenge,
  resumeChallenge,
  rollBackChallenge,
} from '#domain/challenges/control-challenge.ts';
import { type CreateChallengeDeps, createChallenge } from '#domain/challenges/create-challenge.ts';
import { evaluateChallenge } from '#domain/challenges/evaluate-challenge.ts';
import { logTrades } from '#domain/challenges/log-trades.ts';
import { promoteChallenge } from '#domain/challenges/promote-challenge.ts';
import {
  getChallenge,
  listChallengeEvents,
  listChallenges,
  listChallengeTrades,
} from '#domain/challenges/read-challenges.ts';

export type ChallengeDeps = ControlDeps & CreateChallengeDeps;

/** Champion/challenger tests with their dependencies filled in, for any host. */
export function challengeUseCases(deps: ChallengeDeps) {
  return {
    createChallenge: createChallenge.bind(null, deps),
    listChallenges: listChallenges.bind(null, deps),
    routeKey: routeKey.bind(null, deps),
    getChallenge: getChallenge.bind(null, deps),
    assignKey: assignKey.bind(null, deps),
    logTrades: logTrades.bind(null, deps),
    listChallengeTrades: listChallengeTrades.bind(null, deps),
    evaluateChallenge: evaluateChallenge.bind(null, deps),
    listChallengeEvents: listChallengeEvents.bind(null, deps),
    advanceChallenge: advanceChallenge.bind(null, deps),
    holdChallenge: holdChallenge.bind(null, deps),
    resumeChallenge: resumeChallenge.bind(null, deps),
    promoteChallenge: promoteChallenge.bind(null, deps),
    rollBackChallenge: rollBackChallenge.bind(null, deps),
  };
}

export type ChallengeUseCases = ReturnType<typeof challengeUseCases>;
