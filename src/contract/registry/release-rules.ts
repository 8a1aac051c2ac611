import { CHALLENGE_DEFAULTS } from '../values/challenge-limits.ts';
import type { MinAssignments, ReleasePolicy } from './release-policy.ts';

/** What a stage requires of a promotion, also of a challenge's winner. */
export interface PromotionRules {
  /** Promote only what passed its validation. */
  readonly stagingDryRunRequired: boolean;
  /** The user who registered a version cannot promote it (four-eyes principle). */
  readonly fourEyesRequired: boolean;
  /** Thresholds that every version must pass to be staged and promoted. */
  readonly releasePolicy: ReleasePolicy;
}

/** What a stage requires of challenges. */
export interface ChallengeRules {
  /** Closed trades of each variant before a promotion, regardless of the challenge's own minimum. */
  readonly challengeMinTrades: number;
  /** Hours that a challenge must have lasted before its verdict. */
  readonly challengeMinHours: number;
  /** Assignments of each variant before the verdict. */
  readonly challengeMinAssignments: MinAssignments;
  /** Default of a challenge's `require_assignment`. */
  readonly challengeRequireAssignment: boolean;
}

/** All that a stage requires of releases. */
export interface ReleaseRules extends PromotionRules, ChallengeRules {
  /** A rollback requires a reason. */
  readonly rollbackReasonRequired: boolean;
}

/** Requires nothing. */
export const NO_POLICY: ReleasePolicy = { lookAheadCertificate: false };

/** The rules where a stage sets none. */
export const DEFAULT_RELEASE_RULES: ReleaseRules = {
  stagingDryRunRequired: false,
  fourEyesRequired: false,
  releasePolicy: NO_POLICY,
  challengeMinTrades: CHALLENGE_DEFAULTS.min_trades,
  challengeMinHours: 0,
  challengeMinAssignments: 0,
  challengeRequireAssignment: false,
  rollbackReasonRequired: false,
};
