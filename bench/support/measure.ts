import type { Candles } from '#engine/candles.ts';
import type { Measurement } from './bench.ts';
import { scaled } from './quick.ts';

const WARM_UPS = scaled(5, 0);
/** Warm-up time of a comparison with the bound, ms. */
const WARM_UP_MS = scaled(1_500, 0);
const RUNS = scaled(21);

/** Median; for an even number of values the upper of the two middle ones. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/**
 * Duration of one call, ms; awaits its result. The garbage of earlier calls is collected first, so that they do not slow
 * down the call.
 */
export async function time(subject: () => unknown): Promise<number> {
  // A full collection would also discard compiled code.
  globalThis.gc?.({ type: 'minor' });
  const start = performance.now();
  await subject();
  return performance.now() - start;
}

/** {@link time} of one call, and processor time of all threads of this process during the call, ms. */
export async function cpuTime(subject: () => unknown): Promise<{ wallMs: number; cpuMs: number }> {
  globalThis.gc?.({ type: 'minor' });
  const before = process.cpuUsage();
  const wallMs = await time(subject);
  const { user, system } = process.cpuUsage(before);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

/** Duration of each of `runs` calls after warm-up calls, ms. */
export async function timesOf(subject: () => unknown, runs = RUNS, warmUps = WARM_UPS): Promise<number[]> {
  for (let i = 0; i < warmUps; i++) await subject();
  const times: number[] = [];
  for (let i = 0; i < runs; i++) times.push(await time(subject));
  return times;
}

/** Median of {@link timesOf}, ms. */
export async function medianTime(subject: () => unknown, runs = RUNS, warmUps = WARM_UPS): Promise<number> {
  return median(await timesOf(subject, runs, warmUps));
}

/** Sums five columns, each with its own running sum. JavaScript cannot read candles faster. */
export function sumColumns({ open, high, low, close, volume }: Candles): number {
  let a = 0.5;
  let b = 0.5;
  let c = 0.5;
  let d = 0.5;
  let e = 0.5;
  for (let i = 0; i < open.length; i++) {
    a += open[i]!;
    b += high[i]!;
    c += low[i]!;
    d += close[i]!;
    e += volume[i]!;
  }
  return a + b + c + d + e;
}

export interface BoundComparison {
  /** Median of the subject, milliseconds. */
  readonly subjectMs: number;
  /** Median of the column sum over the same candles in the same process, milliseconds. */
  readonly boundMs: number;
  /** boundMs / subjectMs: 1 is as fast as reading the candles once. */
  readonly share: number;
}

/**
 * Times `subject` and the bound in turns, so that a change of the machine's speed affects both equally. The warm-up is a
 * duration and not a number of calls: a short subject needs more calls until all its code is compiled.
 */
export async function compareWithBound(
  candles: Candles,
  subject: () => unknown,
  runs = RUNS,
): Promise<BoundComparison> {
  const subjectTimes: number[] = [];
  const boundTimes: number[] = [];
  const warmUntil = performance.now() + WARM_UP_MS;
  while (boundTimes.length < runs) {
    const isWarm = performance.now() >= warmUntil;
    const boundMs = await time(() => sumColumns(candles));
    const subjectMs = await time(subject);
    if (!isWarm) continue;
    boundTimes.push(boundMs);
    subjectTimes.push(subjectMs);
  }
  const subjectMs = median(subjectTimes);
  const boundMs = median(boundTimes);
  return { subjectMs, boundMs, share: boundMs / subjectMs };
}

/** Row of the table for a comparison with the bound. `atLeast` is its target, if any. */
export function boundMeasurement(label: string, comparison: BoundComparison, atLeast?: number): Measurement {
  const { share, subjectMs, boundMs } = comparison;
  const detail = `${subjectMs.toFixed(2)} ms, bound ${boundMs.toFixed(2)} ms`;
  return {
    label,
    value: share,
    unit: 'of bound',
    ...(atLeast === undefined ? {} : { target: { atLeast } }),
    detail,
  };
}
