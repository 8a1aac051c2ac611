import { createRandom, type Random } from '#engine/random.ts';
import { alwaysValidP } from '#engine/stats/always-valid.ts';
import { plus, times, ZERO } from '#engine/stats/double-double.ts';
import { type StratifiedTest, sampleOfSums, stratifiedWelch } from '#engine/stats/welch.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { scaled } from './support/quick.ts';

/** Closed trades of each variant at the planned look. */
const PLANNED = 100;
/** Closed trades of each variant at the end. */
const MAX_TRADES = 1000;
const RUNS = scaled(2000, 2);
const ALPHA = 0.05;

/** Distribution of the per-trade returns of a market, with standard deviation 1. */
interface Market {
  readonly name: string;
  readonly draw: (random: Random) => number;
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Mixture of two kinds of trades: share `p` around `far`, the others around `near`. Scaled to mean 0 and deviation 1. */
function mixture(p: number, far: number, near: number, width: number) {
  const mean = p * far + (1 - p) * near;
  const deviation = Math.sqrt(p * (far - mean) ** 2 + (1 - p) * (near - mean) ** 2 + width * width);
  return (random: Random) => ((random() < p ? far : near) + width * normal(random) - mean) / deviation;
}

const MARKETS: readonly Market[] = [
  { name: 'normal', draw: normal },
  { name: 'trend (12 % large winners)', draw: mixture(0.12, 5, -0.5, 0.5) },
  { name: 'short volatility (5 % large losses)', draw: mixture(0.05, -8, 0.6, 0.4) },
];

/** Share of all tests in which the challenger is promoted, by rule. */
interface Promotions {
  /** As soon as a plain test has p < 0.05. */
  readonly naive: number;
  /** Only at the planned look: a fixed-horizon test. */
  readonly planned: number;
  /** At the planned look, or later by the always-valid p-value: the rule of challenges. */
  readonly rule: number;
}

/** One test of two variants, evaluated after every pair of trades from the planned look on. */
function runTest(draw: Market['draw'], effect: number, random: Random): { [K in keyof Promotions]: boolean } {
  const sums = { a: ZERO, aa: ZERO, b: ZERO, bb: ZERO };
  const seen = { naive: false, planned: false, rule: false };
  for (let n = 1; n <= MAX_TRADES; n++) {
    const a = draw(random);
    const b = draw(random) + effect;
    sums.a = plus(sums.a, [a, 0]);
    sums.aa = plus(sums.aa, times([a, 0], [a, 0]));
    sums.b = plus(sums.b, [b, 0]);
    sums.bb = plus(sums.bb, times([b, 0], [b, 0]));
    if (n < PLANNED) continue;
    const test = stratifiedWelch([
      { a: sampleOfSums(n, sums.a, sums.aa), b: sampleOfSums(n, sums.b, sums.bb) },
    ]);
    if (isPromoted(test, test.p)) seen.naive = true;
    if (n === PLANNED) seen.planned = isPromoted(test, test.p);
    const p = n === PLANNED ? test.p : alwaysValidP({ ...test, tuningSize: 4 * PLANNED });
    if (isPromoted(test, p)) seen.rule = true;
    if (seen.naive && seen.rule) break;
  }
  return seen;
}

function isPromoted({ difference }: StratifiedTest, p: number): boolean {
  return difference > 0 && p < ALPHA;
}

function promotions({ draw }: Market, effect: number): Promotions {
  const random = createRandom(7);
  const count = { naive: 0, planned: 0, rule: 0 };
  for (let run = 0; run < RUNS; run++) {
    const seen = runTest(draw, effect, random);
    for (const key of ['naive', 'planned', 'rule'] as const) if (seen[key]) count[key]++;
  }
  return { naive: count.naive / RUNS, planned: count.planned / RUNS, rule: count.rule / RUNS };
}

function measurementOf(market: Market, effect: number): Measurement {
  const { naive, planned, rule } = promotions(market, effect);
  const pct = (share: number) => `${(100 * share).toFixed(1)} %`;
  const detail = `one look at ${PLANNED} trades ${pct(planned)}, p < 0.05 at any look ${pct(naive)}`;
  if (effect > 0)
    return { label: `${market.name}: power at ${effect} deviations`, value: 100 * rule, unit: '%', detail };
  return {
    label: `${market.name}: false promotions`,
    value: 100 * rule,
    unit: '%',
    target: { atMost: 5 },
    detail,
  };
}

export default {
  name: 'peeking',
  description: `promotions in ${RUNS} challenges that are evaluated after every trade, from ${PLANNED} to ${MAX_TRADES} trades per variant: a planned look, then the always-valid p-value`,
  run: () => [
    ...MARKETS.map((market) => measurementOf(market, 0)),
    ...[0.1, 0.2, 0.3].map((effect) => measurementOf(MARKETS[0]!, effect)),
  ],
} satisfies Bench;
