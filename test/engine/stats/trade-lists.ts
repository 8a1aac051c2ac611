/** n per-trade returns by a linear congruential generator: x = 1664525 x + 1013904223 mod 2^32, starting from the seed. */
export function generated(seed: number, n: number, shift: number): number[] {
  let x = seed;
  return Array.from({ length: n }, () => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return (((x >>> 16) % 601) - 250) / 100 + shift;
  });
}
