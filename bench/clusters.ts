import type { ClusterTotals } from '#contract/stored-challenge.ts';
import { MIN_CLUSTERS } from '#domain/challenges/decide-challenge.ts';
import { createRandom, type Random } from '#engine/random.ts';
import { alwaysValidP, isHarmful } from '#engine/stats/always-valid.ts';
import { type Cluster, NO_CLUSTERS, sampleOfClusters, withCluster } from '#engine/stats/clusters.ts';
import { type DoubleDouble, plus, times, ZERO } from '#engine/stats/double-double.ts';
import { type SampleStats, sampleOfSums, stratifiedWelch } from '#engine/stats/welch.ts';
import type { Bench, Figure } from './support/bench.ts';

/** Closed trades of each variant at the planned look, and at the end. */
const PLANNED = 100;
const MOST = 1000;
const RUNS = 1000;
const ALPHA = 0.05;
/** The part of a trade's variance that all trades of its key share. */
const SHARED = 0.5;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A variant whose trades come key by key. */
class Variant {
  n = 0;
  clusters: ClusterTotals = NO_CLUSTERS;
  readonly #keySize: number;
  readonly #random: Random;
  #sum: DoubleDouble = ZERO;
  #squares: DoubleDouble = ZERO;
  #key: Cluster = { size: 0, sum: ZERO };
  #shock = 0;

  constructor(keySize: number, random: Random) {
    this.#keySize = keySize;
    this.#random = random;
  }

  trade(): void {
    const isNew = this.n % this.#keySize === 0;
    if (isNew) this.#shock = normal(this.#random);
    const before = isNew ? { size: 0, sum: ZERO } : this.#key;
    const value: DoubleDouble = [
      Math.sqrt(SHARED) * this.#shock + Math.sqrt(1 - SHARED) * normal(this.#random),
      0,
    ];
    this.#key = { size: before.size + 1, sum: plus(before.sum, value) };
    this.clusters = withCluster(this.clusters, before, this.#key);
    this.#sum = plus(this.#sum, value);
    this.#squares = plus(this.#squares, times(value, value));
    this.n++;
  }

  byTrade(): SampleStats {
    return sampleOfSums(this.n, this.#sum, this.#squares);
  }

  byKey(): SampleStats {
    return sampleOfClusters(this.n, this.#sum, this.clusters);
  }
}

/** By which unit a challenge compares its variants. */
interface Unit {
  readonly sampleOf: (variant: Variant) => SampleStats;
  /** How many of a variant are independent. */
  readonly countOf: (variant: Variant) => number;
  /** Of each variant before the planned look. */
  readonly least: number;
}

const TRADE: Unit = {
  sampleOf: (variant) => variant.byTrade(),
  countOf: (variant) => variant.n,
  least: PLANNED,
};
const KEY: Unit = {
  sampleOf: (variant) => variant.byKey(),
  countOf: (variant) => variant.clusters.count,
  least: MIN_CLUSTERS,
};

/** The rules of a challenge: Welch's test at the planned look, then the always-valid p-value; harm at any time. */
class Challenge {
  promoted = false;
  rolledBack = false;
  #hasLooked = false;
  readonly #unit: Unit;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  look(a: Variant, b: Variant): void {
    const { sampleOf, countOf, least } = this.#unit;
    const test = stratifiedWelch([{ a: sampleOf(a), b: sampleOf(b) }]);
    const sample = { ...test, tuningSize: 4 * PLANNED };
    if (isHarmful(sample, { challengerTrades: countOf(b), lowerP: null })) this.rolledBack = true;
    if (b.n < PLANNED || Math.min(countOf(a), countOf(b)) < least) return;
    const p = this.#hasLooked ? alwaysValidP(sample) : test.p;
    this.#hasLooked = true;
    if (test.difference > 0 && p < ALPHA) this.promoted = true;
  }
}

type Ends = Record<'promoted' | 'rolledBack', number>;

/** How many of the challenges between equal variants end one way and how many the other, in percent, by either unit. */
function falseEnds(keySize: number): { readonly byTrade: Ends; readonly byKey: Ends } {
  const random = createRandom(11);
  const byTrade = { promoted: 0, rolledBack: 0 };
  const byKey = { promoted: 0, rolledBack: 0 };
  for (let run = 0; run < RUNS; run++) {
    const [a, b] = [new Variant(keySize, random), new Variant(keySize, random)];
    const [trades, keys] = [new Challenge(TRADE), new Challenge(KEY)];
    for (let n = 0; n < MOST; n++) {
      a.trade();
      b.trade();
      trades.look(a, b);
      keys.look(a, b);
    }
    for (const end of ['promoted', 'rolledBack'] as const) {
      if (trades[end]) byTrade[end] += 100 / RUNS;
      if (keys[end]) byKey[end] += 100 / RUNS;
    }
  }
  return { byTrade, byKey };
}

function figuresOf(keySize: number): Figure[] {
  const { byTrade, byKey } = falseEnds(keySize);
  const figure = (name: string, end: keyof Ends): Figure => ({
    label: `keys of ${keySize} trades: false ${name} by assignment_key`,
    value: byKey[end],
    unit: '%',
    target: { atMost: 5 },
    detail: `as if the trades were independent ${byTrade[end].toFixed(1)} %`,
  });
  return [figure('promotions', 'promoted'), figure('rollbacks', 'rolledBack')];
}

export default {
  name: 'clusters',
  description: `promotions and rollbacks for harm in ${RUNS} challenges of equal variants whose trades share half their variance with those of their key, looked at after every trade, up to ${MOST} trades a variant`,
  run: () => [2, 5, 20].flatMap(figuresOf),
} satisfies Bench;
