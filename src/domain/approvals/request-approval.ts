import type { Approval } from '#contract/registry/approval-api.ts';
import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import type { StoredModel } from '#contract/registry/stored-registry.ts';
import {
  APPROVAL_ACTIONS,
  APPROVAL_ID_PREFIX,
  APPROVAL_LIMITS,
  type ApprovalAction,
} from '#contract/values/approval-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import { checkMaxLength, checkOneOf, isBlank } from '../shared/validate.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionDeps,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import {
  checkExpectedProduction,
  existing,
  type FoundVersion,
  lookUpVersion,
  rejection,
} from '../transitions/find-version.ts';
import { nextTimestamp, stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { rollbackTarget } from '../transitions/rollback-target.ts';
import { approvalView } from './approval-rules.ts';

export interface RequestApprovalDeps extends TransitionDeps {
  readonly registry: RegistryStore;
}

export interface RequestApprovalInput {
  readonly model: string;
  readonly action: string;
  /** A number or an alias; not for `stop`. Default of a rollback: the version before. */
  readonly version?: string | undefined;
  readonly reason: string;
  /** Default: in 7 days. */
  readonly due_at?: string | undefined;
  /** Default: the version in Production now. */
  readonly expected_production?: string | null | undefined;
}

/**
 * Stores a request for a transition that another user approves. A model has one open request per action and version.
 * Throws VAL004 (no reason or version), VAL005, RES002, RES003, RES005 (an open request, the transition has happened, another version in
 * Production than expected), RES006 (archived), SVC005.
 */
export async function requestApproval(
  deps: RequestApprovalDeps,
  call: TransitionCall,
  input: RequestApprovalInput,
): Promise<TransitionResult<Approval>> {
  const action = checkOneOf(input.action, 'action', APPROVAL_ACTIONS);
  const reason = checkMaxLength(input.reason, 'reason', MAX_NOTE_LENGTH)!;
  if (isBlank(reason)) {
    throw new CodedError('VAL004', {
      message: 'A request needs a reason: say why it should happen',
      field: 'reason',
    });
  }
  const { model } = input;
  const version = requestedVersion(action, input.version);
  const reference = version === null ? null : { model, version, field: 'version' };
  return applyTransition(
    deps,
    stageTransitions(deps.registry.approvals),
    { operation: 'requestApproval', call, input },
    async (key) =>
      reference
        ? lookUpVersion(deps.registry, reference, key)
        : { ...(await deps.registry.read(model, [], key)), version: undefined },
    async (state) => {
      if (action === 'stop' && state.model?.production_version === null) throw nothingToStop(state.model);
      const found = reference ? existing(reference, state) : await versionBefore(deps, model, state.model);
      checkExpectedProduction(found.model, input.expected_production);
      checkAction(action, found);
      const at = nextTimestamp(deps, found.model);
      const created: StoredApproval = {
        schema_version: 1,
        approval_id: `${APPROVAL_ID_PREFIX}${deps.ids.ulid()}`,
        model_name: model,
        action,
        version: action === 'stop' ? null : found.version.version,
        status: 'requested',
        reason,
        requested_by: call.actor.id,
        requested_at: at,
        due_at: dueTime(input.due_at, deps.clock.now()),
        decided_by: null,
        decided_at: null,
        decision_reason: null,
        expected_production: found.model.production_version,
        registered_by: found.version.created_by,
        written_at: at,
      };
      const openApprovals = withRequest(found.model, created);
      return {
        body: approvalView(created, deps.clock.now()),
        write: { model: found.model, openApprovals, created, changes: [] },
      };
    },
  );
}

/**
 * Version of a request: of a stop the one in Production; null for a rollback to the version before. Throws VAL004 without one, VAL005 for
 * one of a stop.
 */
function requestedVersion(action: ApprovalAction, version: string | undefined): string | null {
  if (action === 'stop' && version !== undefined) {
    throw new CodedError('VAL005', {
      message: 'A stop is of the version in Production: leave out version, or pass it as expected_production',
      field: 'version',
      context: { value: version.slice(0, 100) },
    });
  }
  if (action === 'stop') return 'champion';
  if (version !== undefined) return version;
  if (action === 'rollback') return null;
  throw new CodedError('VAL004', {
    message: `A request to ${action} names a version: pass version`,
    field: 'version',
  });
}

/** The version to which a rollback without a version returns. Throws RES002, RES005, SVC005. */
async function versionBefore(
  { registry }: RequestApprovalDeps,
  name: string,
  model: StoredModel | undefined,
): Promise<FoundVersion> {
  if (!model) throw unknownModel(name);
  return { model, version: await rollbackTarget(registry, model) };
}

function nothingToStop({ model_name }: StoredModel): CodedError {
  return new CodedError('RES005', {
    message: `No version of ${model_name} is in Production: there is nothing to stop`,
    field: 'model_name',
    context: { model_name, current_production: null },
  });
}

/** Time at which a request expires, ISO 8601. Throws VAL005. */
function dueTime(given: string | undefined, now: number): string {
  const { min, max, default: standard } = APPROVAL_LIMITS.due;
  if (given === undefined) return isoTime(now + standard);
  const due = parseTime(given);
  if (due !== undefined && due >= now + min && due <= now + max) return isoTime(due);
  const [earliest, latest] = [isoTime(now + min), isoTime(now + max)];
  throw new CodedError('VAL005', {
    message: `due_at must be a time from one minute to 30 days from now: ${ACCEPTED_TIMES}`,
    field: 'due_at',
    context: { value: given.slice(0, 100), min: earliest, max: latest },
  });
}

/** Throws RES005 where the transition has happened, RES006 where it cannot happen any more. */
function checkAction(action: ApprovalAction, found: FoundVersion): void {
  const { stage, version } = found.version;
  if (action === 'stop') return;
  const isThere = stage === (action === 'stage' ? 'Staging' : 'Production');
  if (isThere || (action === 'stage' && stage === 'Production')) {
    throw rejection(
      'RES005',
      found,
      `Version ${version} is in ${stage} already: there is nothing to approve`,
    );
  }
  if (action !== 'rollback' && stage === 'Archived') {
    throw rejection('RES006', found, `Version ${version} is in stage Archived. Request a rollback to it`);
  }
}

/** Open requests of the model with a new one. Throws RES005 for a second one of the same transition, and beyond the limit. */
function withRequest(model: StoredModel, created: StoredApproval): StoredModel['open_approvals'] {
  const { approval_id, action, version, due_at, requested_at } = created;
  const open = model.open_approvals.filter((each) => each.due_at > requested_at);
  const same = open.find((each) => each.action === action && each.version === version);
  if (same) {
    throw new CodedError('RES005', {
      message: `Request ${same.approval_id} is open for this: decide about it, or withdraw it`,
      field: 'version',
      context: { model_name: model.model_name, ...same, status: 'requested' },
    });
  }
  if (open.length >= APPROVAL_LIMITS.open) {
    throw new CodedError('RES005', {
      message: `The model has ${open.length} open requests, the most that it may have: decide about one, or withdraw one`,
      field: 'model_name',
      context: { model_name: model.model_name, count: open.length, max: APPROVAL_LIMITS.open },
    });
  }
  return [...open, { approval_id, action, version, due_at }];
}
