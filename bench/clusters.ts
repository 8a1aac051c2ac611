import type { ClusterTotals } from '#contract/registry/stored-challenge.ts';
import { MIN_CLUSTERS } from '#domain/challenges/decide-challenge.ts';
import { createRandom, type Random } from '#engine/random.ts';
import { alwaysValidP, isHarmful } from '#engine/stats/always-valid.ts';
import { type Cluster, NO_CLUSTERS, sampleOfClusters, withCluster } from '#engine/stats/clusters.ts';
import { type DoubleDouble, plus, times, ZERO } from '#engine/stats/double-double.ts';
import { type SampleStats, sampleOfSums, stratifiedWelch } from '#engine/stats/welch.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { scaled } from './support/quick.ts';

/** Closed trades of each variant at the planned look. */
const PLANNED = 100;
/** Closed trades of each variant at the end. */
const MAX_TRADES = 1000;
const RUNS = scaled(1000, 2);
const ALPHA = 0.05;
/** Share of a trade's variance that is common to all trades of its key. */
const SHARED = 0.5;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A variant whose trades arrive key by key. */
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

/** Unit of analysis of a challenge. */
interface Unit {
  readonly sampleOf: (variant: Variant) => SampleStats;
  /** Number of independent observations of a variant. */
  readonly countOf: (variant: Variant) => number;
  /** Minimum count of each variant for the planned look. */
  readonly minCount: number;
}

const TRADE: Unit = {
  sampleOf: (variant) => variant.byTrade(),
  countOf: (variant) => variant.n,
  minCount: PLANNED,
};
const KEY: Unit = {
  sampleOf: (variant) => variant.byKey(),
  countOf: (variant) => variant.clusters.count,
  minCount: MIN_CLUSTERS,
};

/** Rules of a challenge: Welch's test at the planned look, later the always-valid p-value; rollback for harm at any time. */
class Challenge {
  promoted = false;
  rolledBack = false;
  #hasLooked = false;
  readonly #unit: Unit;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  look(a: Variant, b: Variant): void {
    const { sampleOf, countOf, minCount } = this.#unit;
    const test = stratifiedWelch([{ a: sampleOf(a), b: sampleOf(b) }]);
    const sample = { ...test, tuningSize: 4 * PLANNED };
    if (isHarmful(sample, { challengerTrades: countOf(b), lowerP: null })) this.rolledBack = true;
    if (b.n < PLANNED || Math.min(countOf(a), countOf(b)) < minCount) return;
    const p = this.#hasLooked ? alwaysValidP(sample) : test.p;
    this.#hasLooked = true;
    if (test.difference > 0 && p < ALPHA) this.promoted = true;
  }
}

type Ends = Record<'promoted' | 'rolledBack', number>;

/** Percentages of false promotions and false rollbacks in challenges between equal variants, by unit of analysis. */
function falseEnds(keySize: number): { readonly byTrade: Ends; readonly byKey: Ends } {
  const random = createRandom(11);
  const byTrade = { promoted: 0, rolledBack: 0 };
  const byKey = { promoted: 0, rolledBack: 0 };
  for (let run = 0; run < RUNS; run++) {
    const [a, b] = [new Variant(keySize, random), new Variant(keySize, random)];
    const [trades, keys] = [new Challenge(TRADE), new Challenge(KEY)];
    for (let n = 0; n < MAX_TRADES; n++) {
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

function measurementsOf(keySize: number): Measurement[] {
  const { byTrade, byKey } = falseEnds(keySize);
  const measurement = (name: string, end: keyof Ends): Measurement => ({
    label: `keys of ${keySize} trades: false ${name} by assignment_key`,
    value: byKey[end],
    unit: '%',
    target: { atMost: 5 },
    detail: `as if the trades were independent ${byTrade[end].toFixed(1)} %`,
  });
  return [measurement('promotions', 'promoted'), measurement('rollbacks', 'rolledBack')];
}

export default {
  name: 'clusters',
  description: `promotions and rollbacks for harm in ${RUNS} challenges of equal variants whose trades share half their variance with the trades of their key, evaluated after every trade, up to ${MAX_TRADES} trades per variant`,
  run: () => [2, 5, 20].flatMap(measurementsOf),
} satisfies Bench;
