import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { LOOK_AHEAD_CHECK, type LookAheadState, lookAheadStateOf } from '#contract/config/look-ahead.ts';
import type { StoredVersion, Validation, Waiver } from '#contract/registry/stored-registry.ts';

/** Checks that need a task. */
export const TASK_CHECKS = ['smoke_run', 'determinism', 'look_ahead'] as const;

const GATES: readonly string[] = ['thresholds', ...TASK_CHECKS];

/** True for a check without which the validation is skipped. */
export const isRequired = ({ name }: Pick<ValidationCheck, 'name'>): boolean => GATES.includes(name);

/** Status of a list of checks: failed before pending before skipped before passed. Warnings and waived checks pass. */
export function statusOf(checks: readonly ValidationCheck[]): Validation['status'] {
  if (checks.some(({ status }) => status === 'failed')) return 'failed';
  if (checks.some(({ status }) => status === 'pending')) return 'pending';
  const skipped = checks.some((check) => check.status === 'skipped' && isRequired(check));
  return skipped ? 'skipped' : 'passed';
}

/** Warnings for a version that did not pass every check. */
export function warningsFor({ status, checks }: Validation): string[] {
  const ungated = checks.some((check) => check.name === 'thresholds' && check.status === 'skipped');
  return [
    ...(status === 'passed' ? [] : [`validation ${status}`]),
    ...(ungated && status !== 'skipped' ? ['thresholds skipped'] : []),
  ];
}

/** A check without numbers. */
export function plainCheck(
  name: string,
  status: ValidationCheck['status'],
  message: string,
): ValidationCheck {
  return { name, status, message, value: null, threshold: null };
}

type Checked = Pick<StoredVersion, 'validation' | 'waivers'>;

/** The waiver by which a version with a found look-ahead bias was registered; undefined without one. */
export function lookAheadWaiver({ waivers }: Pick<Checked, 'waivers'>): Waiver | undefined {
  return waivers.find(({ action, checks }) => action === 'register' && checks.includes(LOOK_AHEAD_CHECK));
}

/** Result of the look-ahead check of a version. One that was registered with a waiver keeps its finding in every later check list. */
export function lookAheadStateOfVersion(version: Checked): LookAheadState {
  return lookAheadWaiver(version) ? 'found' : lookAheadStateOf(version.validation.checks);
}

/** A failed check that an admin has waived. */
export function waivedCheck(
  check: ValidationCheck,
  { actor, reason }: Pick<Waiver, 'actor' | 'reason'>,
): ValidationCheck {
  return { ...check, status: 'waived', message: `${check.message}. Waived by ${actor}: ${reason}` };
}

/** The validation of a version whose task has ended. */
export function withOutcome(version: Checked, outcome: StagingOutcome): Validation {
  const { validation } = version;
  const waiver = lookAheadWaiver(version);
  const isWaived = (check: ValidationCheck) =>
    check.name === LOOK_AHEAD_CHECK && check.status === 'failed' && lookAheadStateOf([check]) === 'found';
  const ended = outcome.checks.map((check) =>
    waiver && isWaived(check) ? waivedCheck(check, waiver) : check,
  );
  // A failed task without a failed check has proved nothing.
  const isWaivedOnly = ended.some(({ status }) => status === 'waived') && statusOf(ended) !== 'failed';
  const checks = [...validation.checks.filter(({ status }) => status !== 'pending'), ...ended];
  const fails = outcome.status === 'failed' && !isWaivedOnly;
  return { ...validation, status: fails ? 'failed' : statusOf(checks), checks };
}

/** The current validation of a version: while it is stored as pending, the result of its job. */
export async function currentValidation(
  stagingChecks: Pick<StagingChecks, 'outcome'> | null,
  version: StoredVersion,
): Promise<Validation> {
  const { validation } = version;
  if (validation.status !== 'pending' || validation.job_id === null || !stagingChecks) return validation;
  const outcome = await stagingChecks.outcome(validation.job_id);
  return outcome ? withOutcome(version, outcome) : validation;
}

/** Result of the checks that need a task. */
export interface StagingOutcome {
  readonly status: 'passed' | 'failed';
  /** Smoke run, determinism, look-ahead; or a single check with the reason why they could not run. */
  readonly checks: readonly ValidationCheck[];
}

/**
 * The checks of a staging that need a task: they run where backtests run. The job is the truth; a version's stored
 * `validation` follows it, so while that is `pending` it is read together with {@link outcome}.
 */
export interface StagingChecks {
  /**
   * Stores the job of a version's checks and starts it, before the transition that names it in `validation.job_id`: a job
   * without its version ends unnoticed, a version without its job would wait for ever. The same version means the same job.
   * Throws DATA005 when it cannot be stored.
   */
  start(version: StoredVersion, correlationId: string): Promise<string>;
  /** Undefined while the job is under way. */
  outcome(jobId: string): Promise<StagingOutcome | undefined>;
}

/** Finished jobs of staging checks whose result the registry has not recorded yet. */
export interface EndedValidations {
  endedValidations(): AsyncIterable<StoredBacktestJob>;
  /** Removes a job whose result is recorded or no longer needed. */
  forgetValidation(jobId: string): Promise<void>;
}
