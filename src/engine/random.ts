/** A source of uniform numbers in [0, 1). */
export type Random = () => number;

/** Mixes a 32-bit integer (murmur3 finalizer): every input bit changes every output bit with probability about 1/2. */
export function mix32(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** 32-bit FNV-1a hash of a string's UTF-16 code units: turns names into seeds. */
export function hash32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** Exchanges two values in place. */
export function swap(values: Float64Array | Int32Array, i: number, j: number): void {
  const value = values[i]!;
  values[i] = values[j]!;
  values[j] = value;
}

/** The numbers 0 to `length` - 1 in random order (Fisher and Yates). */
export function shuffledIndices(length: number, random: Random): Int32Array {
  const order = Int32Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i--) swap(order, i, Math.floor(random() * (i + 1)));
  return order;
}

/** A seeded generator (sfc32, Chris Doty-Humphrey's PractRand): 32-bit output as a double in [0, 1). */
export function createRandom(seed: number): Random {
  let a = mix32(seed);
  let b = mix32(seed ^ 0x9e3779b9);
  let c = mix32(seed ^ 0x7f4a7c15);
  let counter = 1;
  const next = () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}
