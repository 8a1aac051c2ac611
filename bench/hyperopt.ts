import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Measurement } from './support/bench.ts';
import { expectOk, withPlatform } from './support/local-platform.ts';
import { scaled } from './support/quick.ts';

const TRIALS = scaled(500, 30);
/** 90 days of 1h candles: 30 days of training before each window, and 10 windows of 6 days. */
const SEARCH = {
  strategy: 'ml_classifier',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  n_trials: TRIALS,
  train_period_days: 30,
  backtest_period_days: 6,
  date_range: { start: '2025-10-01T00:00:00Z', end: '2025-12-30T00:00:00Z' },
  model_types: ['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'],
  n_estimators_range: [10, 60],
  objective_metric: 'total_profit_pct',
  pruner: 'none',
};
/** Trials left out at the start, while code is compiled and loaded. */
const WARM_TRIALS = scaled(50, 2);
const SAMPLE_MS = 250;
/** Unit of the process times in /proc. */
const TICKS_PER_SECOND = 100;
/** Allowed growth: the heap grows between two garbage collections. */
const MEMORY_GROWTH_MB = 40;

interface Sample {
  readonly at: number;
  readonly ended: number;
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** Process ID of the job's only worker; undefined before its start and after its end. */
function workerOf(jobId: string): string | undefined {
  return readdirSync('/proc').find((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return (
        readFileSync(`/proc/${entry}/environ`, 'utf8').includes(`JOB_ID=${jobId}`) &&
        readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes('tasks/hyperopt')
      );
    } catch {
      return false;
    }
  });
}

type Usage = Pick<Sample, 'cpuMs' | 'residentMb'>;

/** Processor time and resident memory of a process and its descendants; undefined after its end. */
function usageOf(pid: string): Usage | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    // Fields 13 and 14 are the times of the children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    const own = {
      cpuMs: (ticks * 1000) / TICKS_PER_SECOND,
      residentMb: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024,
    };
    return children.map(usageOf).reduce<Usage>(added, own);
  } catch {
    return undefined;
  }
}

function added(sum: Usage, usage: Usage | undefined): Usage {
  if (usage === undefined) return sum;
  return { cpuMs: sum.cpuMs + usage.cpuMs, residentMb: sum.residentMb + usage.residentMb };
}

async function follow(base: string): Promise<Sample[]> {
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(SEARCH) };
  const { job_id } = (await expectOk(await fetch(base, request))) as { job_id: string };
  const samples: Sample[] = [];
  for (let pid: string | undefined; ; ) {
    const job = (await expectOk(await fetch(`${base}/${job_id}`))) as {
      status: string;
      current_trial: number;
    };
    if (job.status === 'failed') throw new Error(`Hyperopt job ${job_id} failed`);
    pid ??= workerOf(job_id);
    const usage = pid && usageOf(pid);
    if (usage) samples.push({ at: performance.now(), ended: job.current_trial, ...usage });
    if (job.status === 'completed') return samples;
    await sleep(SAMPLE_MS);
  }
}

function measurements(samples: readonly Sample[]): Measurement[] {
  const warm = samples.filter(({ ended }) => ended >= WARM_TRIALS && ended < TRIALS);
  const [first, last] = [warm[0]!, warm.at(-1)!];
  const cores = availableParallelism();
  const wall = last.at - first.at;
  const trials = last.ended - first.ended;
  const third = (part: number) => {
    const from = first.ended + (trials * part) / 3;
    const memory = warm.filter(({ ended }) => ended >= from && ended <= from + trials / 3);
    return Math.max(...memory.map(({ residentMb }) => residentMb));
  };
  const detail = `${cores} cores, load average ${loadavg()[0]!.toFixed(1)}`;
  return [
    { label: 'trials per second', value: (1000 * trials) / wall, unit: 'trials/s', detail },
    {
      label: 'cores busy with trials',
      value: (last.cpuMs - first.cpuMs) / wall / cores,
      unit: 'of all cores',
      detail,
    },
    {
      label: 'processor time of a trial',
      value: (last.cpuMs - first.cpuMs) / trials,
      unit: 'ms',
      detail: '10 windows, three kinds of boosting; includes claiming and reporting the trial',
    },
    {
      label: `memory of the job over ${TRIALS} trials, last third minus first third`,
      value: third(2) - third(0),
      unit: 'MB',
      target: { atMost: MEMORY_GROWTH_MB },
      detail: `peaks of the thirds ${[0, 1, 2].map((part) => third(part).toFixed(0)).join(', ')} MB`,
    },
  ];
}

export default {
  name: 'hyperopt',
  description: `Hyperopt job of ${TRIALS} trials in local mode: throughput, processor time and memory of its only worker and the worker's trial processes`,
  run: () =>
    withPlatform(async ({ strategy_service_url }) =>
      measurements(await follow(`${strategy_service_url}/api/v1/hyperopt`)),
    ),
} satisfies Bench;
