import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { GRACE_MS } from '#adapters/dynamo/open-repair.ts';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type { ExecutionState, Executions } from '#domain/jobs/execution-ports.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { executionName, runOfExecution } from '#domain/queue/execution-name.ts';
import { laneOfBacktest } from '#domain/queue/lanes.ts';
import type { Slot } from '#domain/queue/queue-ports.ts';
import { endExecutions, type RepairDeps, repairQueue } from '#domain/repair/repair-jobs.ts';
import { createRandom } from '#engine/random.ts';
import { startEngine } from '../../test/support/engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../../test/support/jobs.ts';
import { QueueOrder } from './queue-order.ts';

/** Quotas of an AWS account, and behavior of the services between them. */
export interface Account {
  readonly name: string;
  /** Slots: `maxRunning` of the stage. */
  readonly slots: number;
  readonly fastSlots: number;
  /** Concurrent executions that the functions' quota leaves to backtests. */
  readonly functions: number;
  /** vCPU that Fargate runs at most; a backtest uses one. */
  readonly vcpus: number;
  /** RunTask calls per second; the bucket holds as many. */
  readonly launchesPerSecond: number;
}

export interface Load {
  readonly jobs: number;
  readonly owners: number;
  /** Time in which all jobs are submitted, ms. */
  readonly submittedWithinMs: number;
}

export interface SimulationResult {
  readonly completed: number;
  readonly failed: number;
  /** Tasks that ran while another task ran the same job. */
  readonly doubleRuns: number;
  /** Starts that lacked capacity. */
  readonly shortages: number;
  /** Jobs of the fast lane that a throttled or lost function left to Fargate. */
  readonly fallbacks: number;
  /** Longest time that a slot was kept after its execution had ended, ms. */
  readonly longestIdleSlotMs: number;
  /** Jobs that started later than a less urgent job of their owner, although both waited. */
  readonly overtaken: number;
  /** Largest difference between owners' numbers of started jobs while all of them had waiting jobs. */
  readonly ownerSpread: number;
  /** From the first submission to the last completion, ms of the simulated clock. */
  readonly drainMs: number;
}

/** Share of execution ends that EventBridge loses and delivers twice; delivery takes up to this long, ms. */
const LOST = 0.02;
const DUPLICATED = 0.05;
const DELAY_MS = 8_000;
/** Share of StartExecution calls that fail after they started the execution, and before. */
const START_FAILS_AFTER = 0.005;
const START_FAILS_BEFORE = 0.005;
/** Freshness check, Fargate start and shortest and longest run of a task, ms. */
const CHECK_MS = 1_000;
const LAUNCH_MS = 45_000;
const RUN_MS = { min: 5_000, max: 60_000 };
/** Share of jobs in the fast lane; their run there, and the share of functions that are lost after the claim. */
const FAST = 0.5;
const FAST_RUN_MS = 2_000;
const FUNCTION_LOST = 0.02;
const BATCH_WINDOW_MS = 1_000;
const BATCH_SIZE = 100;
const TICK_MS = 60_000;
const OUTCOME = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Runs one scenario: the real submit, dispatch and repair code on the embedded database, on a simulated clock. */
export async function simulateQueue(account: Account, load: Load, seed: number): Promise<SimulationResult> {
  const { client, tables, stop } = await startEngine();
  try {
    return await new Simulation(client, tables.jobs, account, load, seed).run();
  } finally {
    await stop();
  }
}

interface Event {
  readonly at: number;
  readonly run: () => Promise<unknown>;
}

class Simulation {
  readonly #account: Account;
  readonly #load: Load;
  readonly #random: () => number;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #jobs: DynamoJobStore;
  readonly #deps: RepairDeps;
  readonly #events: Event[] = [];
  #now = START;

  readonly #executions = new Map<string, { status: ExecutionState['status']; endedAt?: number }>();
  readonly #runningJobs = new Set<string>();
  #vcpusUsed = 0;
  #functionsUsed = 0;
  #fallbacks = 0;
  #launchTokens: number;
  #launchAt = START;
  #messages: string[] = [];
  #batchPlanned = false;

  #completed = 0;
  #doubleRuns = 0;
  #shortages = 0;
  #longestIdleSlotMs = 0;
  readonly #order: QueueOrder;

