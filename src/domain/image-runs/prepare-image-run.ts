import { isTerminal, type JobRun } from '#contract/backtests/backtest.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import type { InstrumentStore } from '../data/instrument-ports.ts';
import { chooseBenchmark } from '../inputs/load-benchmark.ts';
import type { Clock, JobStore, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ImageRuns } from './image-run-ports.ts';

export interface PrepareImageRunDeps {
  readonly jobs: Pick<JobStore, 'get'>;
  readonly series: Pick<SeriesStore, 'getMany' | 'months'>;
  readonly instruments: Pick<InstrumentStore, 'getMany'>;
  readonly runs: Pick<ImageRuns, 'writeInput'>;
  readonly clock: Clock;
}

/**
 * Stores everything that the task of a registered image may know of its job, and returns the key. Repeating it stores another
 * input. Throws Error for a job that has ended or does not exist, DATA005.
 */
export async function prepareImageRun(deps: PrepareImageRunDeps, jobId: string): Promise<string> {
  const job = await deps.jobs.get(jobId);
  if (!job || isTerminal(job.status)) throw new Error(`${jobId} is ${job?.status ?? 'not stored'}`);
  const { exchange, pairs, precision } = job.config;
  const { timeframe, informative = [] } = job.execution_input;
  const benchmark = await chooseBenchmark(deps, job.config);
  const others = [...informative.map(({ symbol }) => symbol), ...(benchmark ? [benchmark.pair] : [])];
  const symbols = [...new Set([...pairs, ...others])];
  const everything = symbols.flatMap((symbol) => ALL_TIMEFRAMES.map((each) => ({ symbol, timeframe: each })));
  const stored = await deps.series.getMany(exchange, everything);
  const own = timeframe.split(',');
  const read = everything.filter(
    (each) =>
      (pairs.includes(each.symbol) && own.includes(each.timeframe)) ||
      (each.symbol === benchmark?.pair &&
        [benchmark.source?.timeframe, benchmark.exact].includes(each.timeframe)) ||
      informative.some(({ symbol, timeframe: other }) => symbol === each.symbol && other === each.timeframe),
  );
  const months = await Promise.all(
    read.map(async (each) => ({
      ...each,
      months: (await deps.series.months({ exchange, ...each })).map(({ changes: _, ...month }) => ({
        ...month,
        gaps: month.gaps.map(([from, count]): [number, number] => [from, count]),
      })),
    })),
  );
  const instruments = precision === 'none' ? [] : await deps.instruments.getMany(exchange, pairs);
  return deps.runs.writeInput({
    schema_version: 1,
    job: runOf(job, isoTime(deps.clock.now())),
    series: [...stored.values()].map(({ gaps, corrupt, sessions, ...info }) => ({
      ...info,
      ...(sessions && {
        sessions: {
          ...sessions,
          closed: sessions.closed.map(([from, minutes]): [number, number] => [from, minutes]),
        },
      }),
      gaps: gaps.map(([from, count]) => [from, count]),
      ...(corrupt && { corrupt: [...corrupt] }),
    })),
    months,
    instruments: Object.fromEntries(instruments),
  });
}

/** Fields of the job that the task reads: neither its owner nor its grants. */
function runOf(job: Omit<JobRun, 'started_at'>, started_at: string): JobRun {
  const { job_id, kind, attempt, config, strategy_digest, registered, collection, execution_input } = job;
  const { start, collect, timeframe, informative } = execution_input;
  return {
    job_id,
    kind,
    attempt,
    started_at,
    config,
    strategy_digest,
    registered,
    collection,
    execution_input: { start, collect, timeframe, ...(informative && { informative }) },
  };
}
