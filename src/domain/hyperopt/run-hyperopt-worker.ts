import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import type { EndedTrial, HyperoptJobIn, TrialIn } from '#contract/hyperopt/hyperopt.ts';
import type { Clock } from '../ports.ts';
import { finalFailure } from '../shared/final-failure.ts';
import { isoTime } from '../shared/iso-time.ts';
import { trialRunOf } from '../trials/count-trials.ts';
import { ALL_TRIALS_FAILED, type FinishHyperoptDeps, finishHyperopt } from './finish-hyperopt.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import { type EarlierSearches, NO_SEARCHES, PermutedSearches } from './permuted-searches.ts';
import { pruningHistory, type TrialOutcome, type TrialRequest } from './run-trial.ts';
import { trialConfig } from './search-space.ts';
import { haveSameInputs, type TrialInputs } from './trial-inputs.ts';
import { type ClaimedTrial, LEASE_MS, TrialQueue, type WorkerIdentity } from './trial-queue.ts';

/** Runs trials of one job, several concurrently. */
export interface TrialRunner {
  /** Digest of the strategy and the engine that it runs. */
  readonly codeDigest: string;
  /** Digest of the candles that it reads. */
  readonly dataDigest: string;
  /** Warnings for the job: its strategy changed after the request. */
  readonly warnings: readonly string[];
  /**
   * Rejects with the signal's reason when it is aborted.
   *
   * @param onStall called with where the trial is stalled, and with null once it continues
   */
  run(
    request: TrialRequest,
    signal: AbortSignal,
    onStall: (text: string | null) => void,
  ): Promise<TrialOutcome>;
  /** Searches for look-ahead bias with the parameters of a trial. Never fails: what it cannot search is `not_checked`. */
  sample: (config: ResolvedBacktestConfig, signal: AbortSignal) => Promise<LookAhead>;
  close(): Promise<void>;
}

export interface RunHyperoptWorkerDeps extends FinishHyperoptDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly ledger: TrialLedger;
  readonly clock: Clock;
  /** Loads what the trials read. Throws CodedError for data or a strategy that no trial could use. */
  readonly openRunner: (job: HyperoptJobIn<'running'>) => Promise<TrialRunner>;
  /** Trials that run concurrently in this worker. */
  readonly concurrency: (job: HyperoptJobIn<'running'>) => number;
  /** Rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * - `finished`: every trial has ended, and the job with them
 * - `stopped`: the job has ended otherwise, by a user or by data that no trial could use
 * - `not_mine`: the job does not exist, or it had ended before
 */
export type WorkerOutcome = 'finished' | 'stopped' | 'not_mine';

/** Heartbeat interval, ms: a worker sees within it that its job was cancelled or its trial taken over. */
const HEARTBEAT_INTERVAL_MS = 5_000;
/** Remaining lease below which it is renewed, ms: three heartbeats may fail before a lease expires. */
const RENEW_BELOW_MS = LEASE_MS - 2 * HEARTBEAT_INTERVAL_MS;
/** Shortest and longest pause, ms, while other trials run that the next trial depends on. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** Factor of the trials that have ended, for those that are counted meanwhile: a write for every trial would cost more than it tells. */
const COUNTED_AHEAD = 1.25;

/** The job has ended while trials were running. */
class HyperoptEnded extends Error {}
/** Another worker has taken the trial over. */
class TrialLost extends Error {}

/**
 * Runs trials of a hyperopt job until every one has ended, then makes the job terminal. Workers coordinate only through
 * the ledger; the others take over the trials of a worker that dies.
 * Throws errors that another task may survive, and the signal's reason when it is aborted: its trials are released.
 */
export async function runHyperoptWorker(
  deps: RunHyperoptWorkerDeps,
  jobId: string,
  me: WorkerIdentity,
  signal: AbortSignal,
): Promise<WorkerOutcome> {
  const job = await deps.hyperoptJobs.begin(jobId, me.worker, me.task, isoTime(deps.clock.now()));
  if (!job) return 'not_mine';
  const runner = await deps.openRunner(job).catch(async (error: unknown) => {
    const failure = finalFailure(error);
    if (!failure) throw error;
    await deps.hyperoptJobs.fail(jobId, failure, isoTime(deps.clock.now()));
  });
  if (!runner) return 'stopped';
  try {
    if (!(await pinInputs(deps, job, runner))) return await outcomeOfEnded(deps, jobId);
    await new Worker(deps, job, me, runner, await endedEarlier(deps, job, runner)).run(signal);
    await finishHyperopt(deps, jobId, ({ base }, { params }) =>
      runner.sample(trialConfig(base, params), signal),
    );
    return 'finished';
  } catch (error) {
    if (error instanceof HyperoptEnded) return await outcomeOfEnded(deps, jobId);
    throw error;
  } finally {
    await runner.close();
  }
}

