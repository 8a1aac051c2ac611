import type { ChallengeRules, PromotionRules } from '../registry/release-rules.ts';
import type { ChallengingEnv, PromotingEnv } from './env.ts';
import { releasePolicyOf } from './release-policy-env.ts';

/** Rules of promotions, from the environment. */
export function promotionRules(env: PromotingEnv): PromotionRules {
  return {
    stagingDryRunRequired: env.STAGING_DRY_RUN_REQUIRED ?? env.ENVIRONMENT === 'production',
    fourEyesRequired: env.REQUIRE_FOUR_EYES,
    releasePolicy: releasePolicyOf(env),
  };
}

/** Rules of challenges, from the environment. */
export function challengeRules(env: ChallengingEnv): ChallengeRules {
  return {
    challengeMinTrades: env.CHALLENGE_MIN_TRADES,
    challengeMinHours: env.CHALLENGE_MIN_HOURS,
    challengeMinAssignments: env.CHALLENGE_MIN_ASSIGNMENTS,
    challengeRequireAssignment: env.CHALLENGE_REQUIRE_ASSIGNMENT,
  };
}
