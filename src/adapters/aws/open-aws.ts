import { lazy } from '#domain/shared/lazy.ts';
import { openStores, type StoresEnv } from '../open-stores.ts';

/** Stores and clients of the backend and the strategy service. Only DynamoDB's client is loaded before the first request. */
export function openAws(env: StoresEnv) {
  return {
    ...openStores(env),
    images: lazy(async () => new (await import('./ecr-images.ts')).EcrImages()),
    tasks: lazy(async () => {
      const { createEcsClient, EcsTaskControl } = await import('./ecs-tasks.ts');
      return new EcsTaskControl(createEcsClient());
    }),
  };
}
