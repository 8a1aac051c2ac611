import type { SameRun } from '#contract/registry/registry-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import type { EndedVersion, RegistryStore } from './registry-store.ts';

/** The newest other version of the same run that was rolled back or stopped; null without one. */
export function sameRunIn(
  ended: readonly EndedVersion[],
  { version, backtest_run_id }: Pick<StoredVersion, 'version' | 'backtest_run_id'>,
): SameRun | null {
  const other = ended.find((each) => each.backtest_run_id === backtest_run_id && each.version !== version);
  if (!other) return null;
  const { stopped, stopped_reason, rolled_back_reason } = other;
  return { version: other.version, reason: stopped ? stopped_reason : rolled_back_reason };
}

/** Warning for a caller who offers a version again whose run was taken out of Production; empty without one. */
export function sameRunWarnings(
  ended: readonly EndedVersion[],
  named: Pick<StoredVersion, 'version' | 'backtest_run_id'>,
): string[] {
  const same = sameRunIn(ended, named);
  if (!same) return [];
  const reason = same.reason === null ? '' : `: ${same.reason}`;
  const version = `version ${same.version} of the run of version ${named.version}`;
  return [`same_run_as: ${version} was taken out of Production${reason}`];
}

/**
 * Warnings of {@link sameRunWarnings} for a version of a model by its number, of a call whose transition is stored. A read that fails
 * must not make that call fail, because its caller would repeat it: a warning says so instead.
 */
export async function readSameRunWarnings(
  registry: Pick<RegistryStore, 'endedVersions' | 'read'>,
  model: string,
  number: string,
): Promise<string[]> {
  try {
    const ended = await registry.endedVersions(model);
    if (ended.length === 0) return [];
    const { versions } = await registry.read(model, [number]);
    return [...versions.values()].flatMap((version) => sameRunWarnings(ended, version));
  } catch {
    return ['same_run_as: could not be read now; the version shows it'];
  }
}
