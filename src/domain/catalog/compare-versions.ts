import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { comparisonOfVersions } from '../transitions/compare-evidence.ts';
import { findVersion } from '../transitions/find-version.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { sameRunWarnings } from '../transitions/same-run.ts';

export interface CompareVersionsInput {
  readonly model: string;
  /** Numbers, or the aliases `latest` and `champion`. */
  readonly version_a: string;
  readonly version_b: string;
}

/**
 * Compares champion a with challenger b on their registered backtests. The confidence is computed from count, mean and
 * variance of profit_pct over all trades, which every result stores, so that no trade list is read.
 * Throws RES002 for an unknown model, RES003 for an unknown version, VAL005 when both are the same one.
 */
export async function compareVersions(
  deps: { readonly registry: RegistryStore },
  input: CompareVersionsInput,
): Promise<VersionComparison> {
  const { model, version_a, version_b } = input;
  if (version_a === version_b) throw sameVersion(version_b);
  const [a, b, ended] = await Promise.all([
    findVersion(deps.registry, { model, version: version_a, field: 'version_a', modelField: 'name' }),
    findVersion(deps.registry, { model, version: version_b, field: 'version_b', modelField: 'name' }),
    deps.registry.endedVersions(model),
  ]);
  if (a.version === b.version) throw sameVersion(b.version);
  const comparison = comparisonOfVersions(a, b);
  const same = [a, b].flatMap((version) => sameRunWarnings(ended, version));
  return { ...comparison, warnings: [...comparison.warnings, ...same] };
}

function sameVersion(version: string): CodedError {
  return new CodedError('VAL005', {
    message: 'version_a and version_b are the same version: name two versions',
    field: 'version_b',
    context: { value: version },
  });
}
