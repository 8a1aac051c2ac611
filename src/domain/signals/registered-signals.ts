import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import type { Clock } from '../ports.ts';
import { UNCOMMITTED_MS } from '../retention/retention.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

/** Versions that need a file, by its ID. The versions of a model are read at the first call. */
export type VersionsWithSignals = (id: string) => Promise<string | undefined>;

/** The registry decides which files are needed: a mark may be of a registration that did not commit. */
export function versionsWithSignals(registry: Pick<RegistryStore, 'versions'>): VersionsWithSignals {
  let read: Promise<ReadonlyMap<string, string>> | undefined;
  const readVersions = async () => {
    const versions = await registry.versions(SIGNALS_STRATEGY);
    return new Map(
      versions.flatMap(({ config, version }) => (config.signals ? [[config.signals, version]] : [])),
    );
  };
  return async (id) => {
    read ??= readVersions();
    return (await read).get(id);
  };
}

/** True while the registration that marked a file may still store its version. */
export function isBeingRegistered({ registered_at: at }: StoredSignals, clock: Clock): boolean {
  return at !== undefined && clock.now() - Date.parse(at) <= UNCOMMITTED_MS;
}
