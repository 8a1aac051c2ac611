import * as z from 'zod';
import type { ValidationCheck } from '../common/validation-check.ts';

/**
 * Result of the look-ahead bias check: `found` with findings, `certified` with guarded columns and many cuts, `sampled` with the cuts
 * of a backtest, `not_checked` without a strategy or a signal.
 */
export const LOOK_AHEAD_STATES = ['certified', 'sampled', 'not_checked', 'found'] as const;
export type LookAheadState = (typeof LOOK_AHEAD_STATES)[number];

/** Maximum number of stored findings per run. */
export const MAX_LOOK_AHEAD_FINDINGS = 20;

export const LookAhead = z
  .object({
    state: z.enum(LOOK_AHEAD_STATES),
    message: z.string().meta({ description: 'Checked parts, or the reason why nothing was checked' }),
    cuts: z.int().meta({ description: 'Number of repeated runs on cut histories' }),
    poisoned_cuts: z.int().optional().meta({
      description: 'Of them, those that went on with changed candles; absent in runs of earlier versions',
    }),
    rows: z.int().meta({ description: 'Compared candles, over all pairs' }),
    pairs: z.array(z.string()).meta({ description: 'Checked pairs' }),
    findings: z.array(z.string()).meta({
      description: `Values that depend on later candles, one sentence each; at most ${MAX_LOOK_AHEAD_FINDINGS}`,
    }),
  })
  .meta({ id: 'LookAhead', description: 'Result of the look-ahead bias check of a run' });
export type LookAhead = z.infer<typeof LookAhead>;

/** State of a listed or registered run; null: a job that has not completed. */
export const ListedLookAhead = z.enum(LOOK_AHEAD_STATES).nullable().meta({
  description:
    'State of the look-ahead bias check, of which the job has the rest. `found`: the metrics cannot be earned; such a run comes after all others in every order of a metric and is never the best. null until completed',
});

/** The result of a run; `not_checked` for a run without a check. Earlier versions stored a sample with findings as `sampled`. */
export function lookAheadOf({ look_ahead }: { readonly look_ahead?: LookAhead | undefined }): LookAhead {
  if (!look_ahead) return notChecked('This run was not checked for look-ahead bias');
  return look_ahead.findings.length > 0 ? { ...look_ahead, state: 'found' } : look_ahead;
}

/** Line of the check list: anything but a certified run is a warning. */
export function lookAheadCheck({ state, message, findings }: LookAhead): ValidationCheck {
  const text = findings.length > 0 ? `${message} ${findings[0]}` : message;
  return { name: LOOK_AHEAD_CHECK, status: 'warning', message: text, value: state, threshold: 'certified' };
}

/** State in a check list; `not_checked` without one. The check of a staging has the number of its findings. */
export function lookAheadStateOf(checks: readonly ValidationCheck[]): LookAheadState {
  const value = checks.find(({ name }) => name === LOOK_AHEAD_CHECK)?.value;
  if (typeof value === 'number') return value > 0 ? 'found' : 'not_checked';
  return LOOK_AHEAD_STATES.find((state) => state === value) ?? 'not_checked';
}

/** Name of the check in a check list. */
export const LOOK_AHEAD_CHECK = 'look_ahead';

export function notChecked(message: string): LookAhead {
  return { state: 'not_checked', message, cuts: 0, rows: 0, pairs: [], findings: [] };
}