/** Another worker may have finished the job: with its result, or because all trials failed. */
async function outcomeOfEnded(
  { hyperoptJobs }: Pick<RunHyperoptWorkerDeps, 'hyperoptJobs'>,
  jobId: string,
): Promise<WorkerOutcome> {
  const job = await hyperoptJobs.get(jobId);
  const isFinished =
    job?.status === 'completed' || (job?.status === 'failed' && job.error_code === ALL_TRIALS_FAILED);
  return isFinished ? 'finished' : 'stopped';
}

const CANDLES_CHANGED =
  'The stored candles changed after the first trial, so later trials read others than earlier ones. Start a new job to compare them';

/**
 * Trials of different code are not comparable, so a hyperopt job whose code has changed fails. Candles change by little, such as
 * a filled gap, and at any time, so a job with other candles gets a warning. False: the job has ended.
 */
async function pinInputs(
  { hyperoptJobs, clock }: RunHyperoptWorkerDeps,
  { job_id: jobId, warnings: known }: HyperoptJobIn<'running'>,
  runner: TrialRunner,
): Promise<boolean> {
  const added = runner.warnings.filter((warning) => !known.includes(warning));
  const inputs = inputsOf(runner);
  const pinned = await hyperoptJobs.pinInputs(jobId, inputs, added);
  if (!pinned) return false;
  if (haveSameInputs(pinned, inputs)) return true;
  if (pinned.code_digest === inputs.code_digest) {
    await hyperoptJobs.warn(jobId, CANDLES_CHANGED);
    return true;
  }
  const message =
    'The strategy or the engine changed after the first trial, so later trials are not comparable. Start a new job';
  await hyperoptJobs.fail(jobId, { code: 'VAL006', message }, isoTime(clock.now()));
  return false;
}

function inputsOf({ codeDigest, dataDigest }: Pick<TrialRunner, 'codeDigest' | 'dataDigest'>): TrialInputs {
  return { code_digest: codeDigest, data_digest: dataDigest };
}

/** What has ended of the job that this one resumes. */
interface Earlier {
  readonly trials: readonly EndedTrial[];
  readonly permuted: EarlierSearches;
}

/** What has ended of the job that this one resumes, if that job ran the same code on the same candles. */
async function endedEarlier(
  { hyperoptJobs, ledger }: RunHyperoptWorkerDeps,
  { resumed_from }: HyperoptJobIn<'running'>,
  runner: TrialRunner,
): Promise<Earlier> {
  const earlier = resumed_from === null ? undefined : await hyperoptJobs.get(resumed_from);
  if (!earlier || !haveSameInputs(earlier, inputsOf(runner))) return { trials: [], permuted: NO_SEARCHES };
  const { job_id } = earlier;
  const trials = (await ledger.read(job_id, 0)).filter((trial) => trial.state !== 'running');
  return { trials, permuted: { job_id, ended: await ledger.permutedSearches(job_id) } };
}

interface HeldTrial {
  trial: TrialIn<'running'>;
  readonly lost: AbortController;
}

class Worker {
  readonly #deps: RunHyperoptWorkerDeps;
  readonly #job: HyperoptJobIn<'running'>;
  readonly #queue: TrialQueue;
  readonly #runner: TrialRunner;
  readonly #held = new Set<HeldTrial>();
  readonly #stop = new AbortController();
  readonly #permuted: PermutedSearches;
  readonly #stalled = new Map<string, string>();
  #reporting: Promise<unknown> = Promise.resolve();
  /** Trials that are counted for the owner. */
  #counted = 0;

  constructor(
    deps: RunHyperoptWorkerDeps,
    job: HyperoptJobIn<'running'>,
    me: WorkerIdentity,
    runner: TrialRunner,
    earlier: Earlier,
  ) {
    this.#deps = deps;
    this.#job = job;
    this.#runner = runner;
    this.#queue = new TrialQueue(deps, job, me, earlier.trials);
    this.#permuted = new PermutedSearches(deps, job, me.worker, earlier.permuted);
  }

