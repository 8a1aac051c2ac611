/** True in `npm run bench -- --quick`, which shows that the benchmarks run. */
export const IS_QUICK = process.env.BENCH_QUICK === '1';

/** Number of runs or items of a benchmark: `full`, or `quick` in a quick run. */
export function scaled(full: number, quick = 1): number {
  return IS_QUICK ? quick : full;
}
