import { Annotations, type Stack } from 'aws-cdk-lib';
import type { StageConfig } from './config.ts';

/** Warns at synthesis of settings that are allowed but risky. */
export function warnOfSettings(stack: Stack, { stage, baseImage, openAccess, protect }: StageConfig): void {
  const warnings = Annotations.of(stack);
  if (protect && !baseImage.includes('@sha256:')) {
    warnings.addWarningV2(
      'touchstone:baseImage',
      `The base image of ${stage} is not pinned: each build takes what ${baseImage} names then. Run npm run base-image.`,
    );
  }
  if (openAccess) {
    warnings.addWarningV2(
      'touchstone:openAccess',
      `Anyone who finds the address of ${stage} has every role. Remove openAccess from its settings to require a token.`,
    );
  }
}
