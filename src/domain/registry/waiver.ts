import { CodedError } from '#contract/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/limits.ts';
import { POLICY_CHECKS, type PolicyCheckName, type WaiveRequest } from '#contract/release-policy.ts';
import type { Waiver } from '#contract/stored-registry.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import { checkOneOf, checkText } from '../validate.ts';
import type { RegistryCall } from './make-move.ts';

/** Checks of the release policy that the caller of one move wants waived. */
export interface AskedWaiver {
  readonly checks: readonly PolicyCheckName[];
  readonly reason: string;
}

/** Null for none. Throws VAL004 without checks or a reason, VAL005 for no check or one that a policy does not have. */
export function readWaiver(waive: WaiveRequest | undefined): AskedWaiver | null {
  if (waive === undefined) return null;
  const { checks } = waive;
  if (checks === undefined) throw missing('checks', 'name the checks that it waives');
  const known = checks.map((name, index) => checkOneOf(name, `waive.checks.${index}`, POLICY_CHECKS));
  if (known.length === 0) {
    throw new CodedError('VAL005', {
      message: 'waive.checks is empty: name the checks that it waives',
      field: 'waive.checks',
      context: { value: [], allowed: POLICY_CHECKS },
    });
  }
  const reason = checkText(waive.reason, 'waive.reason', MAX_NOTE_LENGTH)?.trim();
  if (!reason) throw missing('reason', 'say why the release policy does not apply to this move');
  return { checks: [...new Set(known)], reason };
}

function missing(field: 'checks' | 'reason', what: string): CodedError {
  return new CodedError('VAL004', { message: `A waiver needs ${field}: ${what}`, field: `waive.${field}` });
}

/** Checks of which those that failed, or are pending, and are named by the waiver are `waived`. */
export function withWaiver(
  checks: readonly ValidationCheck[],
  asked: AskedWaiver | null,
  { actor }: Pick<RegistryCall, 'actor'>,
): ValidationCheck[] {
  const names: readonly string[] = asked?.checks ?? [];
  return checks.map((check) =>
    (check.status === 'failed' || check.status === 'pending') && names.includes(check.name)
      ? { ...check, status: 'waived', message: `${check.message}. Waived by ${actor.id}: ${asked!.reason}` }
      : check,
  );
}

/** What was waived of what was asked, for history and catalog; null when nothing was. */
export function waiverOf(
  action: Waiver['action'],
  checks: readonly ValidationCheck[],
  asked: AskedWaiver | null,
  { call, at }: { readonly call: RegistryCall; readonly at: string },
): Waiver | null {
  const waived = checks.filter(({ status }) => status === 'waived').map(({ name }) => name);
  if (!asked || waived.length === 0) return null;
  return { action, checks: waived, reason: asked.reason, actor: call.actor.id, at };
}

/** Note of a waiver in history and messages. */
export function remarkOn(waiver: Waiver | null): string[] {
  return waiver ? [`waived ${waiver.checks.join(', ')}`] : [];
}

/** For the caller: checks asked for that needed no waiver. */
export function needlessWaivers(asked: AskedWaiver | null, waiver: Waiver | null): string[] {
  const needless = asked?.checks.filter((name) => !waiver?.checks.includes(name)) ?? [];
  if (needless.length === 0) return [];
  return [`waive.checks: ${needless.join(', ')} needed no waiver for this move, and none was recorded`];
}
