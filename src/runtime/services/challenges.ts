import {
  AdvanceRequest,
  type Challenge,
  ChallengePromoteRequest,
  ChallengeRequest,
  ChallengeRollbackRequest,
  HoldRequest,
  ResumeRequest,
} from '#contract/registry/challenge-api.ts';
import { TRADE_FIELDS } from '#contract/registry/challenge-trade.ts';
import type { StoredEvaluation } from '#contract/registry/stored-challenge.ts';
import { assignKey, routeKey } from '#domain/challenges/assign-key.ts';
import {
  advanceChallenge,
  holdChallenge,
  promoteChallenge,
  resumeChallenge,
  rollBackChallenge,
} from '#domain/challenges/control-challenge.ts';
import { type CreateChallengeDeps, createChallenge } from '#domain/challenges/create-challenge.ts';
import { evaluateChallenge } from '#domain/challenges/evaluate-challenge.ts';
import { type ListAllChallengesDeps, listAllChallenges } from '#domain/challenges/list-all-challenges.ts';
import { logTrades } from '#domain/challenges/log-trades.ts';
import {
  getChallenge,
  listChallengeEvaluations,
  listChallengeEvents,
  listChallenges,
  listChallengeTrades,
} from '#domain/challenges/read-challenges.ts';
import { unknownKeyWarnings } from '#domain/shared/unknown-keys.ts';
import type { TransitionResult } from '#domain/transitions/apply-transition.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { ignoredKeys, ignoredOfWaiver, transitionCallOf } from './registry.ts';

/** Champion/challenger tests. Long because it is the table of their handlers. */
export function challengeHandlers(
  deps: CreateChallengeDeps & ListAllChallengesDeps,
): GroupHandlers<'challenges'> {
  return {
    createChallenge: async ({ params, body, ...request }) => {
      const { champion_version, challenger_version } = body;
      const { min_trades, max_duration_hours, enable_canary, max_drawdown_pct, max_errors, approval_stages } =
        body;
      const { analysis_unit, on_rollback, auto_promote, require_assignment } = body;
      const created = await createChallenge(deps, transitionCallOf(request), {
        model: params.model_name,
        champion_version: String(champion_version),
        challenger_version: String(challenger_version),
        min_trades,
        max_duration_hours,
        enable_canary,
        max_drawdown_pct,
        max_errors,
        approval_stages,
        analysis_unit,
        on_rollback,
        auto_promote,
        require_assignment,
      });
      return { status: 201, ...replayable(created, ignoredKeys(body, ChallengeRequest)) };
    },
    listChallenges: async ({ params, query: { status, limit, cursor = null } }) => {
      const page = await listChallenges(deps, { model: params.model_name, status, limit, cursor });
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    listAllChallenges: async ({ query: { status, limit, cursor = null }, principal }) => {
      const page = await listAllChallenges(deps, { caller: callerOf(principal), status, limit, cursor });
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    routeKey: async ({ params, query }) => ({
      status: 200,
      body: await routeKey(deps, { model: params.model_name, key: query.key }),
    }),
    getChallenge: async ({ params }) => ({
      status: 200,
      body: await getChallenge(deps, params.challenge_id),
    }),
    assignKey: async ({ params, body }) => ({
      status: 200,
      body: await assignKey(deps, {
        challengeId: params.challenge_id,
        assignmentKey: body.assignment_key,
      }),
    }),
    logTrades: async ({ params, body }) => {
      const { body: logged, isNew } = await logTrades(deps, { challengeId: params.challenge_id, body });
      return { status: isNew ? 201 : 200, body: { ...logged, warnings: ignoredFields(body) } };
    },
    listChallengeTrades: async ({ params, query: { limit, cursor = null } }) => {
      const page = await listChallengeTrades(deps, { challengeId: params.challenge_id, limit, cursor });
      const items = page.items.map(
        ({ schema_version: _, challenge_id: __, open_digest: ___, closed_digest: ____, ...trade }) => trade,
      );
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    evaluateChallenge: async ({ params }) => ({
      status: 200,
      body: await evaluateChallenge(deps, params.challenge_id),
    }),
    listChallengeEvaluations: async ({ params, query: { limit, cursor = null } }) => {
      const input = { challengeId: params.challenge_id, limit, cursor };
      const { items, next, current } = await listChallengeEvaluations(deps, input);
      const { sequence: _, ...shown } = evaluationView(current);
      return { status: 200, body: { items: items.map(evaluationView), next_cursor: next, current: shown } };
    },
    listChallengeEvents: async ({ params, query: { limit, cursor = null } }) => {
      const page = await listChallengeEvents(deps, { challengeId: params.challenge_id, limit, cursor });
      const items = page.items.map(
        ({ schema_version: _, challenge_id: __, written_at: ___, ...event }) => event,
      );
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    advanceChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.comment, canaryStage: body.canary_stage };
      const decided = await advanceChallenge(deps, transitionCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, AdvanceRequest)) };
    },
    holdChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.reason };
      const decided = await holdChallenge(deps, transitionCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, HoldRequest)) };
    },
    resumeChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.comment };
      const decided = await resumeChallenge(deps, transitionCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, ResumeRequest)) };
    },
    promoteChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const { comment, waive } = body;
      const input = { challengeId: challenge_id, comment, waive };
      const decided = await promoteChallenge(deps, transitionCallOf(request), input);
      const ignored = [...ignoredKeys(body, ChallengePromoteRequest), ...ignoredOfWaiver(waive)];
      return { status: 200, ...replayable(decided, ignored) };
    },
    rollBackChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.reason };
      const decided = await rollBackChallenge(deps, transitionCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, ChallengeRollbackRequest)) };
    },
  };
}

function evaluationView({ schema_version: _, challenge_id: __, ...evaluation }: StoredEvaluation) {
  const { equity, champion_trades, challenger_trades } = evaluation;
  const mean = (sum: number, trades: number) => (trades > 0 ? sum / trades : null);
  return {
    ...evaluation,
    mean: {
      champion: mean(equity.champion, champion_trades),
      challenger: mean(equity.challenger, challenger_trades),
    },
  };
}

/** Response with a warning for each unknown key of the request: a misspelled limit has no effect. */
function replayable({ body, replayed }: TransitionResult<Challenge>, ignored: readonly string[]) {
  const headers: Record<string, string> = replayed ? { 'Idempotent-Replay': 'true' } : {};
  return { body: { ...body, warnings: [...body.warnings, ...ignored] }, headers };
}

/** Warnings for unknown fields of trades. */
function ignoredFields(
  body: Readonly<Record<string, unknown>> & { readonly trades?: readonly object[] | undefined },
) {
  if (!body.trades) return unknownKeyWarnings(body, TRADE_FIELDS, '');
  // Fields next to `trades` belong to no trade.
  return [
    ...unknownKeyWarnings(body, ['trades'], ''),
    ...body.trades.flatMap((trade, index) =>
      unknownKeyWarnings({ ...trade }, TRADE_FIELDS, `trades.${index}.`),
    ),
  ].slice(0, 20);
}
