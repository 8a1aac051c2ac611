import type { Approval } from '#contract/registry/approval-api.ts';
import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import type { StoredModel } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { planRollback, type RollbackModelDeps } from '../registry/rollback-model.ts';
import { type StageVersionDeps, stagingPlan } from '../registry/stage-version.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownApproval, unknownModel } from '../shared/unknown-resources.ts';
import { checkMaxLength, isBlank } from '../shared/validate.ts';
import {
  applyTransition,
  type Decision,
  type IdempotencyRecord,
  type TransitionCall,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import type { ApprovalChange, ApprovalWrite } from '../transitions/approval-store.ts';
import { type FoundVersion, type RequestedVersion, readVersion } from '../transitions/find-version.ts';
import { type PromotionDeps, planPromotion } from '../transitions/plan-promotion.ts';
import { planStop } from '../transitions/plan-stop.ts';
import { stageTransitions } from '../transitions/plan-transition.ts';
import type { StageTransition } from '../transitions/registry-store.ts';
import {
  approvalView,
  checkApproving,
  checkDeclining,
  checkWithdrawing,
  type Decider,
  statusAt,
} from './approval-rules.ts';

export interface DecideApprovalDeps
  extends StageVersionDeps,
    Omit<PromotionDeps, 'stagingChecks'>,
    RollbackModelDeps {}

export interface DecideApprovalInput {
  readonly approval_id: string;
  readonly reason?: string | undefined;
}

/** Call of a user who decides. */
export interface DecidingCall extends TransitionCall {
  readonly actor: Decider;
}

/** An existing request, and the record stored under an Idempotency-Key. */
interface FoundApproval {
  readonly approval: StoredApproval;
  readonly idempotencyRecord: IdempotencyRecord | undefined;
}

/**
 * Approves a request and makes its transition in one transaction, by the rules of a direct one. Where they reject it, nothing changes.
 * Repeated by the same user it returns the approved request.
 * Throws APR001, AUTH004 (own request, four eyes, role, no authentication), RES005 (the rules, another version in Production, a request
 * that has ended), VAL005, DATA005, SVC005.
 */
export async function approveRequest(
  deps: DecideApprovalDeps,
  call: DecidingCall,
  input: DecideApprovalInput,
): Promise<TransitionResult<Approval>> {
  const reason = checkMaxLength(input.reason, 'reason', MAX_NOTE_LENGTH);
  let stage: ReturnType<typeof stagingPlan> | undefined;
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'approveRequest', call, input },
    (key) => findApproval(deps, input.approval_id, key),
    async ({ approval }) => {
      checkApproving(call.actor, approval, deps);
      const now = deps.clock.now();
      if (isRepeated(approval, 'approved', call)) return { body: approvalView(approval, now), write: null };
      checkOpen(approval, now);
      const found = await readVersion(deps.registry, referenceOf(approval));
      checkProduction(approval, found.model);
      stage ??= stagingPlan(deps, call, { comment: approval.reason });
      const write = await transitionOf(approval, found, () =>
        plan(deps, { approval, found, call, stage: stage! }),
      );
      const change = endOf(approval, 'approved', { by: call.actor.id, reason, at: write.event.at });
      return {
        body: approvalView({ ...approval, ...change.set }, now),
        write: withApproval(write, approval, change),
      };
    },
  );
}

/** Declines a request. Throws APR001, AUTH004, VAL004 without a reason, RES005 for a request that has ended, SVC005. */
export function declineRequest(
  deps: DecideApprovalDeps,
  call: DecidingCall,
  input: DecideApprovalInput,
): Promise<TransitionResult<Approval>> {
  if (isBlank(input.reason ?? '')) {
    throw new CodedError('VAL004', {
      message: 'A request is declined with a reason: say what speaks against it',
      field: 'reason',
    });
  }
  return endRequest(deps, call, input, { status: 'declined', check: checkDeclining });
}

/** Withdraws a request. Throws APR001, AUTH005, RES005 for a request that has ended, SVC005. */
export function withdrawRequest(
  deps: DecideApprovalDeps,
  call: DecidingCall,
  input: DecideApprovalInput,
): Promise<TransitionResult<Approval>> {
  return endRequest(deps, call, input, { status: 'withdrawn', check: checkWithdrawing });
}

/** End of a request without its transition. */
interface End {
  readonly status: 'declined' | 'withdrawn';
  readonly check: (caller: Decider, approval: StoredApproval) => void;
}

function endRequest(
  deps: DecideApprovalDeps,
  call: DecidingCall,
  input: DecideApprovalInput,
  { status, check }: End,
): Promise<TransitionResult<Approval>> {
  const reason = checkMaxLength(input.reason, 'reason', MAX_NOTE_LENGTH);
  return applyTransition(
    deps,
    stageTransitions<ApprovalWrite>(deps.registry.approvals),
    { operation: `${status}Request`, call, input },
    (key) => findApproval(deps, input.approval_id, key),
    async ({ approval }) => {
      check(call.actor, approval);
      const now = deps.clock.now();
      if (isRepeated(approval, status, call)) return { body: approvalView(approval, now), write: null };
      checkOpen(approval, now);
      const { model } = await deps.registry.read(approval.model_name, []);
      if (!model) throw unknownModel(approval.model_name);
      const change = endOf(approval, status, { by: call.actor.id, reason, at: isoTime(now) });
      const openApprovals = model.open_approvals.filter(
        ({ approval_id }) => approval_id !== approval.approval_id,
      );
      return {
        body: approvalView({ ...approval, ...change.set }, now),
        write: { model, openApprovals, created: null, changes: [change] },
      };
    },
  );
}

