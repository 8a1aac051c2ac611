import type { HealthReport } from '#domain/get-health.ts';
import type { RegisterVersion } from '#domain/registry/register-version.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import type { ChallengeUseCases } from './challenge-use-cases.ts';
import { challengeHandlers } from './challenges.ts';
import { type HyperoptUseCases, hyperoptHandlers } from './hyperopt.ts';
import { registerHandler } from './registry.ts';

/** What the handlers need: the use cases of src/domain with their dependencies filled in. */
export interface StrategyUseCases extends HyperoptUseCases, ChallengeUseCases {
  readonly registerVersion: RegisterVersion;
  checkHealth(): Promise<HealthReport>;
}

/** HTTP on top of the use cases. */
export function strategyHandlers(useCases: StrategyUseCases): Handlers<'strategy'> {
  const docs = documentation('strategy');
  return {
    getStrategyServiceHealth: async () => {
      const { status, ...found } = await useCases.checkHealth();
      return { status: 200, body: { status, service: 'strategy', version: VERSION, ...found } };
    },
    registerStrategy: registerHandler(useCases.registerVersion),
    ...hyperoptHandlers(useCases),
    ...challengeHandlers(useCases),
    getStrategyServiceDocs: docs.page,
    getStrategyServiceDocsAsset: docs.asset,
    getStrategyServiceOpenApi: docs.openApi,
  };
}
