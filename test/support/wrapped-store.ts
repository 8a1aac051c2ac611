import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';

/** Store with some methods replaced. */
export function withMethods(store: RegistryStore, methods: Partial<RegistryStore>): RegistryStore {
  return {
    sharing: store.sharing,
    approvals: store.approvals,
    read: store.read.bind(store),
    hasRun: store.hasRun.bind(store),
    versions: store.versions.bind(store),
    versionsBelow: store.versionsBelow.bind(store),
    history: store.history.bind(store),
    endedVersionsOf: store.endedVersionsOf.bind(store),
    endedVersions: store.endedVersions.bind(store),
    productionChanges: store.productionChanges.bind(store),
    eventAt: store.eventAt.bind(store),
    commit: store.commit.bind(store),
    saveIdempotencyRecord: store.saveIdempotencyRecord.bind(store),
    catalog: store.catalog.bind(store),
    catalogCount: store.catalogCount.bind(store),
    ...methods,
  };
}

/** Part of a challenge store that writes use, with some methods replaced. */
export function withWrites(store: ChallengeStore, methods: Partial<ChallengeStore>): ChallengeStore {
  const { find, commit, inTurn } = store;
  const own = { find: find.bind(store), commit: commit.bind(store), inTurn: inTurn.bind(store) };
  return { ...own, ...methods } as ChallengeStore;
}
