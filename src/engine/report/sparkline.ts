import { roundNumber } from '../round.ts';

/** Significant digits of a value: a pixel of a small chart needs no more. */
const DIGITS = 6;
/** Largest value: the database stores numbers up to 1e126. */
const LARGEST = 1e100;

/** Values of a series at even distances, interpolated, with its first and its last one. @param series not empty */
export function sparklineOf(series: ArrayLike<number>, length: number): number[] {
  const last = series.length - 1;
  return Array.from({ length }, (_, index) => {
    const at = (index * last) / (length - 1);
    const before = Math.floor(at);
    const from = series[before]!;
    const to = series[Math.min(before + 1, last)]!;
    const value = Math.max(-LARGEST, Math.min(LARGEST, from + (to - from) * (at - before)));
    return roundNumber(Number(value.toPrecision(DIGITS)));
  });
}
