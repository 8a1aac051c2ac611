import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { lookAheadStateOf } from '#contract/config/look-ahead.ts';
import {
  NO_POLICY_CHECK,
  POLICY_CHECKS,
  type PolicyCheckName,
  type ReleasePolicy,
  type WaiveRequest,
} from '#contract/registry/release-policy.ts';
import type { StoredVersion, Waiver } from '#contract/registry/stored-registry.ts';
import { deflatedBy } from '#contract/values/deflated-ratio.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import {
  comparableValue,
  MIN_TRADES_WITHOUT_LOSSES,
  PROFIT_FACTOR_WITHOUT_LOSSES,
  UNDEFINED_REASONS,
  undefinedReason,
} from '#contract/values/undefined-metrics.ts';
import { checkMaxLength, checkOneOf, isBlank } from '../shared/validate.ts';
import type { TransitionCall } from './apply-transition.ts';
import { lookAheadWaiver, plainCheck, waivedCheck } from './check-status.ts';

/** The facts of a version that a release policy compares. */
export type PolicySubject = Pick<StoredVersion, 'metrics' | 'config' | 'trials' | 'evidence'> & {
  readonly created_at: string;
};

/** A numeric check of the policy: any but the certificate. */
interface Requirement {
  readonly name: PolicyCheckName;
  readonly required: number | undefined;
  /** Value of the version. Null: unknown, so the check fails. Undefined: the requirement does not apply. */
  readonly value: number | null | undefined;
  readonly holds: (value: number, required: number) => boolean;
  readonly describe: (value: number, required: number) => string;
  readonly unknown?: string;
}

const atLeast = (value: number, required: number) => value >= required;
const atMost = (value: number, required: number) => value <= required;

/** True when the policy has a requirement. */
export function isSet({ lookAheadCertificate, ...numbers }: ReleasePolicy): boolean {
  return lookAheadCertificate || Object.values(numbers).some((value) => value !== undefined);
}

/**
 * The policy's checks of a version's numbers: `passed` or `failed`, each with value and threshold; equality passes.
 * Without a policy, one entry that says so.
 *
 * @param now Unix ms, from which the age of the evidence counts
 */
export function checkPolicy(policy: ReleasePolicy, subject: PolicySubject, now: number): ValidationCheck[] {
  if (!isSet(policy)) {
    return [plainCheck(NO_POLICY_CHECK, 'skipped', 'No release policy is set on this platform')];
  }
  return requirementsOf(policy, subject, now).flatMap((each) => checkOf(each));
}

/** Long because it is the list of the requirements. */
function requirementsOf(policy: ReleasePolicy, subject: PolicySubject, now: number): Requirement[] {
  const { metrics, trials } = subject;
  const { from, to } = evidenceOf(subject);
  const known = (name: string) => comparableValue(metrics, name);
  const whyUnknown = (name: string) => {
    const reason = undefinedReason(metrics, name);
    const trades = metrics.total_trades;
    const few =
      reason === 'no_losses' ? `, and fewer than ${MIN_TRADES_WITHOUT_LOSSES} trades (${trades})` : '';
    return reason === null ? 'unknown' : `${UNDEFINED_REASONS[reason]}${few}`;
  };
  // Rounded away from the requirement, an integer. A failing value is therefore never shown as sufficient.
  const days = Math.floor(((to - from) / DAY_MS) * 100) / 100;
  const age = Math.max(0, Math.ceil(((now - to) / DAY_MS) * 100) / 100);
  const end = new Date(to).toISOString().slice(0, 10);
  const { hyperopt_job_id: job = null, deflated_sharpe_ratio: deflated = null } = subject.evidence ?? {};
  const isSelected = job !== null || trials > 1 || subject.evidence?.trial_record?.lowest !== undefined;
  return [
    {
      name: 'min_trades',
      required: policy.minTrades,
      value: metrics.total_trades,
      holds: atLeast,
      describe: (value, required) =>
        `${value} ${value === 1 ? 'trade' : 'trades'}; at least ${required} are required`,
    },
    {
      name: 'min_days',
      required: policy.minDays,
      value: days,
      holds: atLeast,
      describe: (value, required) => `${value} days of candles; at least ${required} are required`,
    },
    {
      name: 'max_evidence_age_days',
      required: policy.maxEvidenceAgeDays,
      value: age,
      holds: atMost,
      describe: (value, required) =>
        `The candles end on ${end}, ${value} days ago; at most ${required} are allowed. A backtest up to today renews the evidence`,
    },
    {
      name: 'min_sharpe',
      required: policy.minSharpe,
      value: known('sharpe_ratio'),
      holds: atLeast,
      describe: (value, required) => `Sharpe ratio ${value}; at least ${required} is required`,
      unknown: `The Sharpe ratio is undefined: ${whyUnknown('sharpe_ratio')}`,
    },
    {
      name: 'min_profit_factor',
      required: policy.minProfitFactor,
      value: known('profit_factor'),
      holds: atLeast,
      describe: (value, required) =>
        `Profit factor ${Number.isFinite(value) ? value : 'without losses'}; at least ${required} is required`,
      unknown: `The profit factor is undefined: ${whyUnknown('profit_factor')}`,
    },
    {
      name: 'max_drawdown',
      required: policy.maxDrawdown,
      value: metrics.total_trades === 0 ? null : metrics.max_drawdown_pct,
      holds: (value, required) => Math.abs(value) <= Math.abs(required),
      describe: (value, required) =>
        `Drawdown ${Math.abs(value)} %; at most ${Math.abs(required)} % is allowed`,
      unknown: 'Without trades a drawdown of 0 shows nothing',
    },
    {
      name: 'min_deflated_sharpe',
      required: policy.minDeflatedSharpe,
      holds: atLeast,
      // Several trials without a job: registered before the job's ratio was kept.
      value: isSelected ? deflated : undefined,
      describe: (value, required) =>
        `Deflated Sharpe ratio ${value} of ${deflatedBy(subject)}; at least ${required} is required`,
      unknown: unknownDeflation(subject),
    },
  ];
}

