import { LEAST_CLUSTERS } from '#domain/challenges/judge-challenge.ts';
import { createRandom, type Random } from '#engine/random.ts';
import { alwaysValidP } from '#engine/stats/always-valid.ts';
import {
  type Cluster,
  type ClusterTotals,
  NO_CLUSTERS,
  sampleOfClusters,
  withCluster,
} from '#engine/stats/clusters.ts';
import { type Precise, plus, times, ZERO } from '#engine/stats/precise-sum.ts';
import { sampleOfSums } from '#engine/stats/samples.ts';
import { stratifiedWelch } from '#engine/stats/stratified-welch.ts';
import type { SampleStats } from '#engine/stats/welch.ts';
import type { Bench, Figure } from './support/bench.ts';

/** Closed trades of each arm at the planned look, and at the end. */
const PLANNED = 100;
const MOST = 1000;
const RUNS = 1000;
const ALPHA = 0.05;
/** The part of a trade's variance that all trades of its key share. */
const SHARED = 0.5;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** An arm whose trades come key by key. */
class Arm {
  n = 0;
  clusters: ClusterTotals = NO_CLUSTERS;
  readonly #keySize: number;
  readonly #random: Random;
  #sum: Precise = ZERO;
  #squares: Precise = ZERO;
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
    const value: Precise = [
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

/** The rule of a challenge: Welch's test at the planned look, then the always-valid p-value. */
class Rule {
  promoted = false;
  #hasLooked = false;
  readonly #sampleOf: (arm: Arm) => SampleStats;
  readonly #isDue: (arm: Arm) => boolean;

  constructor(sampleOf: (arm: Arm) => SampleStats, isDue: (arm: Arm) => boolean) {
    this.#sampleOf = sampleOf;
    this.#isDue = isDue;
  }

  look(a: Arm, b: Arm): void {
    if (this.promoted || a.n < PLANNED || !this.#isDue(a) || !this.#isDue(b)) return;
    const test = stratifiedWelch([{ a: this.#sampleOf(a), b: this.#sampleOf(b) }]);
    const p = this.#hasLooked ? alwaysValidP({ ...test, tuningSize: 4 * PLANNED }) : test.p;
    this.#hasLooked = true;
    this.promoted = test.difference > 0 && p < ALPHA;
  }
}

/** The share of challenges between equal arms that promote, in percent, by either unit. */
function falsePromotions(keySize: number) {
  const random = createRandom(11);
  let [byTrade, byKey] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const [a, b] = [new Arm(keySize, random), new Arm(keySize, random)];
    const trades = new Rule(
      (arm) => arm.byTrade(),
      () => true,
    );
    const keys = new Rule(
      (arm) => arm.byKey(),
      (arm) => arm.clusters.count >= LEAST_CLUSTERS,
    );
    for (let n = 0; n < MOST && !(trades.promoted && keys.promoted); n++) {
      a.trade();
      b.trade();
      trades.look(a, b);
      keys.look(a, b);
    }
    if (trades.promoted) byTrade++;
    if (keys.promoted) byKey++;
  }
  return { byTrade: (100 * byTrade) / RUNS, byKey: (100 * byKey) / RUNS };
}

function figureOf(keySize: number): Figure {
  const { byTrade, byKey } = falsePromotions(keySize);
  return {
    label: `keys of ${keySize} trades: false promotions by assignment_key`,
    value: byKey,
    unit: '%',
    target: { atMost: 5 },
    detail: `as if the trades were independent ${byTrade.toFixed(1)} %`,
  };
}

export default {
  name: 'clusters',
  description: `promotions in ${RUNS} challenges of equal arms whose trades share half their variance with those of their key, looked at after every trade, from ${PLANNED} to ${MOST} trades an arm`,
  run: () => [2, 5, 20].map(figureOf),
} satisfies Bench;
