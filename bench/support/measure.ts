import type { Candles } from '#engine/candles.ts';
import type { Figure } from './bench.ts';

const WARM_UPS = 5;
/** Warm-up of a comparison with the bound. */
const WARM_UP_MS = 1_500;
const RUNS = 21;

/** The middle of the sorted values (the upper one of two). */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/**
 * Milliseconds that one call takes; awaits what it returns. The garbage of earlier calls is collected before, so that a call
 * pays for its own only.
 */
export async function time(subject: () => unknown): Promise<number> {
  // A full collection would throw compiled code away as well.
  globalThis.gc?.({ type: 'minor' });
  const start = performance.now();
  await subject();
  return performance.now() - start;
}

/** {@link time} of one call beside the processor time of all threads of this process meanwhile, milliseconds. */
export async function cpuTime(subject: () => unknown): Promise<{ wallMs: number; cpuMs: number }> {
  globalThis.gc?.({ type: 'minor' });
  const before = process.cpuUsage();
  const wallMs = await time(subject);
  const { user, system } = process.cpuUsage(before);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

/** Milliseconds of each of `runs` calls, after warm-up calls that are not counted. */
export async function timesOf(subject: () => unknown, runs = RUNS, warmUps = WARM_UPS): Promise<number[]> {
  for (let i = 0; i < warmUps; i++) await subject();
  const times: number[] = [];
  for (let i = 0; i < runs; i++) times.push(await time(subject));
  return times;
}

/** The median of {@link timesOf}. */
export async function medianTime(subject: () => unknown, runs = RUNS, warmUps = WARM_UPS): Promise<number> {
  return median(await timesOf(subject, runs, warmUps));
}

/** Adds up five columns with one running sum each: as fast as JavaScript can read candles. */
function sumColumns({ open, high, low, close, volume }: Candles): number {
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
  /** boundMs / subjectMs: 1 would be as fast as reading the candles once. */
  readonly share: number;
}

/**
 * Times `subject` and the bound in turns, so that a change of the machine's speed touches both alike. A subject of a few
 * milliseconds needs more warm-up calls than others until all its code is compiled: they take a time, not a number.
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

/** A comparison with the bound as a row of the table. `atLeast` is its goal, if it has one. */
export function boundFigure(label: string, comparison: BoundComparison, atLeast?: number): Figure {
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
