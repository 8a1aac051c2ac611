import { createRandom, mix32, type Random } from '../../random.ts';

/** The chances of one round: they depend on the seed and the round alone. */
export function roundRandom(seed: number, round: number): Random {
  return createRandom(mix32(seed) ^ mix32(round + 1));
}

/**
 * A share of 0..count-1, at least one number, ascending: every choice is equally likely (selection sampling, Knuth, The Art of
 * Computer Programming 3.4.2, algorithm S).
 */
export function sample(count: number, share: number, random: Random): Int32Array {
  const chosen = new Int32Array(Math.max(1, Math.round(share * count)));
  let taken = 0;
  for (let k = 0; k < count && taken < chosen.length; k++) {
    if (random() * (count - k) < chosen.length - taken) chosen[taken++] = k;
  }
  return chosen;
}

/** The numbers 0..count-1 that are not among some ascending ones. */
export function others(count: number, chosen: Int32Array): Int32Array {
  const rest = new Int32Array(count - chosen.length);
  let next = 0;
  let found = 0;
  for (let k = 0; k < count; k++) {
    if (chosen[next] === k) next++;
    else rest[found++] = k;
  }
  return rest;
}

/** The numbers from..to-1. */
export function range(from: number, to: number): Int32Array {
  return Int32Array.from({ length: to - from }, (_, k) => from + k);
}
