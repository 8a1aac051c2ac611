import { getVersion, listVersions, type ReadVersionsDeps } from '#domain/registry/list-versions.ts';
import { type PromoteVersionDeps, promoteVersion } from '#domain/registry/promote-version.ts';
import { productionAt, readHistory } from '#domain/registry/read-history.ts';
import { type RollBackDeps, rollBack } from '#domain/registry/roll-back.ts';
import { type StageVersionDeps, stageVersion } from '#domain/registry/stage-version.ts';

export type RegistryDeps = StageVersionDeps & PromoteVersionDeps & RollBackDeps & ReadVersionsDeps;

/** Moves and reads of the registry with their dependencies filled in, for any host. */
export function registryUseCases(deps: RegistryDeps) {
  return {
    stageVersion: stageVersion.bind(null, deps),
    promoteVersion: promoteVersion.bind(null, deps),
    rollBack: rollBack.bind(null, deps),
    listVersions: listVersions.bind(null, deps),
    getVersion: getVersion.bind(null, deps),
    readHistory: readHistory.bind(null, deps),
    productionAt: productionAt.bind(null, deps),
  };
}

export type RegistryUseCases = ReturnType<typeof registryUseCases>;
