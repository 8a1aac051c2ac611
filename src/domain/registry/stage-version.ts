import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type { StageResult } from '#contract/registry/registry-api.ts';
import type { WaiveRequest } from '#contract/registry/release-policy.ts';
import type { StoredVersion, Validation } from '#contract/registry/stored-registry.ts';
import type { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { checkMaxLength } from '../shared/validate.ts';
import {
  applyTransition,
  type Decision,
  type TransitionCall,
  type TransitionDeps,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import {
  plainCheck,
  type StagingChecks,
  statusOf,
  TASK_CHECKS,
  warningsFor,
} from '../transitions/check-status.ts';
import { existing, type FoundVersion, lookUpVersion, rejection } from '../transitions/find-version.ts';
import { nextTimestamp, planTransition, stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore, StageTransition } from '../transitions/registry-store.ts';
import {
  checkPolicy,
  needlessWaivers,
  type RequestedWaiver,
  readWaiver,
  waiverNotes,
  waiverOf,
  withWaiver,
} from '../transitions/release-policy.ts';
import { type CheckListDeps, runCheckList } from './validation-checks.ts';

export interface StageVersionDeps extends TransitionDeps, CheckListDeps {
  readonly registry: RegistryStore;
  /** Null if no task can run the checks. */
  readonly stagingChecks: StagingChecks | null;
}

export interface StageVersionInput {
  readonly model: string;
  /** A number or an alias. */
  readonly version: string;
  readonly comment?: string | undefined;
  /** Runs the check list and changes nothing. */
  readonly validate_only?: boolean | undefined;
  /** Admins only. The release policy still applies. */
  readonly skip_validation?: boolean | undefined;
  /** Admins only. */
  readonly waive?: WaiveRequest | undefined;
}

/**
 * Moves a version from None to Staging when its check list and the release policy pass. A version that is in Staging
 * already is not changed.
 * Throws RES002, RES003, RES005 (in Production, or a check failed: `context.checks`), RES006 (archived), VAL004 and
 * VAL005 (the waiver), DATA005, SVC005.
 */
export async function stageVersion(
  deps: StageVersionDeps,
  call: TransitionCall,
  input: StageVersionInput,
): Promise<TransitionResult<StageResult>> {
  const { model, version } = input;
  const reference = { model, version, field: 'version', modelField: 'name' };
  const plan = stagingPlan(deps, call, input);
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'stageVersion', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    (state) => plan(existing(reference, state)),
  );
}

/** Decision about the staging of a version as it was read, under the rules of {@link stageVersion}. Throws as that. */
export function stagingPlan(
  deps: StageVersionDeps,
  call: TransitionCall,
  input: Omit<StageVersionInput, 'model' | 'version'>,
): (found: FoundVersion) => Promise<Decision<StageResult, StageTransition>> {
  const comment = checkMaxLength(input.comment, 'comment', MAX_NOTE_LENGTH);
  const requested = readWaiver(input.waive);
  const { validate_only: validateOnly = false } = input;
  const validate = onceFor((found: StoredVersion) => validation(deps, call, { ...input, requested }, found));
  return async (found) => {
    if (found.version.stage === 'Staging') return { body: unchanged(found.version, requested), write: null };
    checkStage(found);
    const validated = await validate(found.version);
    const at = nextTimestamp(deps, found.model);
    const waiver = waiverOf('stage', validated.checks, requested, { call, at });
    const warnings = needlessWaivers(requested, waiver);
    if (validateOnly) return { body: checked(found.version, validated, warnings), write: null };
    if (validated.status === 'failed') throw failedChecks(found, validated);
    const staged: StoredVersion = {
      ...found.version,
      stage: 'Staging',
      validation: await withTask(deps, call, found.version, validated),
      staged_at: at,
      updated_at: at,
      waivers: [...found.version.waivers, ...(waiver ? [waiver] : [])],
    };
    const notes = [...warningsFor(staged.validation), ...waiverNotes(waiver)];
    const change = { action: 'stage', call, at, before: found.version, version: staged } as const;
    return {
      body: done(staged, notes, warnings),
      write: planTransition(deps, found.model, { ...change, reason: comment, notes, waiver }),
    };
  };
}

/** Memoizes the result for the last version. */
function onceFor<T>(work: (version: StoredVersion) => Promise<T>): (version: StoredVersion) => Promise<T> {
  let known: { readonly number: string; readonly result: Promise<T> } | undefined;
  return (version) => {
    if (known?.number !== version.version) known = { number: version.version, result: work(version) };
    return known.result;
  };
}

function checkStage(found: FoundVersion): void {
  const { stage, version } = found.version;
  if (stage === 'Archived') {
    throw rejection(
      'RES006',
      found,
      `Version ${version} is in stage Archived. Roll back to it, or register its backtest again`,
    );
  }
  if (stage === 'Production') {
    throw rejection(
      'RES005',
      found,
      `Version ${version} is in Production. Promote another version to replace it`,
    );
  }
}

async function validation(
  deps: StageVersionDeps,
  call: TransitionCall,
  input: Omit<StageVersionInput, 'model' | 'version'> & { readonly requested: RequestedWaiver | null },
  version: StoredVersion,
): Promise<Validation> {
  const policy = checkPolicy(deps.releasePolicy, version, deps.clock.now());
  const list = input.skip_validation
    ? [plainCheck('thresholds', 'skipped', `Skipped by ${call.actor.id}`)]
    : await runCheckList(deps, version, call.correlationId);
  const checks = [...list, ...withWaiver(policy, input.requested, call)];
  const isStaged = !input.validate_only && statusOf(checks) !== 'failed';
  const all = [...checks, ...taskChecks(deps, input, isStaged)];
  return { status: statusOf(input.validate_only ? checks : all), checks: all, job_id: null };
}

/**
 * Checks that run in a task after a version is staged. With `skip_validation` they run only if the release policy requires the
 * look-ahead certificate for a promotion.
 */
function taskChecks(
  { stagingChecks, releasePolicy }: StageVersionDeps,
  input: Pick<StageVersionInput, 'skip_validation'>,
  isStaged: boolean,
): ValidationCheck[] {
  if (input.skip_validation && !releasePolicy.lookAheadCertificate) return [];
  const all = (status: ValidationCheck['status'], message: string) =>
    TASK_CHECKS.map((name) => plainCheck(name, status, message));
  if (!stagingChecks) return all('skipped', 'No task can run it here');
  return isStaged ? all('pending', 'A task runs it') : all('skipped', 'Runs when the version is staged');
}

/** Starts the task that the pending checks wait for. */
async function withTask(
  { stagingChecks }: StageVersionDeps,
  call: TransitionCall,
  version: StoredVersion,
  validated: Validation,
): Promise<Validation> {
  if (validated.status !== 'pending' || !stagingChecks) return validated;
  return { ...validated, job_id: await stagingChecks.start(version, call.correlationId) };
}

function failedChecks(found: FoundVersion, { checks }: Validation): CodedError {
  const failed = checks.filter(({ status }) => status === 'failed');
  const reasons = failed.map(({ name, message }) => `${name}: ${message}`).join('; ');
  return rejection('RES005', found, `Version ${found.version.version} was not staged. ${reasons}`, {
    checks,
  });
}

function done(version: StoredVersion, remarks: readonly string[], warnings: string[]): StageResult {
  const remark = remarks.join(', ') || 'validation passed';
  return resultOf(version, 'None', `Version ${version.version} is in Staging (${remark}).`, warnings);
}

function unchanged(version: StoredVersion, requested: RequestedWaiver | null): StageResult {
  const message = `Version ${version.version} is in Staging already.`;
  return resultOf(version, 'Staging', message, needlessWaivers(requested, null));
}

function checked(version: StoredVersion, validated: Validation, warnings: string[]): StageResult {
  const fails = validated.status === 'failed';
  const message = `Version ${version.version} was checked and not changed: it would ${fails ? 'not ' : ''}be staged.`;
  return {
    ...resultOf({ ...version, validation: validated }, version.stage, message, warnings),
    success: !fails,
  };
}

function resultOf(
  version: StoredVersion,
  previous: StageResult['previous_stage'],
  message: string,
  warnings: string[] = [],
): StageResult {
  return {
    success: true,
    message,
    previous_stage: previous,
    new_stage: version.stage,
    model_name: version.model_name,
    version: version.version,
    validation: version.validation,
    warnings,
  };
}
