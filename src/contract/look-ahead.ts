import * as z from 'zod';
import type { ValidationCheck } from './validation.ts';

/**
 * How far a run was searched for look-ahead bias: `certified` with guarded columns and with candles cut off, `sampled` with
 * candles cut off at as many times as 10 % of the task's processor time buys.
 */
export const LOOK_AHEAD_STATES = ['certified', 'sampled', 'not_checked'] as const;
export type LookAheadState = (typeof LOOK_AHEAD_STATES)[number];

/** Findings stored of a run. */
export const MAX_LOOK_AHEAD_FINDINGS = 20;

export const LookAhead = z
  .object({
    state: z.enum(LOOK_AHEAD_STATES),
    message: z.string().meta({ description: 'What was checked, or why nothing was' }),
    cuts: z.int().meta({ description: 'Times at which the candles ended and the run was repeated' }),
    rows: z.int().meta({ description: 'Candles of the part that was repeated, over all pairs' }),
    pairs: z.array(z.string()).meta({ description: 'Pairs that were searched' }),
    findings: z
      .array(z.string())
      .meta({ description: `What knew later candles, a sentence each; at most ${MAX_LOOK_AHEAD_FINDINGS}` }),
  })
  .meta({ id: 'LookAhead', description: 'How the run was searched for look-ahead bias' });
export type LookAhead = z.infer<typeof LookAhead>;

/** The state of a run that was stored before there was any search, or where none was made. */
export function lookAheadOf({ look_ahead }: { readonly look_ahead?: LookAhead | undefined }): LookAhead {
  return look_ahead ?? notChecked('This run was not searched for look-ahead bias');
}

/** Check list line of a state: what a staging has not certified is a warning. */
export function lookAheadCheck({ state, message, findings }: LookAhead): ValidationCheck {
  const said = findings.length > 0 ? `${message} ${findings[0]}` : message;
  return { name: LOOK_AHEAD_CHECK, status: 'warning', message: said, value: state, threshold: 'certified' };
}

/** State that a check list names. Checks of versions before name none: they covered no callbacks. */
export function lookAheadStateOf(checks: readonly ValidationCheck[]): LookAheadState {
  const found = checks.find(({ name }) => name === LOOK_AHEAD_CHECK);
  return LOOK_AHEAD_STATES.find((state) => state === found?.value) ?? 'not_checked';
}

/** Name of the check in a check list. */
const LOOK_AHEAD_CHECK = 'look_ahead';

export function notChecked(message: string): LookAhead {
  return { state: 'not_checked', message, cuts: 0, rows: 0, pairs: [], findings: [] };
}
