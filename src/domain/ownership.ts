import type { Ownership } from './access.ts';
import { unknownBacktest } from './get-backtest.ts';
import type { JobStore } from './ports.ts';
import { unknownModel } from './registry/find-version.ts';
import type { RegistryStore } from './registry/registry-store.ts';

/** Where each kind of owned resource is kept, and how it is told that there is none. */
export function ownershipOf({
  jobs,
  registry,
}: {
  readonly jobs: Pick<JobStore, 'sharing'>;
  readonly registry: Pick<RegistryStore, 'sharing'>;
}): Ownership {
  return {
    backtest: { sharing: jobs.sharing, unknown: unknownBacktest },
    model: { sharing: registry.sharing, unknown: unknownModel },
  };
}