function unknownDeflation({ trials, evidence }: PolicySubject): string {
  const reason = evidence?.trial_record?.lowest?.reason;
  if (reason) return `The deflated Sharpe ratio of the backtest is undefined: ${reason}`;
  if (evidence?.hyperopt_job_id) {
    return `Hyperopt job ${evidence.hyperopt_job_id} has no deflated Sharpe ratio: too few of its trials are complete`;
  }
  return evidence?.trial_record
    ? `The deflated Sharpe ratio of its ${trials} trials is undefined: fewer than two of them have a Sharpe ratio`
    : 'The deflated Sharpe ratio of its hyperopt job was not kept: register the backtest again';
}

function checkOf({ name, required, value, holds, describe, unknown }: Requirement): ValidationCheck[] {
  if (required === undefined) return [];
  const threshold = required;
  if (value === undefined) {
    return [
      { name, status: 'passed', message: 'No hyperopt job found its parameters', value: null, threshold },
    ];
  }
  if (value === null || Number.isNaN(value)) {
    return [{ name, status: 'failed', message: unknown ?? 'Unknown', value: null, threshold }];
  }
  const status = holds(value, required) ? 'passed' : 'failed';
  const shown = Number.isFinite(value) ? value : PROFIT_FACTOR_WITHOUT_LOSSES;
  return [{ name, status, message: describe(value, required), value: shown, threshold }];
}

/**
 * Range of the candles behind a version, Unix ms. Versions registered by an earlier release have the requested range,
 * limited to the time of their registration.
 */
export function evidenceOf({ evidence, config, created_at }: PolicySubject): { from: number; to: number } {
  const { start, end } = config.date_range;
  const from = Date.parse(evidence?.from ?? start);
  const to = Math.min(Date.parse(evidence?.to ?? end), Date.parse(created_at));
  return { from, to: Math.max(from, to) };
}

/**
 * The requirement of the certificate, by what the staging found; undefined where it is not required.
 *
 * @param staged checks of the version's staging, as they are now
 */
export function checkCertificate(
  policy: ReleasePolicy,
  staged: readonly ValidationCheck[],
  { model_name, version, waivers }: Pick<StoredVersion, 'model_name' | 'version' | 'waivers'>,
): ValidationCheck | undefined {
  if (!policy.lookAheadCertificate) return undefined;
  const name = 'look_ahead' satisfies PolicyCheckName;
  const waiver = lookAheadWaiver({ waivers });
  if (waiver) return waivedCheck({ ...plainCheck(name, 'failed', REGISTERED_WITH), value: 'found' }, waiver);
  const found = staged.find((check) => check.name === name);
  if (found?.status === 'passed' && lookAheadStateOf([found]) === 'certified') return found;
  if (found?.status === 'pending') {
    const message = `The look-ahead check of the staging is still running. Promote again when it has passed: GET /api/v1/models/${model_name}/versions/${version} shows it`;
    return { ...found, message };
  }
  const message = found ? describeUncertified(found) : NEVER_RUN;
  return {
    ...plainCheck(name, 'failed', message),
    ...(found && { value: found.value, threshold: found.threshold }),
  };
}

