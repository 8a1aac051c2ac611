import type { Route } from './routes.ts';

/** A row without its schemas, and the file that has it whole. Written by bin/build/bundle-plugins.ts. */
export interface RouteRow {
  readonly route: Omit<Route, 'load'>;
  readonly file: () => Promise<Readonly<Record<string, unknown>>>;
  readonly exported: string;
}

export const ROUTE_ROWS: readonly RouteRow[];
