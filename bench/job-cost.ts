import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { equitySparkline } from '#domain/backtests/equity-sparkline.ts';
import { dispatch } from '#domain/queue/dispatch.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { backtestLane } from '#domain/queue/lanes.ts';
import { startEngine } from '../test/support/engine.ts';
import { memoryExecutions } from '../test/support/executions.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../test/support/jobs.ts';
import type { Bench, Measurement } from './support/bench.ts';

/** Duration of the run and interval of its progress, s. */
const RUN_SECONDS = 60;
const PROGRESS_SECONDS = 5;
/** Trials of the owner. */
const TRIALS = 1_000;
const AT = '2026-01-01T00:00:00.000Z';

/** Units of every command, indexes included, as the database accounts them. */
class Units {
  #written = 0;
  #read = 0;

  constructor(client: DynamoDBDocumentClient) {
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
          const result = await next(args);
          const { ConsumedCapacity } = result.output as { ConsumedCapacity?: unknown };
          const capacities = [ConsumedCapacity ?? []].flat() as { CapacityUnits?: number }[];
          const units = capacities.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
          if (/Get|Query/.test(String(commandName))) this.#read += units;
          else this.#written += units;
          return result;
        },
      { step: 'initialize' },
    );
  }

  /** Units written by `work`. */
  async of(work: () => Promise<unknown>): Promise<number> {
    const before = this.#written;
    await work();
    return this.#written - before;
  }

  /** Units read by `work`. */
  async readBy(work: () => Promise<unknown>): Promise<number> {
    const before = this.#read;
    await work();
    return this.#read - before;
  }
}

/** Long because it is the list of a job's writes, of which most need the ones before. */
async function measure(client: DynamoDBDocumentClient, table: string): Promise<Measurement[]> {
  const jobs = new DynamoJobStore(client, table);
  const queue = new DynamoJobQueue(client, table);
  const executions = memoryExecutions();
  const deps = { jobs, queue, executions, clock: Date, log: { warn: () => {}, error: () => {} } };
  const lane = backtestLane({ ...deps, maxRunning: { backtest: 1, fast: 1, hyperopt: 1 } });
  const units = new Units(client);
  const submit = (id: string) => {
    const job = pendingJob(id);
    return enqueue<StoredBacktestJob>(deps, lane, job, () => jobs.create(job));
  };
  const direct = await units.of(() => submit('bt-1'));
  const waiting = await units.of(() => submit('bt-2'));
  const [slot] = await queue.slots('backtest');
  const freed = await units.of(() => queue.free(slot!));
  const dispatched = await units.of(() => dispatch(deps, lane));
  const claimed = await units.of(() => jobs.claim('bt-1', 'task', AT));
  const progress = await units.of(async () => {
    for (let s = PROGRESS_SECONDS; s < RUN_SECONDS; s += PROGRESS_SECONDS) {
      await jobs.setProgress('bt-1', 1, s / RUN_SECONDS, AT);
    }
  });
  const outcome = {
    result: SOME_RESULT,
    results: SOME_RESULTS,
    timing: SOME_TIMING,
    warnings: [],
    sparkline: equitySparkline(1000, [1010, 1003.27, SOME_RESULT.final_balance]),
  };
  const trials = new DynamoOwnerTrials(client, table);
  const tried = { strategy: 'ema_crossover', simulated: true, assets: ['BTC', 'ETH'], start: 0, end: 1 };
  const countTrial = (index: number) =>
    trials.count('anonymous', { ...tried, session: 'monday' }, [
      { digest: String(index).padStart(12, '0'), sharpe: 0.0512 },
    ]);
  const countAll = async () => {
    for (let index = 0; index < TRIALS; index++) await countTrial(index);
  };
  const counted = (await units.of(countAll)) / TRIALS;
  const countReads = await units.readBy(() => countTrial(TRIALS));
  const listReads = await units.readBy(() => trials.read('anonymous', ['monday']));
  const completed = await units.of(() => jobs.complete('bt-1', 1, outcome, AT));
  const annotated = await units.of(() => jobs.annotate('bt-1', { notes: 'stop too tight', pinned: true }));
  const ended = (await jobs.get('bt-1'))!;
  const deleted = await units.of(() => jobs.markDeleted(ended, AT));
  const named = await units.of(() => jobs.create(pendingJob('bt-3', { experiment_name: 'sweep' })));
  const unnamed = await units.of(() => jobs.create(pendingJob('bt-4')));
  const row = (label: string, value: number, detail?: string, unit = 'write units'): Measurement => ({
    label,
    value,
    unit,
    ...(detail && { detail }),
  });
  return [
    row('submission with a free slot', direct, 'stored, slot taken'),
    row('submission that waits', waiting),
    row('slot given by the dispatcher', dispatched),
    row('claim', claimed),
    row('progress of a run of a minute', progress, `every ${PROGRESS_SECONDS} s`),
    row('trial counted', counted, 'mean, in a session or none; a repetition of a run writes nothing'),
    row('reads of a count', countReads, `among ${TRIALS} trials of the owner`, 'read units'),
    row('reads of a page of a list', listReads, 'of the trials, for each owner on it', 'read units'),
    row('completion', completed),
    row('slot freed', freed),
    row('experiment of a submission', named - unnamed, 'in addition to its own'),
    row('notes, tags and pin', annotated),
    row('deletion', deleted, 'before repair'),
    row('backtest of a minute, all writes', direct + claimed + progress + counted + completed + freed),
  ];
}

export default {
  name: 'job-cost',
  description: 'DynamoDB write units of a backtest job, indexes included: counted, not timed',
  run: async () => {
    const { client, tables, stop } = await startEngine();
    try {
      return await measure(client, tables.jobs);
    } finally {
      await stop();
    }
  },
} satisfies Bench;
