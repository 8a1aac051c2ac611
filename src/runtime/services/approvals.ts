import type { Approval } from '#contract/registry/approval-api.ts';
import {
  approveRequest,
  type DecideApprovalDeps,
  type DecideApprovalInput,
  type DecidingCall,
  declineRequest,
  withdrawRequest,
} from '#domain/approvals/decide-approval.ts';
import {
  getApproval,
  listApprovals,
  listModelApprovals,
  type ReadApprovalsDeps,
} from '#domain/approvals/read-approvals.ts';
import { requestApproval } from '#domain/approvals/request-approval.ts';
import type { TransitionResult } from '#domain/transitions/apply-transition.ts';
import { deciderOf } from '../authenticate.ts';
import type { GroupHandlers, HandlerRequest } from '../handler.ts';
import { transitionCallOf } from './registry.ts';

/** Requests that another user decides. */
export function approvalHandlers(deps: DecideApprovalDeps & ReadApprovalsDeps): GroupHandlers<'approvals'> {
  return {
    requestApproval: async ({ params, body, ...request }) => {
      const { action, version, reason, due_at, expected_production } = body;
      const requested = await requestApproval(deps, transitionCallOf(request), {
        model: params.model_name,
        action,
        version: textOf(version),
        reason,
        due_at,
        expected_production: textOf(expected_production),
      });
      return { status: 201, ...replayable(requested) };
    },
    listModelApprovals: async ({ params, query: { status, limit, cursor = null } }) => {
      const page = await listModelApprovals(deps, { model: params.model_name, status, limit, cursor });
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    listApprovals: async ({ query: { cursor = null, ...query }, principal }) => {
      const page = await listApprovals(deps, { ...query, cursor, caller: deciderOf(principal) });
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    getApproval: async ({ params }) => ({ status: 200, body: await getApproval(deps, params.approval_id) }),
    approveRequest: async (request) => ({
      status: 200,
      ...replayable(await approveRequest(deps, callOf(request), decisionOf(request))),
    }),
    declineRequest: async (request) => ({
      status: 200,
      ...replayable(await declineRequest(deps, callOf(request), decisionOf(request))),
    }),
    withdrawRequest: async (request) => ({
      status: 200,
      ...replayable(await withdrawRequest(deps, callOf(request), decisionOf(request))),
    }),
  };
}

function callOf(
  request: Pick<HandlerRequest<unknown>, 'principal' | 'headers' | 'correlationId'>,
): DecidingCall {
  return { ...transitionCallOf(request), actor: deciderOf(request.principal) };
}

function decisionOf({
  params,
  body,
}: {
  readonly params: { readonly approval_id: string };
  readonly body: { readonly reason?: string | undefined };
}): DecideApprovalInput {
  return { approval_id: params.approval_id, reason: body.reason };
}

function textOf<T extends null | undefined>(version: string | number | T): string | T {
  return typeof version === 'number' ? String(version) : version;
}

function replayable({ body, replayed }: TransitionResult<Approval>) {
  const headers: Record<string, string> = replayed ? { 'Idempotent-Replay': 'true' } : {};
  return { body, headers };
}
