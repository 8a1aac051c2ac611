import { type ListAuditDeps, listAudit } from '#domain/audit/list-audit.ts';
import { type CancelBacktestDeps, cancelBacktest } from '#domain/cancel-backtest.ts';
import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import { checkDataFreshness } from '#domain/check-data-freshness.ts';
import { getBacktest } from '#domain/get-backtest.ts';
import { checkHealth, type Probe } from '#domain/get-health.ts';
import { listBacktests } from '#domain/list-backtests.ts';
import { listDataSymbols } from '#domain/list-data-symbols.ts';
import { getStrategy, listStrategies } from '#domain/list-strategies.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { DataProxy, ResultStore } from '#domain/ports.ts';
import { readEquity } from '#domain/read-equity.ts';
import { readReport } from '#domain/read-report.ts';
import { stagingChecks } from '#domain/registry/start-staging-checks.ts';
import { type SubmitBacktestDeps, submitBacktest } from '#domain/submit-backtest.ts';
import type { Log } from '../log.ts';
import type { BackendUseCases } from './backend.ts';
import type { RegistryDeps } from './registry.ts';

export interface BackendDeps
  extends Omit<SubmitBacktestDeps, 'onStartFailure'>,
    Omit<CancelBacktestDeps, 'onStopFailure'>,
    ListAuditDeps,
    Omit<RegistryDeps, 'stagingChecks'> {
  readonly results: ResultStore;
  readonly dataProxy: DataProxy;
  readonly challenges: ChallengeStore;
  /** By the dependency's name in the health response. */
  readonly probes: Readonly<Record<'strategy_service' | 'data_collection' | 'registry', Probe>>;
  /** See {@link checkHealth}. */
  readonly checkDiskSpace?: () => Promise<void>;
}

/** A health check answers within this time whatever its dependencies do. */
const PROBE_TIMEOUT_MS = 2_000;

/** The use cases of the backend with their dependencies filled in, for any host. */
export function backendUseCases(deps: BackendDeps, log: Log): BackendUseCases {
  const warn = (message: string) => (jobId: string, error: unknown) =>
    log.error(message, { job_id: jobId, error: error as Error });
  const onStartFailure = warn('execution not started');
  const onStopFailure = warn('backtest not stopped');
  return {
    ownership: ownershipOf(deps),
    submitBacktest: (input) => submitBacktest({ ...deps, onStartFailure }, input),
    listBacktests: (input) => listBacktests(deps, input),
    getBacktest: (jobId) => getBacktest(deps, jobId),
    cancelBacktest: (jobId) => cancelBacktest({ ...deps, onStopFailure }, jobId),
    readEquity: (jobId) => readEquity(deps, jobId),
    readReport: (jobId, page) => readReport(deps, jobId, page),
    listStrategies: () => listStrategies(deps),
    getStrategy: (name) => getStrategy(deps, name),
    listDataSymbols: (input) => listDataSymbols(deps, input),
    checkDataFreshness: (input) => checkDataFreshness(deps, input),
    listAudit: (input) => listAudit(deps, input),
    registry: { ...deps, stagingChecks: stagingChecks({ ...deps, onStartFailure }) },
    checkHealth: () => checkHealth(deps.probes, PROBE_TIMEOUT_MS, deps.checkDiskSpace),
  };
}
