import type { StoredAssignment, StoredChallenge, Variant } from '#contract/stored-challenge.ts';
import type { Digest } from '#engine/digest.ts';
import { NO_KEY } from './arm-totals.ts';
import { changed, currentStage, type Progress, shareOf, stageAt } from './challenge-state.ts';

/**
 * Where a key stands in a challenge, 0 to 1: the first 4 bytes of SHA-256 of `challenge_id:key`, big-endian, by 2^32. It is
 * of the challenger when that is below its share, so that a key that once was the challenger's stays so while shares grow.
 */
function bucketOf(challengeId: string, key: string, sha256: Digest): number {
  return Number.parseInt(sha256(`${challengeId}:${key}`).slice(0, 8), 16) / 2 ** 32;
}

function variantOf(bucket: number, share: number): Variant {
  return bucket < share ? 'challenger' : 'champion';
}

/** The version of an arm. */
export function versionOf(challenge: StoredChallenge, variant: Variant): string {
  return variant === 'champion' ? challenge.champion_version : challenge.challenger_version;
}

/** The assignment of a key that had none, by the shares at the time of its entry. Default: now. */
export function assign(
  challenge: StoredChallenge,
  key: string,
  sha256: Digest,
  { at, entered }: { readonly at: string; readonly entered?: string | null },
): StoredAssignment {
  const bucket = bucketOf(challenge.challenge_id, key, sha256);
  const stage = entered ? stageAt(challenge, entered) : currentStage(challenge).canary_stage;
  return {
    schema_version: 1,
    challenge_id: challenge.challenge_id,
    assignment_key: key,
    variant: variantOf(bucket, shareOf(stage)),
    canary_stage: stage,
    ...{ bucket, at, revision: 1, ...NO_KEY },
  };
}

/** The challenge with one more assignment in its totals. */
export function withAssignment(
  progress: Progress,
  { canary_stage, variant, at }: Pick<StoredAssignment, 'canary_stage' | 'variant' | 'at'>,
): Progress {
  const stages = progress.challenge.stages.map((stage) =>
    stage.canary_stage === canary_stage
      ? { ...stage, [variant]: { ...stage[variant], assigned: stage[variant].assigned + 1 } }
      : stage,
  );
  return changed(progress, { stages, last_traffic_at: at });
}
