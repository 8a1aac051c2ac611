import type { CodedError } from '#contract/errors.ts';
import type { StageReply } from '#contract/registry-api.ts';
import type { StoredVersion, Validation } from '#contract/stored-registry.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import { checkText } from '../validate.ts';
import { type CheckListDeps, runCheckList } from './check-list.ts';
import { existing, type FoundVersion, lookUpVersion } from './find-version.ts';
import { type Decision, type MoveDeps, type MoveReply, makeMove, type RegistryCall } from './make-move.ts';
import { momentAfter, planMove } from './plan-move.ts';
import { refusal } from './refuse-move.ts';
import type { StagingChecks } from './staging-checks.ts';
import { plainCheck, remarksOn, statusOf, TASK_CHECKS } from './validation.ts';

export interface StageVersionDeps extends MoveDeps, CheckListDeps {
  /** Null where no task can run them. */
  readonly stagingChecks: StagingChecks | null;
}

export interface StageVersionInput {
  readonly model: string;
  /** A number or an alias. */
  readonly version: string;
  readonly comment?: string | undefined;
  /** Runs the check list and changes nothing. */
  readonly validate_only?: boolean | undefined;
  /** Admins alone. */
  readonly skip_validation?: boolean | undefined;
}

export const MAX_COMMENT = 2000;

/**
 * Moves a version from None to Staging when its check list holds; one that is in Staging already stays as it is.
 * Throws RES002, RES003, RES005 (in Production, or a check failed: `context.checks`), RES006 (archived), VAL005,
 * DATA005, SVC005.
 */
export async function stageVersion(
  deps: StageVersionDeps,
  call: RegistryCall,
  input: StageVersionInput,
): Promise<MoveReply<StageReply>> {
  const comment = checkText(input.comment, 'comment', MAX_COMMENT);
  const { model, version, validate_only: validateOnly = false } = input;
  const reference = { model, version, field: 'version', modelField: 'name' };
  const validate = onceFor((found: StoredVersion) => validation(deps, call, input, found));
  return makeMove(
    deps,
    { operation: 'stageVersion', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    async (state): Promise<Decision<StageReply>> => {
      const found = existing(reference, state);
      if (found.version.stage === 'Staging') return { body: unchanged(found.version), move: null };
      checkStage(found);
      const validated = await validate(found.version);
      if (validateOnly) return { body: checked(found.version, validated), move: null };
      if (validated.status === 'failed') throw failedChecks(found, validated);
      const at = momentAfter(deps, found.model);
      const staged: StoredVersion = {
        ...found.version,
        stage: 'Staging',
        validation: await withTask(deps, call, found.version, validated),
        staged_at: at,
        updated_at: at,
      };
      const notes = remarksOn(staged.validation);
      const change = { action: 'stage', call, at, before: found.version, version: staged } as const;
      return {
        body: done(staged, notes),
        move: planMove(deps, found.model, { ...change, reason: comment, notes }),
      };
    },
  );
}

/** The result for one version, however often it is asked for. */
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
    throw refusal(
      'RES006',
      found,
      `Version ${version} is archived: roll back to it, or register its backtest again`,
    );
  }
  if (stage === 'Production') {
    throw refusal('RES005', found, `Version ${version} is in Production: staging it would leave none there`);
  }
}

async function validation(
  deps: StageVersionDeps,
  call: RegistryCall,
  input: StageVersionInput,
  version: StoredVersion,
): Promise<Validation> {
  if (input.skip_validation) {
    const checks = [plainCheck('thresholds', 'skipped', `Skipped by ${call.actor.id}`)];
    return { status: statusOf(checks), checks, job_id: null };
  }
  const checks = await runCheckList(deps, version, call.correlationId);
  const all = [...checks, ...taskChecks(deps, input)];
  return { status: statusOf(input.validate_only ? checks : all), checks: all, job_id: null };
}

/** They run when a version is staged, where a task can run them. */
function taskChecks({ stagingChecks }: StageVersionDeps, input: StageVersionInput): ValidationCheck[] {
  const all = (status: ValidationCheck['status'], message: string) =>
    TASK_CHECKS.map((name) => plainCheck(name, status, message));
  if (!stagingChecks) return all('skipped', 'No task can run it here');
  return input.validate_only
    ? all('skipped', 'Runs when the version is staged')
    : all('pending', 'A task runs it');
}

/** Starts the task that the pending checks wait for. */
async function withTask(
  { stagingChecks }: StageVersionDeps,
  call: RegistryCall,
  version: StoredVersion,
  validated: Validation,
): Promise<Validation> {
  if (validated.status !== 'pending' || !stagingChecks) return validated;
  return { ...validated, job_id: await stagingChecks.start(version, call.correlationId) };
}

function failedChecks(found: FoundVersion, { checks }: Validation): CodedError {
  const failed = checks.filter(({ status }) => status === 'failed');
  const why = failed.map(({ name, message }) => `${name}: ${message}`).join('; ');
  return refusal('RES005', found, `Version ${found.version.version} was not staged. ${why}`, { checks });
}

function done(version: StoredVersion, remarks: readonly string[]): StageReply {
  const remark = remarks.join(', ') || 'validation passed';
  return reply(version, 'None', `Version ${version.version} is in Staging (${remark}).`);
}

function unchanged(version: StoredVersion): StageReply {
  return reply(version, 'Staging', `Version ${version.version} is in Staging already.`);
}

function checked(version: StoredVersion, validated: Validation): StageReply {
  const fails = validated.status === 'failed';
  const message = `Version ${version.version} was checked and left as it is: it would ${fails ? 'not ' : ''}be staged.`;
  return { ...reply({ ...version, validation: validated }, version.stage, message), success: !fails };
}

function reply(version: StoredVersion, previous: StageReply['previous_stage'], message: string): StageReply {
  return {
    success: true,
    message,
    previous_stage: previous,
    new_stage: version.stage,
    model_name: version.model_name,
    version: version.version,
    validation: version.validation,
  };
}
