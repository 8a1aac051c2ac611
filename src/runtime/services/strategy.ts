import { checkHealth, type Probe } from '#domain/get-health.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { RegisterStrategyDeps } from '#domain/registry/register-strategy.ts';
import { stagingOutcomes } from '#domain/registry/start-staging-checks.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import type { Log } from '../log.ts';
import { VERSION } from '../version.ts';
import { type ChallengeDeps, challengeHandlers } from './challenges.ts';
import { hyperoptHandlers } from './hyperopt.ts';
import { type HyperoptDeps, hyperoptUseCases } from './hyperopt-use-cases.ts';
import { registerHandler } from './registry.ts';

export interface StrategyDeps
  extends Omit<RegisterStrategyDeps, 'studies'>,
    HyperoptDeps,
    Omit<ChallengeDeps, 'stagingChecks'> {
  /** By the dependency's name in the health response. */
  readonly probes: Readonly<Record<'registry', Probe>>;
  /** See {@link checkHealth}. */
  readonly checkDiskSpace?: () => Promise<void>;
  readonly log: Log;
}

/** Milliseconds, below the timeout of the backend's own probe of this service. */
const PROBE_TIMEOUT_MS = 1_500;

/** The strategy service: what each request means, and how its result is shown. */
export function strategyHandlers(deps: StrategyDeps): Handlers<'strategy'> {
  const docs = documentation('strategy');
  return {
    getStrategyServiceHealth: async () => {
      const { status, ...found } = await checkHealth(deps.probes, PROBE_TIMEOUT_MS, deps.checkDiskSpace);
      return { status: 200, body: { status, service: 'strategy', version: VERSION, ...found } };
    },
    registerStrategy: registerHandler(deps),
    ...hyperoptHandlers({ ...hyperoptUseCases(deps, deps.log), ownership: ownershipOf(deps) }),
    ...challengeHandlers({ ...deps, stagingChecks: stagingOutcomes(deps) }),
    getStrategyServiceDocs: docs.page,
    getStrategyServiceDocsAsset: docs.asset,
    getStrategyServiceOpenApi: docs.openApi,
  };
}
