import type { VersionComparison } from '#contract/catalog-api.ts';
import { type CompareVersionsInput, compareVersions } from '#domain/registry/compare-versions.ts';
import {
  type CatalogPage,
  type ListCatalogDeps,
  type ListCatalogInput,
  listCatalog,
} from '#domain/registry/list-catalog.ts';
import { callerOf } from '../authenticate.ts';
import type { Handlers } from '../handler.ts';

/** What the handlers need: the use cases with their dependencies filled in. */
export interface CatalogUseCases {
  listCatalog(input: ListCatalogInput): Promise<CatalogPage>;
  compareVersions(input: CompareVersionsInput): Promise<VersionComparison>;
}

export function catalogUseCases(deps: ListCatalogDeps): CatalogUseCases {
  return {
    listCatalog: (input) => listCatalog(deps, input),
    compareVersions: (input) => compareVersions(deps, input),
  };
}

/** HTTP on top of the use cases. */
export function catalogHandlers(
  useCases: CatalogUseCases,
): Pick<Handlers<'backend'>, 'listCatalog' | 'compareVersions'> {
  return {
    listCatalog: async ({ query, principal }) => ({
      status: 200,
      body: await useCases.listCatalog({ ...query, caller: callerOf(principal) }),
    }),
    compareVersions: async ({ params, query }) => ({
      status: 200,
      body: await useCases.compareVersions({ model: params.name, ...query }),
    }),
  };
}
