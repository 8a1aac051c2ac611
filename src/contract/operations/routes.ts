import type { Operation, ServiceName } from '../values/operation.ts';
import { operationsOf } from './operations.ts';

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
  /** The whole row. */
  readonly load: () => Promise<Operation>;
}

/*
 * The schemas of all rows take longer to build than all other code of a service. The build of the Lambdas replaces this module with
 * one that loads the file of a row at its first request.
 */

/** The routes of a service, in the order of the table. */
export function routesOf(service: ServiceName): Route[] {
  return operationsOf(service).map((operation) => ({ ...operation, load: async () => operation }));
}
