import type { Operation, ServiceName } from '#contract/values/operation.ts';
import { ROUTE_ROWS } from './route-rows.mjs';
import type { Route } from './routes.ts';

/*
 * Takes the place of routes.ts in a bundle: the file of a row, with its schemas, is imported at its first request. Building the schemas
 * of all rows takes as long as loading DynamoDB's client.
 */

/** The routes of a service, in the order of the table. */
export function routesOf(service: ServiceName): Route[] {
  const rows = ROUTE_ROWS.filter(({ route }) => route.service === service);
  return rows.map(({ route, file, exported }) => ({
    ...route,
    load: async () => {
      const operations = (await file())[exported] as readonly Operation[];
      return operations.find(({ id }) => id === route.id)!;
    },
  }));
}
