import type { Ownership, StoredSharing } from './access.ts';
import { unknownBacktest } from './get-backtest.ts';
import { unknownHyperopt } from './hyperopt/get-hyperopt.ts';
import { unknownModel } from './registry/find-version.ts';

/** Where each kind of owned resource is kept, and how it is told that there is none. */
export function ownershipOf({
  jobs,
  registry,
}: {
  readonly jobs: { readonly sharing: StoredSharing };
  readonly registry: { readonly sharing: StoredSharing };
}): Ownership {
  return {
    backtest: { sharing: jobs.sharing, unknown: unknownBacktest },
    hyperopt: { sharing: jobs.sharing, unknown: unknownHyperopt },
    model: { sharing: registry.sharing, unknown: unknownModel },
  };
}
