import { Annotations, type Stack } from 'aws-cdk-lib';
import type { TableId } from '#contract/values/tables.ts';
import type { StageConfig } from './config.ts';
import { webOrigin } from './web-settings.ts';

/** Warns at synthesis of settings that are allowed but risky, and says which are still to be made. */
export function warnOfSettings(stack: Stack, config: StageConfig): void {
  const { stage, baseImage, openAccess, protect, restoredTables, restoredStreams, web } = config;
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
  const silent = (Object.keys(restoredTables) as TableId[]).filter((id) => !restoredStreams[id]);
  if (silent.length > 0) {
    warnings.addWarningV2(
      'touchstone:restoredTables',
      `Changes of ${silent.map((id) => restoredTables[id]).join(', ')} in ${stage} become no events: their streams are not in restoredStreams. Run npm run restore-drill -- --restored --switch ${stage} with the names of the tables.`,
    );
  }
  const missing = web.enabled && !openAccess ? missingSignIn(config) : undefined;
  if (missing) {
    warnings.addInfoV2(
      'touchstone:dashboardSignIn',
      `Users of the dashboard of ${stage} paste a token, because no sign-in page returns to it. ${missing}`,
    );
  }
}

/** Instruction to give the dashboard a sign-in page; undefined where it has one. */
function missingSignIn(config: StageConfig): string | undefined {
  const { identity } = config;
  if (identity.kind === 'existing') {
    return identity.signInUrl ? undefined : 'Set identity.signInUrl to the address of the pool.';
  }
  // The pool cannot refer to the distribution, which depends on the functions that depend on the pool.
  return webOrigin(config)
    ? undefined
    : 'Set web.domain, or deploy and write the name in the output WebUrl as web.distributionName.';
}