  /** Runs trials until every one has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = AbortSignal.any([signal, this.#stop.signal]);
    const ended = new AbortController();
    const heartbeats = this.#sendHeartbeats(AbortSignal.any([stopped, ended.signal]));
    const count = this.#deps.concurrency(this.#job);
    const loops = Array.from({ length: count }, (_, loop) =>
      this.#runTrials(stopped).then(() => {
        // One fewer: a process keeps the candles of one permutation, and nothing is recorded between its trials.
        if (loop < Math.max(1, count - 1)) return this.#searchPermuted(stopped);
      }),
    );
    try {
      // A loop that fails ends the others.
      await Promise.all(loops.map((loop) => loop.catch((error: unknown) => this.#abort(error))));
    } finally {
      ended.abort();
      await heartbeats;
      await Promise.allSettled(loops);
      await this.#reporting;
      // Expire the leases, so that the next worker begins these trials immediately.
      await Promise.allSettled([...this.#held].map(({ trial }) => this.#deps.ledger.renew(trial, 0)));
    }
  }

  #abort(error: unknown): never {
    this.#stop.abort(error);
    throw error;
  }

  async #runTrials(stopped: AbortSignal): Promise<void> {
    let pause = FIRST_WAIT_MS;
    for (;;) {
      stopped.throwIfAborted();
      const claimed = await this.#queue.ask();
      if (claimed === 'none') return;
      if (claimed === 'wait') {
        // An aborted sleep rejects with an AbortError, not with the reason.
        await this.#deps.sleep(pause, stopped).catch(() => stopped.throwIfAborted());
        pause = Math.min(LONGEST_WAIT_MS, pause * 1.5);
        continue;
      }
      pause = FIRST_WAIT_MS;
      await this.#runAndTell(claimed, stopped);
    }
  }

  async #runAndTell(claimed: ClaimedTrial, stopped: AbortSignal): Promise<void> {
    const held: HeldTrial = { trial: claimed.trial, lost: new AbortController() };
    this.#held.add(held);
    try {
      const outcome = claimed.known
        ? await this.#takenOver(claimed.known)
        : await this.#runner.run(
            this.#requestOf(claimed),
            AbortSignal.any([stopped, held.lost.signal]),
            (text) => this.#reportStall(`trial ${claimed.trial.number}`, text),
          );
      await this.#count(claimed.trial.number + 1);
      if ((await this.#queue.tell(claimed, outcome)) === 'stopped') throw new HyperoptEnded();
    } catch (error) {
      if (!(error instanceof TrialLost)) throw error;
    }
    // Not after an error: held trials are released when the worker ends.
    this.#held.delete(held);
  }

  /** Counts so many trials of the job, and some ahead: as soon as a trial has ended, its owner can choose it. */
  async #count(trials: number): Promise<void> {
    if (trials <= this.#counted) return;
    const { owner, session = null, base, job_id, config } = this.#job;
    const counted = Math.min(config.n_trials, Math.ceil(trials * COUNTED_AHEAD));
    await this.#deps.ownerTrials.countRunning(owner, trialRunOf(base, session), job_id, counted);
    this.#counted = counted;
  }

  async #searchPermuted(stopped: AbortSignal): Promise<void> {
    const ended = await this.#permuted.run((request) => {
      stopped.throwIfAborted();
      const name = `permuted search ${request.permutation!.number}`;
      return this.#runner.run(request, stopped, (text) => this.#reportStall(name, text));
    });
    if (ended === 'stopped') throw new HyperoptEnded();
  }

  /** When several trials are stalled, the job reports the first. */
  #reportStall(trial: string, text: string | null): void {
    if (text) this.#stalled.set(trial, `${text} (${trial})`);
    else this.#stalled.delete(trial);
    const [first = null] = this.#stalled.values();
    this.#reporting = this.#reporting
      .then(() => this.#deps.hyperoptJobs.setStalled(this.#job.job_id, first))
      // The next stall reports it again.
      .catch(() => undefined);
  }

  /** The result of a trial with the same parameters. The daily returns of a trial of this job are stored already. */
  async #takenOver(known: EndedTrial): Promise<TrialOutcome> {
    if (known.state === 'failed') return { state: 'failed', error: known.error };
    const { windows } = known;
    if (known.state === 'pruned') return { state: 'pruned', windows };
    const { job_id, number, value, efficiency, figures, violation } = known;
    const own = job_id === this.#job.job_id;
    const returns = own ? null : ((await this.#deps.ledger.returnsOf(job_id, number)) ?? null);
    return { state: 'complete', value, windows, efficiency, returns, figures, violation };
  }

  #requestOf({ trial, past }: ClaimedTrial): TrialRequest {
    const { base, config } = this.#job;
    return {
      config: trialConfig(base, trial.params),
      search: config,
      past: pruningHistory(config, past),
    };
  }

  /** Renews leases and reads the job until the signal is aborted. */
  async #sendHeartbeats(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#deps.sleep(HEARTBEAT_INTERVAL_MS, signal);
        const job = await this.#deps.hyperoptJobs.get(this.#job.job_id);
        if (job?.status !== 'running') this.#stop.abort(new HyperoptEnded());
        await Promise.all([...this.#held].map((held) => this.#renew(held)));
      } catch {
        // Storage may be down for a while: leases last for several heartbeats, and the trial loops get the error too.
      }
    }
  }

  async #renew(held: HeldTrial): Promise<void> {
    const now = this.#deps.clock.now();
    if (held.trial.lease_expires_at - now > RENEW_BELOW_MS) return;
    const leaseUntil = now + LEASE_MS;
    if (await this.#deps.ledger.renew(held.trial, leaseUntil)) {
      held.trial = { ...held.trial, lease_expires_at: leaseUntil };
    } else if (this.#held.has(held)) {
      held.lost.abort(new TrialLost());
    }
  }
}
