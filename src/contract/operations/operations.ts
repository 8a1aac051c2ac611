import type { Operation, ServiceName } from '../values/operation.ts';
import { APPROVAL_OPERATIONS } from './approvals.ts';
import { BACKEND_OPERATIONS } from './backend.ts';
import { BACKTEST_OPERATIONS } from './backtests.ts';
import { CHALLENGE_OPERATIONS } from './challenges.ts';
import { DATA_COLLECTION_OPERATIONS } from './data-collection.ts';
import { HYPEROPT_OPERATIONS } from './hyperopt.ts';
import { IMPORT_OPERATIONS } from './imports.ts';
import { JOB_EVENT_OPERATIONS } from './job-events.ts';
import { MLFLOW_ARTIFACT_OPERATIONS } from './mlflow-artifacts.ts';
import { MLFLOW_EXPERIMENT_OPERATIONS } from './mlflow-experiments.ts';
import { MLFLOW_MODEL_OPERATIONS } from './mlflow-models.ts';
import { MLFLOW_RUN_OPERATIONS } from './mlflow-runs.ts';
import { MLFLOW_VERSION_OPERATIONS } from './mlflow-versions.ts';
import { REGISTRY_OPERATIONS } from './registry.ts';
import { SIGNALS_OPERATIONS } from './signals.ts';
import { STRATEGY_OPERATIONS } from './strategy.ts';
import { WEBHOOK_OPERATIONS } from './webhooks.ts';

/** The one table, in groups: the rows of a group have one service, and their handlers are one object. */
export const OPERATION_GROUPS = {
  backend: BACKEND_OPERATIONS,
  jobEvents: JOB_EVENT_OPERATIONS,
  backtests: BACKTEST_OPERATIONS,
  registry: REGISTRY_OPERATIONS,
  approvals: APPROVAL_OPERATIONS,
  mlflowModels: MLFLOW_MODEL_OPERATIONS,
  mlflowVersions: MLFLOW_VERSION_OPERATIONS,
  mlflowExperiments: MLFLOW_EXPERIMENT_OPERATIONS,
  mlflowRuns: MLFLOW_RUN_OPERATIONS,
  mlflowArtifacts: MLFLOW_ARTIFACT_OPERATIONS,
  webhooks: WEBHOOK_OPERATIONS,
  signals: SIGNALS_OPERATIONS,
  strategy: STRATEGY_OPERATIONS,
  hyperopt: HYPEROPT_OPERATIONS,
  challenges: CHALLENGE_OPERATIONS,
  dataCollection: DATA_COLLECTION_OPERATIONS,
  imports: IMPORT_OPERATIONS,
} as const satisfies Readonly<Record<string, readonly Operation[]>>;

export type OperationGroup = keyof typeof OPERATION_GROUPS;
export type OperationOf<G extends OperationGroup> = (typeof OPERATION_GROUPS)[G][number];

/** The groups of a service. */
export type GroupsOf<S extends ServiceName> = {
  [G in OperationGroup]: OperationOf<G>['service'] extends S ? G : never;
}[OperationGroup];

/** The rows of all groups. */
export const OPERATIONS: readonly OperationOf<OperationGroup>[] = Object.values(OPERATION_GROUPS).flat();

/** The rows of a service, in the order of the table. */
export function operationsOf(service: ServiceName): readonly Operation[] {
  return OPERATIONS.filter((operation) => operation.service === service);
}
