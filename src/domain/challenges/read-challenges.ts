import type { Challenge } from '#contract/challenge-api.ts';
import type { ChallengeEvent, StoredChallenge, StoredTrade } from '#contract/stored-challenge.ts';
import type { Page } from '../ports.ts';
import { unknownModel } from '../registry/find-version.ts';
import type { RegistryStore } from '../registry/registry-store.ts';
import {
  begin,
  closedTrades,
  currentStage,
  totalOf,
  trafficSplit,
  unknownChallenge,
} from './challenge-state.ts';
import { awaitedStage, settleChallenge } from './settle-challenge.ts';
import type { ChallengeDeps } from './write-challenge.ts';

type ReadDeps = Pick<ChallengeDeps, 'challenges' | 'clock'>;

/** A challenge as it is now: what is due by time is seen before it is stored. Throws CHL001, SVC005. */
export async function readChallenge({ challenges, clock }: ReadDeps, id: string): Promise<StoredChallenge> {
  const challenge = await challenges.read(id);
  if (!challenge) throw unknownChallenge(id);
  return settleChallenge(begin(challenge), clock.now()).challenge;
}

/** Throws CHL001, SVC005. */
export async function getChallenge(deps: ReadDeps, id: string): Promise<Challenge> {
  return challengeView(await readChallenge(deps, id));
}

/** One page of a model's challenges, newest first. Throws RES002, VAL006, SVC005. */
export async function listChallenges(
  { challenges, registry, clock }: ReadDeps & { readonly registry: RegistryStore },
  input: {
    readonly model: string;
    readonly status?: StoredChallenge['status'] | undefined;
    readonly limit: number;
    readonly cursor: string | null;
  },
): Promise<Page<Challenge>> {
  const { model, status, limit, cursor } = input;
  const now = clock.now();
  const settled = (challenge: StoredChallenge) => settleChallenge(begin(challenge), now).challenge;
  const passes = status && ((challenge: StoredChallenge) => settled(challenge).status === status);
  const [page, found] = await Promise.all([
    challenges.list(model, { limit, cursor, passes }),
    registry.read(model, []),
  ]);
  if (!found.model) throw unknownModel(model);
  return { items: page.items.map((challenge) => challengeView(settled(challenge))), next: page.next };
}

/** One page of the trades, last logged first. Throws CHL001, VAL006, SVC005. */
export async function listChallengeTrades(
  { challenges }: Pick<ReadDeps, 'challenges'>,
  { challengeId, limit, cursor }: PageInput,
): Promise<Page<StoredTrade>> {
  const [page, challenge] = await Promise.all([
    challenges.trades(challengeId, limit, cursor),
    challenges.read(challengeId),
  ]);
  if (!challenge) throw unknownChallenge(challengeId);
  return page;
}

/** One page of what happened, newest first. Throws CHL001, VAL006, SVC005. */
export async function listChallengeEvents(
  { challenges }: Pick<ReadDeps, 'challenges'>,
  { challengeId, limit, cursor }: PageInput,
): Promise<Page<ChallengeEvent>> {
  const page = await challenges.events(challengeId, limit, cursor);
  // Every challenge has the event of its creation.
  if (page.items.length === 0 && cursor === null) throw unknownChallenge(challengeId);
  return page;
}

interface PageInput {
  readonly challengeId: string;
  readonly limit: number;
  readonly cursor: string | null;
}

/** A challenge as callers see it. */
export function challengeView(challenge: StoredChallenge): Challenge {
  const { champion, challenger } = closedTrades(challenge);
  const { challenge_id, model_name, champion_version, challenger_version, status, outcome } = challenge;
  const { reason, hold, enable_canary, min_trades, effective_min_trades, max_duration_hours } = challenge;
  const { max_drawdown_pct, max_errors, approval_stages, on_rollback, auto_promote, analysis_unit } =
    challenge;
  const { misassigned, late } = challenge;
  const errors = totalOf(challenge.stages, 'errors');
  const { created_by, created_at, updated_at, ends_at, ended_at, promoted_at } = challenge;
  const { promotion_refused, warnings } = challenge;
  return {
    ...{ challenge_id, model_name, champion_version, challenger_version, status },
    canary_stage: currentStage(challenge).canary_stage,
    traffic_split: trafficSplit(challenge),
    next_stage: awaitedStage(challenge),
    ...{ outcome, reason, hold, enable_canary, min_trades, effective_min_trades, max_duration_hours },
    ...{ max_drawdown_pct, max_errors, approval_stages, on_rollback, auto_promote, analysis_unit },
    ...{ champion_trades: champion, challenger_trades: challenger },
    ...{ champion_errors: errors.champion, challenger_errors: errors.challenger },
    challenger_drawdown_pct: challenge.equity.drawdown,
    ...{ misassigned_trades: misassigned, late_trades: late },
    ...{ created_by, created_at, updated_at, ends_at, ended_at, promoted_at, promotion_refused, warnings },
  };
}
