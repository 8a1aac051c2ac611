import type { CreateChallengeDeps } from '#domain/challenges/create-challenge.ts';
import type { ListAllChallengesDeps } from '#domain/challenges/list-all-challenges.ts';
import { getHealth, type HealthDeps } from '#domain/get-health.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { RegisterStrategyDeps } from '#domain/registry/register-strategy.ts';
import { lazy } from '#domain/shared/lazy.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import type { HyperoptDeps } from './hyperopt.ts';

/** Dependencies of the strategy service, on any host. */
export interface StrategyDeps
  extends Omit<RegisterStrategyDeps, 'hyperoptJobs'>,
    HyperoptDeps,
    Omit<CreateChallengeDeps, 'stagingChecks'>,
    Pick<ListAllChallengesDeps, 'cursors'>,
    HealthDeps<'registry'> {}

/** Maximum duration of a health check, ms: below the time-out of the backend, which calls it. */
const PROBE_TIMEOUT_MS = 1_500;

/** Handlers of the strategy service's operations. */
export function strategyHandlers(deps: StrategyDeps): Handlers<'strategy'> {
  const docs = lazy(async () => (await import('../swagger-ui.ts')).documentation('strategy'));
  const registration = lazy(async () => {
    const { registerHandler } = await import('./registry.ts');
    return { registerStrategy: registerHandler(deps) };
  });
  return {
    strategy: {
      getStrategyServiceHealth: async () => ({
        status: 200,
        body: { service: 'strategy', version: VERSION, ...(await getHealth(deps, PROBE_TIMEOUT_MS)) },
      }),
      registerStrategy: registration.registerStrategy,
      getStrategyServiceDocs: docs.page,
      getStrategyServiceDocsAsset: docs.asset,
      getStrategyServiceOpenApi: docs.openApi,
    },
    hyperopt: lazy(async () => (await import('./hyperopt.ts')).hyperoptHandlers(deps, ownershipOf(deps))),
    challenges: lazy(async () => {
      const { challengeHandlers } = await import('./challenges.ts');
      const { stagingOutcomes } = await import('#domain/registry/start-staging-checks.ts');
      return challengeHandlers({ ...deps, stagingChecks: stagingOutcomes(deps) });
    }),
  };
}
