import type { Operation, ServiceName } from '../values/operation.ts';
import { ACCESS_OPERATIONS } from './access.ts';
import { AUDIT_OPERATIONS } from './audit.ts';
import { BACKEND_OPERATIONS } from './backend.ts';
import { CATALOG_OPERATIONS } from './catalog.ts';
import { CHALLENGE_OPERATIONS } from './challenges.ts';
import { DATA_COLLECTION_OPERATIONS } from './data-collection.ts';
import { HYPEROPT_OPERATIONS } from './hyperopt.ts';
import { MLFLOW_OPERATIONS } from './mlflow.ts';
import { SIGNALS_OPERATIONS } from './signals.ts';
import { STRATEGY_OPERATIONS } from './strategy.ts';
import { WEBHOOK_OPERATIONS } from './webhooks.ts';

/** The one table. A service's rows live in their own file of `operations/`. */
export const OPERATIONS = [
  ...BACKEND_OPERATIONS,
  ...ACCESS_OPERATIONS,
  ...CATALOG_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...MLFLOW_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...SIGNALS_OPERATIONS,
  ...STRATEGY_OPERATIONS,
  ...HYPEROPT_OPERATIONS,
  ...CHALLENGE_OPERATIONS,
  ...DATA_COLLECTION_OPERATIONS,
] as const;

type OperationRow = (typeof OPERATIONS)[number];
export type OperationsOf<S extends ServiceName> = Extract<OperationRow, { service: S }>;

/** The rows of a service, in the order of the table. */
export function operationsOf(service: ServiceName): readonly Operation[] {
  return OPERATIONS.filter((operation) => operation.service === service);
}