  constructor(client: DynamoDBDocumentClient, table: string, account: Account, load: Load, seed: number) {
    this.#table = table;
    this.#account = account;
    this.#load = load;
    this.#random = createRandom(seed);
    this.#client = client;
    this.#launchTokens = account.launchesPerSecond;
    this.#jobs = new DynamoJobStore(client, table);
    this.#order = new QueueOrder(load.jobs);
    const clock = { now: () => this.#now };
    const log = { warn: () => {}, error: () => {} };
    this.#deps = {
      jobs: this.#jobs,
      queue: this.#orderedQueue(),
      // No simulated job runs, so none has a cost.
      strategyCosts: { get: async () => undefined, put: async () => {} },
      executions: this.#cloud(),
      hyperoptJobs: new DynamoHyperoptStore(client, table),
      hyperoptExecutions: this.#cloud() as never,
      maxRunning: { backtest: account.slots, fast: account.fastSlots, hyperopt: 1 },
      clock,
      log,
      random: this.#random,
      graceMs: GRACE_MS,
      tasks: { stop: async () => {} },
      countTrials: async () => {},
      onError: (id, error) => {
        // A start that fails is part of the model; any other error is a bug.
        if (!/modeled/.test(String(error))) throw new Error(`${id}: ${error}`);
      },
      // No job is a validation, so the registry is not used.
      registry: {} as RepairDeps['registry'],
      expiry: null,
      columnsExpiry: null,
      signalsExpiry: null,
    };
  }

  async run(): Promise<SimulationResult> {
    this.#planSubmissions();
    this.#at(START + TICK_MS, () => this.#tick());
    while (this.#completed < this.#load.jobs) {
      const event = this.#events.shift();
      if (!event) throw new Error('The simulation has no more events, and jobs are unfinished');
      this.#now = Math.max(this.#now, event.at);
      await event.run();
    }
    const { items } = await this.#jobs.list({ status: 'failed' }, 100, null);
    return {
      completed: this.#completed,
      failed: items.length,
      doubleRuns: this.#doubleRuns,
      shortages: this.#shortages,
      fallbacks: this.#fallbacks,
      longestIdleSlotMs: this.#longestIdleSlotMs,
      overtaken: this.#order.overtaken,
      ownerSpread: this.#order.spread,
      drainMs: this.#now - START,
    };
  }

