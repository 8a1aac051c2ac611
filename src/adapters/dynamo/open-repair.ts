import type { RetentionDays } from '#contract/env/retention.ts';
import type { PromotionRules } from '#contract/registry/release-rules.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { type CountHyperoptDeps, countEnded } from '#domain/hyperopt/count-hyperopt.ts';
import type { Log, ResultStore } from '#domain/ports.ts';
import type { RepairDeps } from '#domain/repair/repair-jobs.ts';
import type { JobRetention } from '#domain/retention/expire-jobs.ts';
import type { SignalFiles, SignalsStore } from '#domain/signals/signals-ports.ts';
import { ulids } from '../ids.ts';
import { sha256 } from '../sha256.ts';
import { openRegistry } from './open-registry.ts';

/** A slot without an execution for longer was taken by a process that died before it started the execution. */
export const GRACE_MS = 2 * 60_000;

/** Storage that expiry needs. */
export interface RetentionParts {
  readonly days: RetentionDays;
  readonly retention: JobRetention;
  readonly results: Pick<ResultStore, 'remove'>;
  readonly signals: SignalsStore;
  readonly signalFiles: Pick<SignalFiles, 'remove'>;
}

export interface RepairParts
  extends Pick<
    RepairDeps,
    'executions' | 'hyperoptJobs' | 'hyperoptExecutions' | 'tasks' | 'queue' | 'strategyCosts' | 'maxRunning'
  > {
  readonly jobs: RepairDeps['jobs'] & RepairDeps['registry']['validations'];
  readonly ledger: CountHyperoptDeps['ledger'];
  readonly ownerTrials: CountHyperoptDeps['ownerTrials'];
  readonly registryTable: string;
  readonly databaseEndpoint: string | undefined;
  readonly onChallengeChange: ChallengeListener;
  readonly promotions: PromotionRules;
  readonly log: Log;
  /** Null: nothing expires, and the data of deleted jobs stay. */
  readonly retention: RetentionParts | null;
}

/** Dependencies of repair, in AWS and in local mode. */
export function openRepair(parts: RepairParts): RepairDeps {
  const {
    registryTable,
    databaseEndpoint,
    onChallengeChange,
    promotions,
    retention,
    ledger,
    ownerTrials,
    ...deps
  } = parts;
  const registry = openRegistry(registryTable, databaseEndpoint, onChallengeChange);
  const { jobs, log } = deps;
  return {
    ...deps,
    columnsExpiry: retention && { ...retention, jobs, clock: Date },
    signalsExpiry: retention && { ...retention, registry: registry.registry, clock: Date },
    expiry: retention && { ...retention, registry: registry.registry, clock: Date },
    countTrials: (job) => countEnded({ ledger, ownerTrials, digest: sha256 }, job),
    random: Math.random,
    clock: Date,
    graceMs: GRACE_MS,
    onError: (id, error) => log.error('repair failed', { id, error: error as Error }),
    registry: {
      ...registry,
      validations: jobs,
      clock: Date,
      ids: ulids,
      digest: sha256,
      ...promotions,
    },
  };
}
