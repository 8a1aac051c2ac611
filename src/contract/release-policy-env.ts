import type * as z from 'zod';
import { decimal, flag } from './env-values.ts';
import { ReleasePolicy } from './release-policy.ts';

const { shape: requirement } = ReleasePolicy;

/** The release policy: requirements for staging and promoting a version. An absent one is not required. */
export const releasePolicy = {
  POLICY_MIN_TRADES: decimal(requirement.minTrades.unwrap()),
  POLICY_MIN_DAYS: decimal(requirement.minDays.unwrap()),
  POLICY_MAX_EVIDENCE_AGE_DAYS: decimal(requirement.maxEvidenceAgeDays.unwrap()),
  POLICY_MIN_SHARPE: decimal(requirement.minSharpe.unwrap()),
  POLICY_MIN_PROFIT_FACTOR: decimal(requirement.minProfitFactor.unwrap()),
  /** Percent, of either sign. */
  POLICY_MAX_DRAWDOWN: decimal(requirement.maxDrawdown.unwrap()),
  /** Deflated Sharpe ratio of the hyperopt job that found the parameters, 0 to 1. */
  POLICY_MIN_DEFLATED_SHARPE: decimal(requirement.minDeflatedSharpe.unwrap()),
  /** Promote only what passed the staging check `look_ahead`. */
  POLICY_LOOK_AHEAD_CERTIFICATE: flag.default(false),
};

type PolicyEnv = z.output<z.ZodObject<typeof releasePolicy>>;

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