  /** Adds an event in order of time. */
  #at(at: number, run: Event['run']): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { at, run });
  }

  #after(ms: number, run: Event['run']): void {
    this.#at(this.#now + ms, run);
  }

  /** Ten submissions at a time run concurrently. */
  #planSubmissions(): void {
    const { jobs, owners, submittedWithinMs } = this.#load;
    for (let from = 0; from < jobs; from += 10) {
      this.#at(START + (from / jobs) * submittedWithinMs, () =>
        Promise.all(
          Array.from({ length: Math.min(10, jobs - from) }, (_, index) => this.#submit(from + index, owners)),
        ),
      );
    }
  }

  async #submit(number: number, owners: number): Promise<void> {
    const owner = `owner-${Math.floor(this.#random() * owners)}`;
    const priority = 1 + Math.floor(this.#random() * 10);
    const since = new Date(this.#now).toISOString();
    const job = pendingJob(`bt-${String(number).padStart(6, '0')}`, {
      owner,
      priority,
      created_at: since,
      queue: { lane: this.#random() < FAST ? 'fast' : 'backtest', since, deferrals: 0 },
    });
    this.#order.submitted(job);
    const lane = laneOfBacktest(this.#deps, job);
    await enqueue<StoredBacktestJob>(this.#deps, lane, job, () => this.#jobs.create(job));
  }

  /** The queue, which also reports the order in which jobs are given slots. */
  #orderedQueue(): DynamoJobQueue {
    const order = this.#order;
    return new (class extends DynamoJobQueue {
      override async take(slot: Slot): ReturnType<DynamoJobQueue['take']> {
        const outcome = await super.take(slot);
        if (outcome === 'taken') order.started(slot.job_id, slot.since);
        return outcome;
      }
    })(this.#client, this.#table);
  }

  /** Step Functions, Lambda and Fargate. */
  #cloud(): Executions {
    return {
      start: async (input: object, name) => {
        if (this.#random() < START_FAILS_BEFORE) throw new Error('modeled: StartExecution throttled');
        if (!this.#executions.has(name)) {
          this.#executions.set(name, { status: 'running' });
          const isFast = 'lane' in input && input.lane === 'fast';
          this.#after(CHECK_MS, () => (isFast ? this.#runFunction(name) : this.#launch(name)));
        }
        if (this.#random() < START_FAILS_AFTER) throw new Error('modeled: response lost');
      },
      stop: async () => {},
      state: async (name) => this.#executions.get(name),
      running: async () =>
        new Set([...this.#executions].flatMap(([name, { status }]) => (status === 'running' ? [name] : []))),
    };
  }

  /** State RunBacktestFast of the state machine. */
  async #runFunction(name: string): Promise<void> {
    if (this.#functionsUsed >= this.#account.functions) return this.#fallBack(name);
    this.#functionsUsed++;
    const isLost = this.#random() < FUNCTION_LOST;
    await this.#runClaimed(name, FAST_RUN_MS, async (complete) => {
      this.#functionsUsed--;
      await (isLost ? this.#fallBack(name) : complete());
    });
  }

  async #fallBack(name: string): Promise<void> {
    this.#fallbacks++;
    await this.#launch(name);
  }

  async #launch(name: string): Promise<void> {
    if (!this.#takeLaunchToken()) return this.#lack(name, 'Rate exceeded');
    if (this.#vcpusUsed >= this.#account.vcpus) return this.#lack(name, 'vCPU quota reached');
    this.#vcpusUsed++;
    this.#after(LAUNCH_MS, () => this.#runTask(name));
  }

  #takeLaunchToken(): boolean {
    const { launchesPerSecond } = this.#account;
    const refilled = ((this.#now - this.#launchAt) / 1_000) * launchesPerSecond;
    this.#launchTokens = Math.min(launchesPerSecond, this.#launchTokens + refilled);
    this.#launchAt = this.#now;
    if (this.#launchTokens < 1) return false;
    this.#launchTokens--;
    return true;
  }

  /** State NoteShortage of the state machine, and the end of the execution. */
  async #lack(name: string, reason: string): Promise<void> {
    const { job_id } = runOfExecution(name);
    this.#shortages++;
    this.#order.deferred(job_id);
    await this.#client.send(
      new UpdateCommand({
        TableName: this.#table,
        Key: { job_id, item: 'JOB' },
        ConditionExpression: '#status IN (:pending, :running)',
        UpdateExpression: 'SET shortage = :shortage ADD revision :one',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':pending': 'pending',
          ':running': 'running',
          ':shortage': { execution: name, reason },
          ':one': 1,
        },
      }),
    );
    this.#end(name);
  }

  async #runTask(name: string): Promise<void> {
    const ms = RUN_MS.min + this.#random() * (RUN_MS.max - RUN_MS.min);
    await this.#runClaimed(name, ms, async (complete) => {
      this.#vcpusUsed--;
      await complete();
    });
  }

  /** Claims the job of an execution, and calls `end` when its program ends. */
  async #runClaimed(
    name: string,
    ms: number,
    end: (complete: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { job_id } = runOfExecution(name);
    if (this.#runningJobs.has(job_id)) this.#doubleRuns++;
    this.#runningJobs.add(job_id);
    const claim = await this.#jobs.claim(job_id, name, new Date(this.#now).toISOString());
    if (claim.outcome !== 'claimed') throw new Error(`${name} found its job ${claim.outcome}`);
    this.#after(ms, async () => {
      this.#runningJobs.delete(job_id);
      await end(async () => {
        await this.#jobs.complete(job_id, claim.job.attempt, OUTCOME, new Date(this.#now).toISOString());
        this.#completed++;
        this.#end(name);
      });
    });
  }

  /** EventBridge reports the end: late, twice or never. */
  #end(name: string): void {
    this.#executions.set(name, { status: 'succeeded', endedAt: this.#now });
    if (this.#random() < LOST) return;
    const deliveries = this.#random() < DUPLICATED ? 2 : 1;
    for (let each = 0; each < deliveries; each++) {
      this.#after(this.#random() * DELAY_MS, async () => {
        this.#messages.push(name);
        if (this.#batchPlanned) return;
        this.#batchPlanned = true;
        this.#after(BATCH_WINDOW_MS, () => this.#handleBatches());
      });
    }
  }

  /** Two readers of the queue. */
  async #handleBatches(): Promise<void> {
    this.#batchPlanned = false;
    while (this.#messages.length > 0) {
      const batches = [this.#messages.splice(0, BATCH_SIZE), this.#messages.splice(0, BATCH_SIZE)];
      await Promise.all(
        batches.map((batch) => (batch.length > 0 ? endExecutions(this.#deps, batch) : undefined)),
      );
    }
  }

  async #tick(): Promise<void> {
    await repairQueue(this.#deps);
    const { queue } = this.#deps;
    for (const slot of [...(await queue.slots('backtest')), ...(await queue.slots('fast'))]) {
      const endedAt = this.#executions.get(executionName(slot))?.endedAt;
      if (endedAt === undefined) continue;
      this.#longestIdleSlotMs = Math.max(this.#longestIdleSlotMs, this.#now - endedAt);
    }
    this.#after(TICK_MS, () => this.#tick());
  }
}