/** Message of a look-ahead check that is not certified. Checks of older versions covered columns only. */
function describeUncertified(found: ValidationCheck): string {
  const { status, message } = found;
  return status === 'passed'
    ? `The look-ahead check of the staging is ${lookAheadStateOf([found])}, not certified: ${message}. Register the backtest again and stage that version`
    : `The look-ahead check of the staging is ${status}: ${message}`;
}

const REGISTERED_WITH = 'Registered with a found look-ahead bias';
const NEVER_RUN = 'The staging ran no look-ahead check: register the backtest again and stage that version';

/** True for the policy's checks on numbers, which every transition makes again. */
export function isNumberCheck(name: string): boolean {
  return name === NO_POLICY_CHECK || (name !== 'look_ahead' && POLICY_CHECKS.some((each) => each === name));
}

/** Checks that a caller requests to waive for one transition. */
export interface RequestedWaiver {
  readonly checks: readonly PolicyCheckName[];
  readonly reason: string;
}

/**
 * Null for none. Throws VAL004 without checks or a reason, VAL005 for no check or one that is not `allowed`.
 *
 * @param allowed default: those of a policy
 */
export function readWaiver(
  waive: WaiveRequest | undefined,
  allowed: readonly PolicyCheckName[] = POLICY_CHECKS,
): RequestedWaiver | null {
  if (waive === undefined) return null;
  const { checks } = waive;
  if (checks === undefined) throw missing('checks', 'name the checks that it waives');
  const known = checks.map((name, index) => checkOneOf(name, `waive.checks.${index}`, allowed));
  if (known.length === 0) {
    throw new CodedError('VAL005', {
      message: 'waive.checks is empty: name the checks that it waives',
      field: 'waive.checks',
      context: { value: [], allowed },
    });
  }
  const reason = checkMaxLength(waive.reason, 'waive.reason', MAX_NOTE_LENGTH)?.trim() ?? '';
  if (isBlank(reason)) throw missing('reason', 'say why its checks do not apply to this transition');
  return { checks: [...new Set(known)], reason };
}

function missing(field: 'checks' | 'reason', what: string): CodedError {
  return new CodedError('VAL004', { message: `A waiver needs ${field}: ${what}`, field: `waive.${field}` });
}

/** Checks in which the failed and pending ones that the waiver names are `waived`. */
export function withWaiver(
  checks: readonly ValidationCheck[],
  requested: RequestedWaiver | null,
  { actor }: Pick<TransitionCall, 'actor'>,
): ValidationCheck[] {
  const names: readonly string[] = requested?.checks ?? [];
  return checks.map((check) =>
    (check.status === 'failed' || check.status === 'pending') && names.includes(check.name)
      ? waivedCheck(check, { actor: actor.id, reason: requested!.reason })
      : check,
  );
}

/** The waiver that took effect, for history and catalog; null when no check was waived. */
export function waiverOf(
  action: Waiver['action'],
  checks: readonly ValidationCheck[],
  requested: RequestedWaiver | null,
  { call, at }: { readonly call: TransitionCall; readonly at: string },
): Waiver | null {
  const waived = checks.filter(({ status }) => status === 'waived').map(({ name }) => name);
  if (!requested || waived.length === 0) return null;
  return { action, checks: waived, reason: requested.reason, actor: call.actor.id, at };
}

/** Note of a waiver in history and messages. */
export function waiverNotes(waiver: Waiver | null): string[] {
  return waiver ? [`waived ${waiver.checks.join(', ')}`] : [];
}

/** Notes for the caller: requested waivers of checks that needed none. */
export function needlessWaivers(requested: RequestedWaiver | null, waiver: Waiver | null): string[] {
  const needless = requested?.checks.filter((name) => !waiver?.checks.includes(name)) ?? [];
  if (needless.length === 0) return [];
  return [`waive.checks: ${needless.join(', ')} needed no waiver for this transition, and none was recorded`];
}
