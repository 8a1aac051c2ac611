import type { Challenge } from '#contract/registry/challenge-api.ts';
import type {
  ChallengeEvent,
  StoredChallenge,
  StoredEvaluation,
  StoredTrade,
} from '#contract/registry/stored-challenge.ts';
import type { Page } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownChallenge, unknownModel } from '../shared/unknown-resources.ts';
import { applyDeadlines, nextStageRequirements } from './apply-deadlines.ts';
import { changeOf, evaluationOf } from './challenge-change.ts';
import {
  begin,
  closedTrades,
  currentStage,
  isAwaitingPromotion,
  totalOf,
  trafficSplit,
} from './challenge-state.ts';
import type { ChallengeDeps } from './write-challenge.ts';

export type ReadDeps = Pick<ChallengeDeps, 'challenges' | 'clock'>;

/** A challenge with due deadlines applied. Throws CHL001, SVC005. */
export async function readChallenge(deps: ReadDeps, id: string): Promise<StoredChallenge> {
  const challenge = await deps.challenges.read(id);
  if (!challenge) throw unknownChallenge(id);
  return withDeadlinesApplied(deps, challenge);
}

/**
 * Applies due deadlines and stores them before the response: a clock that is set back later cannot undo a returned
 * state. If the write fails, the state with the deadlines applied is returned anyway. For a winner that is promoted
 * automatically, the next write stores its end and its promotion together.
 */
export async function withDeadlinesApplied(
  { challenges, clock }: ReadDeps,
  challenge: StoredChallenge,
): Promise<StoredChallenge> {
  const now = Math.max(clock.now(), Date.parse(challenge.updated_at));
  const change = changeOf(challenge, applyDeadlines(begin(challenge), now), isoTime(now));
  if (!change) return challenge;
  if (isAwaitingPromotion(change.after) && change.after.auto_promote) return change.after;
  // On a write conflict another call has stored the same or more.
  await challenges.commit(change).catch(() => 'conflict');
  return change.after;
}

/** Throws CHL001, SVC005. */
export async function getChallenge(deps: ReadDeps, id: string): Promise<Challenge> {
  return challengeView(await readChallenge(deps, id));
}

/** One page of a model's challenges, newest first. Throws RES002, VAL006, SVC005. */
export async function listChallenges(
  deps: ReadDeps & Pick<ChallengeDeps, 'registry'>,
  input: {
    readonly model: string;
    readonly status?: StoredChallenge['status'] | undefined;
    readonly limit: number;
    readonly cursor: string | null;
  },
): Promise<Page<Challenge>> {
  const { model, status, limit, cursor } = input;
  const now = deps.clock.now();
  const passes = status && ((challenge: StoredChallenge) => statusAt(challenge, now) === status);
  const [page, found] = await Promise.all([
    deps.challenges.list(model, { limit, cursor, passes }),
    deps.registry.read(model, []),
  ]);
  if (!found.model) throw unknownModel(model);
  const items = await Promise.all(page.items.map((challenge) => withDeadlinesApplied(deps, challenge)));
  return { items: items.map(challengeView), next: page.next };
}

/** Status with due deadlines applied. */
export function statusAt(challenge: StoredChallenge, now: number): StoredChallenge['status'] {
  return applyDeadlines(begin(challenge), now).challenge.status;
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

/** One page of a challenge's events, newest first. Throws CHL001, VAL006, SVC005. */
export async function listChallengeEvents(
  { challenges }: Pick<ReadDeps, 'challenges'>,
  { challengeId, limit, cursor }: PageInput,
): Promise<Page<ChallengeEvent>> {
  const page = await challenges.events(challengeId, limit, cursor);
  // Every challenge has at least the event of its creation.
  if (page.items.length === 0 && cursor === null) throw unknownChallenge(challengeId);
  return page;
}

/** One page of a challenge's stored evaluations, oldest first, and the current one. Throws CHL001, VAL006, SVC005. */
export async function listChallengeEvaluations(
  deps: ReadDeps,
  { challengeId, limit, cursor }: PageInput,
): Promise<Page<StoredEvaluation> & { readonly current: StoredEvaluation }> {
  const [page, challenge] = await Promise.all([
    deps.challenges.evaluations(challengeId, limit, cursor),
    readChallenge(deps, challengeId),
  ]);
  return { ...page, current: evaluationOf(challenge, isoTime(deps.clock.now())) };
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
  const { min_hours, min_assignments, require_assignment, misassigned, unassigned, late } = challenge;
  const errors = totalOf(challenge.stages, 'errors');
  const { created_by, created_at, updated_at, ends_at, ended_at, promoted_at } = challenge;
  const { promotion_rejected, warnings } = challenge;
  return {
    challenge_id,
    model_name,
    champion_version,
    challenger_version,
    status,
    canary_stage: currentStage(challenge).canary_stage,
    traffic_split: trafficSplit(challenge),
    next_stage: nextStageRequirements(challenge),
    outcome,
    reason,
    hold,
    enable_canary,
    min_trades,
    effective_min_trades,
    max_duration_hours,
    min_hours,
    min_assignments,
    max_drawdown_pct,
    max_errors,
    approval_stages,
    on_rollback,
    auto_promote,
    require_assignment,
    analysis_unit,
    champion_trades: champion,
    challenger_trades: challenger,
    champion_errors: errors.champion,
    challenger_errors: errors.challenger,
    challenger_drawdown_pct: challenge.equity.drawdown,
    misassigned_trades: misassigned,
    unassigned_trades: unassigned,
    late_trades: late,
    created_by,
    created_at,
    updated_at,
    ends_at,
    ended_at,
    promoted_at,
    promotion_rejected,
    warnings,
  };
}
