import { createRandom, mix32, type Random } from '#engine/random.ts';

/** Seeded choices. */
export class SeededRandom {
  readonly #next: Random;

  constructor(seed: number) {
    this.#next = createRandom(seed);
  }

  /** Choices of one request, independent of those of earlier requests. */
  static of(seed: number, index: number): SeededRandom {
    return new SeededRandom(mix32(seed) ^ mix32(index + 1));
  }

  /** True with this probability. */
  bool(probability = 0.5): boolean {
    return this.#next() < probability;
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.#next() * (max - min + 1));
  }

  /** In [min, max). */
  number(min: number, max: number): number {
    return min + this.#next() * (max - min);
  }

  /** Random item. Throws for an empty list. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('Nothing to choose from');
    return list[this.int(0, list.length - 1)]!;
  }
}
