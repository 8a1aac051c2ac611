import { OPERATION_GROUPS, type OperationGroup } from '#contract/operations/operations.ts';
import type { Operation, ServiceName } from '#contract/values/operation.ts';

/** Fields of a row that describe requests and responses. Most are schemas. */
type Shape =
  | 'params'
  | 'query'
  | 'body'
  | 'success'
  | 'errors'
  | 'tag'
  | 'summary'
  | 'description'
  | 'integration';

/** Row of the operations table as a host routes it, before its first request. */
export interface Route extends Omit<Operation, Shape> {
  readonly integration?: Pick<NonNullable<Operation['integration']>, 'function'>;
  /** Its handler is one of this group's. */
  readonly group: OperationGroup;
  /** The whole row. */
  readonly load: () => Promise<Operation>;
}

/** The routes of a service, in the order of the table. In a bundle bundled-routes.ts takes the place of this module. */
export function routesOf(service: ServiceName): Route[] {
  const groups = Object.entries(OPERATION_GROUPS) as [OperationGroup, readonly Operation[]][];
  const routes = groups.flatMap(([group, rows]) =>
    rows.map((operation) => ({ ...operation, group, load: async () => operation })),
  );
  return routes.filter((route) => route.service === service);
}
