import type { Operation, ServiceName } from './operation.ts';
import { ACCESS_OPERATIONS } from './operations/access.ts';
import { AUDIT_OPERATIONS } from './operations/audit.ts';
import { BACKEND_OPERATIONS } from './operations/backend.ts';
import { CATALOG_OPERATIONS } from './operations/catalog.ts';
import { CHALLENGE_OPERATIONS } from './operations/challenges.ts';
import { DATA_COLLECTION_OPERATIONS } from './operations/data-collection.ts';
import { HYPEROPT_OPERATIONS } from './operations/hyperopt.ts';
import { MLFLOW_OPERATIONS } from './operations/mlflow.ts';
import { SIGNALS_OPERATIONS } from './operations/signals.ts';
import { STRATEGY_OPERATIONS } from './operations/strategy.ts';
import { WEBHOOK_OPERATIONS } from './operations/webhooks.ts';

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
