import type { ListAuditDeps } from '#domain/audit/list-audit.ts';
import type { ModelTrailDeps } from '#domain/audit/model-changes.ts';
import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import type { EventLog } from '#domain/events/event-log.ts';
import { getHealth, type HealthDeps } from '#domain/get-health.ts';
import type { HyperoptRow, HyperoptStore, TrialLedger } from '#domain/hyperopt/hyperopt-ports.ts';
import type { ActiveJobs, JobRow } from '#domain/jobs/job-list-ports.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { DataProxy, JobStore, SeriesStore } from '#domain/ports.ts';
import type { RegisterStrategyDeps } from '#domain/registry/register-strategy.ts';
import { lazy } from '#domain/shared/lazy.ts';
import type { SignalFiles, SignalsStore } from '#domain/signals/signals-ports.ts';
import type { NewProduction } from '#domain/transitions/registry-store.ts';
import type { DeliveryStore, WebhookStore } from '#domain/webhooks/webhook-ports.ts';
import { deciderOf, includedRoles } from '../authenticate.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import type { BacktestsDeps } from './backtests.ts';
import type { RegistryDeps } from './registry.ts';
import type { WebhookHandlerDeps } from './webhooks.ts';

const { getStrategy, listStrategies } = lazy(() => import('#domain/config/list-strategies.ts'));
const { checkFreshness, listSymbols } = lazy(() => import('#domain/data/market-data.ts'));
const { getOverview } = lazy(() => import('#domain/overview/get-overview.ts'));
const { transferOwnership } = lazy(() => import('#domain/access/transfer-ownership.ts'));
const { listAudit } = lazy(() => import('#domain/audit/list-audit.ts'));

/** Dependencies of the backend, on any host. */
export interface BackendDeps
  extends BacktestsDeps,
    Omit<ListAuditDeps, keyof ModelTrailDeps>,
    Omit<RegistryDeps, 'stagingChecks' | 'endChallenges'>,
    Pick<RegisterStrategyDeps, 'allowedRegistries'>,
    HealthDeps<'strategy_service' | 'data_collection' | 'registry'> {
  readonly jobs: JobStore & ActiveJobs<JobRow>;
  readonly hyperoptJobs: HyperoptStore & ActiveJobs<HyperoptRow>;
  readonly ledger: Pick<TrialLedger, 'read'>;
  readonly series: SeriesStore;
  readonly collections: Pick<CollectionStore, 'get' | 'list'>;
  readonly events: Pick<EventLog, 'after'>;
  readonly webhooks: WebhookStore;
  readonly signals: SignalsStore;
  readonly signalFiles: SignalFiles;
  readonly deliveries: DeliveryStore;
  /** Parts of webhooks that are not stored. */
  readonly webhookDelivery: Pick<WebhookHandlerDeps, 'sender' | 'signatures' | 'waker' | 'eventSource'>;
  readonly dataProxy: DataProxy;
  readonly challenges: ChallengeStore;
  /** True where calls need a token. */
  readonly authenticationEnforced: boolean;
}

/** Maximum duration of a health check, ms. */
const PROBE_TIMEOUT_MS = 2_000;

/**
 * Handlers of the backend's operations: they map requests to use cases and results to responses. Long because it is the table of
 * the handlers.
 */
export function backendHandlers(deps: BackendDeps): Handlers<'backend'> {
  const ownership = ownershipOf(deps);
  const docs = lazy(async () => (await import('../swagger-ui.ts')).documentation('backend'));
  const registryDeps = async () => {
    const { stagingChecks } = await import('#domain/registry/start-staging-checks.ts');
    const { endChallenges } = await import('#domain/challenges/write-challenge.ts');
    return {
      ...deps,
      stagingChecks: stagingChecks(deps),
      endChallenges: (production: NewProduction) => endChallenges(deps.challenges, production),
    };
  };
  return {
    backend: {
      getHealth: async () => ({
        status: 200,
        body: { service: 'backend', version: VERSION, ...(await getHealth(deps, PROBE_TIMEOUT_MS)) },
      }),
      getMe: async ({ principal }) => ({
        status: 200,
        body: {
          subject: principal.id,
          roles: includedRoles(principal),
          groups: principal.groups,
          enforced: deps.authenticationEnforced,
        },
      }),
      transferOwnership: async ({ body }) => ({
        status: 200,
        body: await transferOwnership(ownership, body),
      }),
      getOverview: async ({ principal }) => ({
        status: 200,
        body: await getOverview(deps, deciderOf(principal)),
      }),
      listStrategies: async () => ({ status: 200, body: await listStrategies(deps) }),
      getStrategy: async ({ params }) => ({ status: 200, body: await getStrategy(deps, params.name) }),
      listSymbols: async ({ query, correlationId }) => ({
        status: 200,
        body: await listSymbols(deps, { ...query, correlationId }),
      }),
      checkFreshness: async ({ query, correlationId }) => ({
        status: 200,
        body: await checkFreshness(deps, { ...query, correlationId }),
      }),
      listAudit: async ({ query }) => {
        const page = await listAudit(deps, query);
        return { status: 200, body: { items: page.items, next_cursor: page.next } };
      },
      getDocs: docs.page,
      getDocsAsset: docs.asset,
      getOpenApi: docs.openApi,
    },
    jobEvents: lazy(async () => {
      const { watchJobsHandler } = await import('./job-events.ts');
      return { watchJobs: watchJobsHandler({ ...deps, ownership }) };
    }),
    backtests: lazy(async () => (await import('./backtests.ts')).backtestHandlers(deps, ownership)),
    registry: lazy(async () =>
      (await import('./registry.ts')).registryHandlers(await registryDeps(), ownership),
    ),
    approvals: lazy(async () => (await import('./approvals.ts')).approvalHandlers(await registryDeps())),
    mlflowModels: lazy(async () =>
      (await import('./mlflow-models.ts')).mlflowModelHandlers(await registryDeps(), ownership),
    ),
    mlflowVersions: lazy(async () =>
      (await import('./mlflow-versions.ts')).mlflowVersionHandlers(await registryDeps(), ownership),
    ),
    mlflowExperiments: lazy(async () =>
      (await import('./mlflow-experiments.ts')).mlflowExperimentHandlers(deps),
    ),
    mlflowRuns: lazy(async () => (await import('./mlflow-runs.ts')).mlflowRunHandlers(deps, ownership)),
    mlflowArtifacts: lazy(async () =>
      (await import('./mlflow-artifacts.ts')).mlflowArtifactHandlers(deps, ownership),
    ),
    webhooks: lazy(async () => {
      const { webhookHandlers } = await import('./webhooks.ts');
      return webhookHandlers({ ...deps, ...deps.webhookDelivery, ownership });
    }),
    signals: lazy(async () => (await import('./signals.ts')).signalsHandlers(deps, ownership)),
  };
}