/** The version that changes: for a stop the one that was in Production at the request. */
function referenceOf({ model_name: model, version, expected_production }: StoredApproval): RequestedVersion {
  return { model, version: version ?? expected_production!, field: 'version' };
}

async function findApproval(
  { registry }: Pick<DecideApprovalDeps, 'registry'>,
  id: string,
  key: Parameters<typeof registry.approvals.find>[1],
): Promise<FoundApproval> {
  const { approval, idempotencyRecord } = await registry.approvals.find(id, key);
  if (!approval) throw unknownApproval(id);
  return { approval, idempotencyRecord };
}

/** True when the caller has decided the same before. */
function isRepeated(approval: StoredApproval, status: StoredApproval['status'], { actor }: DecidingCall) {
  return approval.status === status && approval.decided_by === actor.id;
}

/** Throws RES005 with the status of a request that has ended. */
function checkOpen(approval: StoredApproval, now: number): void {
  const status = statusAt(approval, now);
  if (status === 'requested') return;
  const { approval_id, decided_by, decided_at, due_at } = approval;
  const ended = status === 'expired' ? `It expired at ${due_at}` : `It was ${status} by ${decided_by}`;
  throw new CodedError('RES005', {
    message: `The request is not open any more. ${ended}`,
    field: 'approval_id',
    context: { approval_id, status, decided_by, decided_at },
  });
}

/** Throws RES005 when another version is in Production than at the request. A staging does not depend on it. */
function checkProduction(approval: StoredApproval, { production_version: production }: StoredModel): void {
  const { approval_id, action, expected_production } = approval;
  if (action === 'stage' || production === expected_production) return;
  const version = (number: string | null) => (number === null ? 'no version' : `version ${number}`);
  throw new CodedError('RES005', {
    message: `At the request ${version(expected_production)} was in Production, now ${version(production)} is: decline it, or withdraw it and request it again`,
    field: 'expected_production',
    context: {
      approval_id,
      status: 'requested',
      expected_production,
      production,
      current_production: production,
    },
  });
}

interface Planned {
  readonly approval: StoredApproval;
  readonly found: FoundVersion;
  readonly call: DecidingCall;
  /** The checks of a staging run once for all attempts. */
  readonly stage: ReturnType<typeof stagingPlan>;
}

/** The transition of a request, by the rules of a direct one. */
async function plan(
  deps: DecideApprovalDeps,
  { approval, found, call, stage }: Planned,
): Promise<Decision<unknown, StageTransition>> {
  const { reason, expected_production } = approval;
  const { model_name: model, version } = found.version;
  switch (approval.action) {
    case 'stage':
      return stage(found);
    case 'promote':
      return planPromotion(deps, found, {
        call,
        expected_production,
        comment: reason,
        challengeId: null,
        waiver: null,
        challenges: (at) => deps.endChallenges({ model, version, call, at }),
      });
    case 'rollback':
      return planRollback(deps, found, { call, reason, expected_production });
    case 'stop':
      return planStop(deps, found, { call, reason });
  }
}

/** The write of a plan. A rule that rejects it is RES005, and the request stays open. */
async function transitionOf(
  { approval_id, action }: StoredApproval,
  { model, version }: FoundVersion,
  work: () => Promise<Decision<unknown, StageTransition>>,
): Promise<StageTransition> {
  const context = { approval_id, status: 'requested', production: model.production_version };
  const rejected = (message: string, more: Readonly<Record<string, unknown>>) =>
    new CodedError('RES005', { message, field: 'approval_id', context: { ...more, ...context } });
  const decision = await work().catch((error: unknown) => {
    const isRule = error instanceof CodedError && (error.code === 'RES005' || error.code === 'RES006');
    throw isRule ? rejected(error.message, error.context) : error;
  });
  if (decision.write) return decision.write;
  throw rejected(`Version ${version.version} is in ${version.stage} already: withdraw the request`, {
    action,
  });
}

function endOf(
  { approval_id }: StoredApproval,
  status: 'approved' | 'declined' | 'withdrawn',
  { by, reason, at }: { readonly by: string; readonly reason: string | null; readonly at: string },
): ApprovalChange {
  const set = { status, decided_by: by, decided_at: at, decision_reason: reason, written_at: at };
  return { approval_id, set };
}

/** The transition, with the approval in place of the withdrawal of a request whose transition happens otherwise. */
function withApproval(
  { approvals, event, ...write }: StageTransition,
  { approval_id }: StoredApproval,
  change: ApprovalChange,
): StageTransition {
  const others = approvals.filter((each) => each.approval_id !== approval_id);
  const notes = [...event.notes, `approval ${approval_id}`];
  return { ...write, event: { ...event, notes }, approvals: [change, ...others] };
}
