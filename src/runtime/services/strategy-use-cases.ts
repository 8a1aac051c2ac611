import { checkHealth, type Probe } from '#domain/get-health.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { type RegisterVersionDeps, registerVersion } from '#domain/registry/register-version.ts';
import { stagingOutcomes } from '#domain/registry/start-staging-checks.ts';
import type { Log } from '../log.ts';
import { type ChallengeDeps, challengeUseCases } from './challenge-use-cases.ts';
import { type HyperoptDeps, hyperoptUseCases } from './hyperopt-use-cases.ts';
import type { StrategyUseCases } from './strategy.ts';

export interface StrategyDeps
  extends Omit<RegisterVersionDeps, 'studies'>,
    HyperoptDeps,
    Omit<ChallengeDeps, 'stagingChecks'> {
  /** By the dependency's name in the health response. */
  readonly probes: Readonly<Record<'registry', Probe>>;
  /** See {@link checkHealth}. */
  readonly checkDiskSpace?: () => Promise<void>;
}

/** A health check answers within this time whatever its dependencies do: before the backend, which asks it, gives up. */
const PROBE_TIMEOUT_MS = 1_500;

/** The use cases of the strategy service with their dependencies filled in, for any host. */
export function strategyUseCases(deps: StrategyDeps, log: Log): StrategyUseCases {
  return {
    ownership: ownershipOf(deps),
    registerVersion: (call, input) => registerVersion(deps, call, input),
    ...hyperoptUseCases(deps, log),
    ...challengeUseCases({ ...deps, stagingChecks: stagingOutcomes(deps) }),
    checkHealth: () => checkHealth(deps.probes, PROBE_TIMEOUT_MS, deps.checkDiskSpace),
  };
}
