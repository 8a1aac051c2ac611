import { mix32 } from '#engine/random.ts';

/**
 * A random path with random access: Brownian motion in multifractal time (Mandelbrot, Fisher and Calvet, "A
 * Multifractal Model of Asset Returns", 1997) by midpoint displacement. A year-long block knows its two ends and its
 * variance; each half of a span gets a random share of the span's variance, and the middle is drawn from the Brownian
 * bridge in that time. Uneven shares at every scale make quiet and wild periods that last from minutes to months, and
 * with them fat tails. Every draw is a hash of its position, so any minute costs one descent and depends on no other query.
 */
export interface Path {
  readonly seed: number;
  /** Variance of a block's increments. */
  readonly variance: number;
  /** Standard deviation of the levels where blocks meet, around 0. They are independent: the path cannot run away. */
  readonly spread: number;
}

const LEVELS = 19;
/** Minutes of a block: 364 days. */
export const BLOCK_MINUTES = 2 ** LEVELS;
/**
 * A half's share of its span's variance is uniform in 0.5 ± 0.275. The kurtosis of the returns over 2^k minutes is then
 * 3 (1 + 0.55²/3)^(19-k): 18 at a minute, 7 at a day.
 */
const UNEVENNESS = 0.55;

const GOLDEN = 0x9e3779b9;
/** Standard deviation of the sum of four uniform numbers. */
const STANDARD_DEVIATION_OF_FOUR = Math.sqrt(1 / 3);

/** Sum of paths. */
export interface PathTarget {
  /** First minute. */
  readonly from: number;
  /** Level at the start of each minute and at the end of the last: one more than there are minutes. */
  readonly level: Float64Array;
  /** Variance within each minute. */
  readonly variance: Float64Array;
}

/** Adds the path, times `scale`, to the minutes of `target`. */
export function addPath(path: Path, scale: number, target: PathTarget): void {
  const to = target.from + target.variance.length;
  const firstBlock = Math.floor(target.from / BLOCK_MINUTES);
  for (let block = firstBlock; block * BLOCK_MINUTES < to; block++) {
    new BlockWalk(path, scale, target, block).run();
  }
  // The end of the last minute is the start of the next, which may be in another block.
  target.level[to - target.from]! += scale * levelAt(path, to);
}

/** Level of the path at the start of a minute. */
export function levelAt(path: Path, minute: number): number {
  let left = anchor(path, Math.floor(minute / BLOCK_MINUTES));
  let right = anchor(path, Math.floor(minute / BLOCK_MINUTES) + 1);
  const seed = blockSeed(path, Math.floor(minute / BLOCK_MINUTES));
  const offset = minute % BLOCK_MINUTES;
  let variance = path.variance;
  for (let depth = LEVELS - 1, node = 1; depth >= 0; depth--) {
    const draw = mix32(seed + Math.imul(node, GOLDEN));
    const share = shareOf(draw);
    const middle = middleOf(left, right, variance, share, draw);
    const inRight = (offset >>> depth) & 1;
    if (inRight) left = middle;
    else right = middle;
    variance *= inRight ? 1 - share : share;
    node = 2 * node + inRight;
  }
  return left;
}

/**
 * Approximate standard normal number: the sum of four uniform ones, at most 3.5 in size. It uses no function of the
 * platform's math library, so every machine draws the same.
 */
export function normalFrom(hash: number): number {
  const other = mix32(hash ^ GOLDEN);
  const sum = (hash & 0xffff) + (hash >>> 16) + (other & 0xffff) + (other >>> 16);
  return (sum / 65_535 - 2) / STANDARD_DEVIATION_OF_FOUR;
}

/** Level at the start of a block. */
function anchor(path: Path, block: number): number {
  return path.spread * normalFrom(mix32(path.seed ^ mix32(block)));
}

function blockSeed(path: Path, block: number): number {
  return mix32(mix32(path.seed + 1) ^ mix32(block + GOLDEN));
}

/** Share of a span's variance in its first half. */
function shareOf(draw: number): number {
  return 0.5 + UNEVENNESS * (mix32(draw + 1) / 4_294_967_296 - 0.5);
}

/** The middle of a span, from the Brownian bridge over its variance. */
function middleOf(left: number, right: number, variance: number, share: number, draw: number): number {
  return left + (right - left) * share + Math.sqrt(variance * share * (1 - share)) * normalFrom(draw);
}

/** Descends one block to every minute of the target. */
class BlockWalk {
  readonly #path: Path;
  readonly #scale: number;
  readonly #target: PathTarget;
  readonly #seed: number;
  readonly #block: number;
  /** Minutes of the target, counted from the block's start. */
  readonly #from: number;
  readonly #to: number;

  constructor(path: Path, scale: number, target: PathTarget, block: number) {
    this.#path = path;
    this.#scale = scale;
    this.#target = target;
    this.#block = block;
    this.#seed = blockSeed(path, block);
    this.#from = target.from - block * BLOCK_MINUTES;
    this.#to = this.#from + target.variance.length;
  }

  run(): void {
    const [left, right] = [anchor(this.#path, this.#block), anchor(this.#path, this.#block + 1)];
    this.#span(0, LEVELS, 1, left, right, this.#path.variance);
  }

  /** More than five arguments because it calls itself for every minute: an object would be made for each half of a span. */
  #span(start: number, depth: number, node: number, left: number, right: number, variance: number): void {
    if (start >= this.#to || start + (1 << depth) <= this.#from) return;
    if (depth === 0) {
      const at = start - this.#from;
      this.#target.level[at]! += this.#scale * left;
      this.#target.variance[at]! += this.#scale * this.#scale * variance;
      return;
    }
    const draw = mix32(this.#seed + Math.imul(node, GOLDEN));
    const share = shareOf(draw);
    const middle = middleOf(left, right, variance, share, draw);
    const half = depth - 1;
    this.#span(start, half, 2 * node, left, middle, variance * share);
    this.#span(start + (1 << half), half, 2 * node + 1, middle, right, variance * (1 - share));
  }
}
