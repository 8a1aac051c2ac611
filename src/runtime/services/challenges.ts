import {
  AdvanceRequest,
  type Challenge,
  ChallengePromoteRequest,
  ChallengeRequest,
  ChallengeRollbackRequest,
  HoldRequest,
  ResumeRequest,
} from '#contract/challenge-api.ts';
import { TRADE_FIELDS } from '#contract/challenge-trade.ts';
import type { MoveReply } from '#domain/registry/make-move.ts';
import { unknownKeyWarnings } from '#domain/unknown-keys.ts';
import type { Handlers } from '../handler.ts';
import type { ChallengeUseCases } from './challenge-use-cases.ts';
import { ignoredKeys, ignoredOfWaiver, registryCallOf } from './registry.ts';

type ChallengeOperation = keyof ChallengeUseCases;

/** Champion/challenger tests. */
export function challengeHandlers(
  useCases: ChallengeUseCases,
): Pick<Handlers<'strategy'>, ChallengeOperation> {
  return {
    createChallenge: async ({ params, body, ...request }) => {
      const { champion_version, challenger_version } = body;
      const { min_trades, max_duration_hours, enable_canary, max_drawdown_pct, max_errors, approval_stages } =
        body;
      const { analysis_unit, on_rollback, auto_promote } = body;
      const created = await useCases.createChallenge(registryCallOf(request), {
        model: params.model_name,
        champion_version: String(champion_version),
        challenger_version: String(challenger_version),
        ...{ min_trades, max_duration_hours, enable_canary, max_drawdown_pct, max_errors, approval_stages },
        ...{ analysis_unit, on_rollback, auto_promote },
      });
      return { status: 201, ...replayable(created, ignoredKeys(body, ChallengeRequest)) };
    },
    listChallenges: async ({ params, query: { status, limit, cursor = null } }) => {
      const page = await useCases.listChallenges({ model: params.model_name, status, limit, cursor });
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    routeKey: async ({ params, query }) => ({
      status: 200,
      body: await useCases.routeKey({ model: params.model_name, key: query.key }),
    }),
    getChallenge: async ({ params }) => ({
      status: 200,
      body: await useCases.getChallenge(params.challenge_id),
    }),
    assignKey: async ({ params, body }) => ({
      status: 200,
      body: await useCases.assignKey({
        challengeId: params.challenge_id,
        assignmentKey: body.assignment_key,
      }),
    }),
    logTrades: async ({ params, body }) => {
      const { body: logged, isNew } = await useCases.logTrades({ challengeId: params.challenge_id, body });
      return { status: isNew ? 201 : 200, body: { ...logged, warnings: ignoredFields(body) } };
    },
    listChallengeTrades: async ({ params, query: { limit, cursor = null } }) => {
      const page = await useCases.listChallengeTrades({ challengeId: params.challenge_id, limit, cursor });
      const items = page.items.map(
        ({ schema_version: _, challenge_id: __, open_digest: ___, closed_digest: ____, ...trade }) => trade,
      );
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    evaluateChallenge: async ({ params }) => ({
      status: 200,
      body: await useCases.evaluateChallenge(params.challenge_id),
    }),
    listChallengeEvents: async ({ params, query: { limit, cursor = null } }) => {
      const page = await useCases.listChallengeEvents({ challengeId: params.challenge_id, limit, cursor });
      const items = page.items.map(({ schema_version: _, challenge_id: __, ...event }) => event);
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    advanceChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.comment, canaryStage: body.canary_stage };
      const decided = await useCases.advanceChallenge(registryCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, AdvanceRequest)) };
    },
    holdChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.reason };
      const decided = await useCases.holdChallenge(registryCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, HoldRequest)) };
    },
    resumeChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.comment };
      const decided = await useCases.resumeChallenge(registryCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, ResumeRequest)) };
    },
    promoteChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const { comment, waive } = body;
      const input = { challengeId: challenge_id, comment, waive };
      const decided = await useCases.promoteChallenge(registryCallOf(request), input);
      const ignored = [...ignoredKeys(body, ChallengePromoteRequest), ...ignoredOfWaiver(waive)];
      return { status: 200, ...replayable(decided, ignored) };
    },
    rollBackChallenge: async ({ params: { challenge_id }, body, ...request }) => {
      const input = { challengeId: challenge_id, reason: body.reason };
      const decided = await useCases.rollBackChallenge(registryCallOf(request), input);
      return { status: 200, ...replayable(decided, ignoredKeys(body, ChallengeRollbackRequest)) };
    },
  };
}

/** A misspelt limit limits nothing: whoever sent it must hear of it, beside what the challenge itself warns of. */
function replayable({ body, replayed }: MoveReply<Challenge>, ignored: readonly string[]) {
  const headers: Record<string, string> = replayed ? { 'Idempotent-Replay': 'true' } : {};
  return { body: { ...body, warnings: [...body.warnings, ...ignored] }, headers };
}

/** A misspelt field of a trade is no field. */
function ignoredFields(
  body: Readonly<Record<string, unknown>> & { readonly trades?: readonly object[] | undefined },
) {
  if (!body.trades) return unknownKeyWarnings(body, TRADE_FIELDS, '');
  // Fields of a trade beside a list of trades are of none.
  return [
    ...unknownKeyWarnings(body, ['trades'], ''),
    ...body.trades.flatMap((trade, index) =>
      unknownKeyWarnings({ ...trade }, TRADE_FIELDS, `trades.${index}.`),
    ),
  ].slice(0, 20);
}
