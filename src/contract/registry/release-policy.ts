import * as z from 'zod';
import type { NumberBounds } from '../values/bounds.ts';
import type { MIN_TRADES } from '../values/challenge-limits.ts';
import { MAX_NOTE_LENGTH, POLICY_LIMITS } from '../values/registry-limits.ts';

/** The checks of a release policy, in the order of a check list. A waiver uses these names. */
export const POLICY_CHECKS = [
  'min_trades',
  'min_days',
  'max_evidence_age_days',
  'min_sharpe',
  'min_profit_factor',
  'max_drawdown',
  'min_deflated_sharpe',
  'look_ahead',
] as const;
export type PolicyCheckName = (typeof POLICY_CHECKS)[number];

/** Name of the check when no release policy is set. */
export const NO_POLICY_CHECK = 'release_policy';

const requirement = ({ min, max, integer }: NumberBounds) =>
  (integer ? z.int() : z.number()).min(min).max(max).optional();

/** Requirements for every version. An absent one is not required; a policy without requirements is off. */
export const ReleasePolicy = z.strictObject({
  /** Trades of the backtest. */
  minTrades: requirement(POLICY_LIMITS.minTrades),
  /** Days from the first traded candle to the end of the candles. */
  minDays: requirement(POLICY_LIMITS.minDays),
  /** Days from the end of the candles to now, of the pair whose candles end first. */
  maxEvidenceAgeDays: requirement(POLICY_LIMITS.maxEvidenceAgeDays),
  minSharpe: requirement(POLICY_LIMITS.minSharpe),
  minProfitFactor: requirement(POLICY_LIMITS.minProfitFactor),
  /** Percent, of either sign. */
  maxDrawdown: requirement(POLICY_LIMITS.maxDrawdown),
  /** Deflated Sharpe ratio of the hyperopt job, 0 to 1; applies to versions with a hyperopt job. */
  minDeflatedSharpe: requirement(POLICY_LIMITS.minDeflatedSharpe),
  /** Promote only versions whose staging passed the check `look_ahead`. */
  lookAheadCertificate: z.boolean().default(false),
});
export type ReleasePolicy = z.infer<typeof ReleasePolicy>;

/** A number of assignments, or `min_trades`: as many as the closed trades that the challenge needs. */
export type MinAssignments = number | typeof MIN_TRADES;

/** Checks that one transition may fail. The schema checks presence only; the domain checks the values. */
export const WaiveRequest = z
  .looseObject({
    checks: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Checks that this transition may fail; required',
        items: { type: 'string', enum: [...POLICY_CHECKS] },
        minItems: 1,
      }),
    reason: z.string().optional().meta({
      description: 'Recorded in the history and the catalog; required',
      maxLength: MAX_NOTE_LENGTH,
    }),
  })
  .meta({ id: 'WaiveRequest' });
export interface WaiveRequest {
  readonly checks?: readonly string[] | undefined;
  readonly reason?: string | undefined;
}
