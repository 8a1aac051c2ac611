import type { CreateChallengeDeps } from '#domain/challenges/create-challenge.ts';
import { getHealth, type HealthDeps } from '#domain/get-health.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { RegisterStrategyDeps } from '#domain/registry/register-strategy.ts';
import { stagingOutcomes } from '#domain/registry/start-staging-checks.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import { challengeHandlers } from './challenges.ts';
import { type HyperoptDeps, hyperoptHandlers } from './hyperopt.ts';
import { registerHandler } from './registry.ts';
import { sharingHandlers } from './sharing.ts';

/** Dependencies of the strategy service, on any host. */
export interface StrategyDeps
  extends Omit<RegisterStrategyDeps, 'hyperoptJobs'>,
    HyperoptDeps,
    Omit<CreateChallengeDeps, 'stagingChecks'>,
    HealthDeps<'registry'> {}

/** Maximum duration of a health check, ms: below the time-out of the backend, which calls it. */
const PROBE_TIMEOUT_MS = 1_500;

/** Handlers of the strategy service's operations. */
export function strategyHandlers(deps: StrategyDeps): Handlers<'strategy'> {
  const docs = documentation('strategy');
  const hyperoptSharing = sharingHandlers(ownershipOf(deps), 'hyperopt', 'job_id');
  return {
    getStrategyServiceHealth: async () => ({
      status: 200,
      body: { service: 'strategy', version: VERSION, ...(await getHealth(deps, PROBE_TIMEOUT_MS)) },
    }),
    registerStrategy: registerHandler(deps),
    ...hyperoptHandlers(deps),
    getHyperoptSharing: hyperoptSharing.read,
    shareHyperopt: hyperoptSharing.share,
    ...challengeHandlers({ ...deps, stagingChecks: stagingOutcomes(deps) }),
    getStrategyServiceDocs: docs.page,
    getStrategyServiceDocsAsset: docs.asset,
    getStrategyServiceOpenApi: docs.openApi,
  };
}
