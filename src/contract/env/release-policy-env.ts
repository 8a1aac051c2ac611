import type { ReleasePolicy } from '../registry/release-policy.ts';
import { POLICY_LIMITS } from '../values/registry-limits.ts';
import { decimal, type EnvValues, flag, withDefault } from './env-fields.ts';

/** The release policy: requirements for staging and promoting a version. An absent one is not required. */
export const releasePolicy = {
  POLICY_MIN_TRADES: decimal(POLICY_LIMITS.minTrades),
  POLICY_MIN_DAYS: decimal(POLICY_LIMITS.minDays),
  POLICY_MAX_EVIDENCE_AGE_DAYS: decimal(POLICY_LIMITS.maxEvidenceAgeDays),
  POLICY_MIN_SHARPE: decimal(POLICY_LIMITS.minSharpe),
  POLICY_MIN_PROFIT_FACTOR: decimal(POLICY_LIMITS.minProfitFactor),
  /** Percent, of either sign. */
  POLICY_MAX_DRAWDOWN: decimal(POLICY_LIMITS.maxDrawdown),
  /** Deflated Sharpe ratio of the hyperopt job that found the parameters, 0 to 1. */
  POLICY_MIN_DEFLATED_SHARPE: decimal(POLICY_LIMITS.minDeflatedSharpe),
  /** Promote only what passed the staging check `look_ahead`. */
  POLICY_LOOK_AHEAD_CERTIFICATE: withDefault(flag, false),
};

type PolicyEnv = EnvValues<typeof releasePolicy>;

/** The release policy that an environment sets. */
export function releasePolicyOf(env: PolicyEnv): ReleasePolicy {
  return {
    minTrades: env.POLICY_MIN_TRADES,
    minDays: env.POLICY_MIN_DAYS,
    maxEvidenceAgeDays: env.POLICY_MAX_EVIDENCE_AGE_DAYS,
    minSharpe: env.POLICY_MIN_SHARPE,
    minProfitFactor: env.POLICY_MIN_PROFIT_FACTOR,
    maxDrawdown: env.POLICY_MAX_DRAWDOWN,
    minDeflatedSharpe: env.POLICY_MIN_DEFLATED_SHARPE,
    lookAheadCertificate: env.POLICY_LOOK_AHEAD_CERTIFICATE,
  };
}

/** Variables that set a release policy; {@link releasePolicyOf} reads them. */
export function releasePolicyVariables(policy: ReleasePolicy) {
  const variables = {
    POLICY_MIN_TRADES: policy.minTrades,
    POLICY_MIN_DAYS: policy.minDays,
    POLICY_MAX_EVIDENCE_AGE_DAYS: policy.maxEvidenceAgeDays,
    POLICY_MIN_SHARPE: policy.minSharpe,
    POLICY_MIN_PROFIT_FACTOR: policy.minProfitFactor,
    POLICY_MAX_DRAWDOWN: policy.maxDrawdown,
    POLICY_MIN_DEFLATED_SHARPE: policy.minDeflatedSharpe,
  } satisfies Partial<Record<keyof typeof releasePolicy, number | undefined>>;
  const set = Object.entries(variables).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set.map(([name, value]) => [name, String(value)])) as Partial<
      Record<keyof typeof variables, string>
    >),
    POLICY_LOOK_AHEAD_CERTIFICATE: policy.lookAheadCertificate ? 'true' : 'false',
  } as const;
}
