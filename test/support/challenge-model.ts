/**
 * Second implementation of the verdict of a challenge, from single trades instead of their sums, with
 * tails by numerical integration. Slow and simple: the reference for the service.
 */

import { binomialTest, chiSquareTail, tTail } from './reference-tails.ts';

export type Variant = 'champion' | 'challenger';
const SHARES = [0.05, 0.1, 0.25, 0.5];

interface Stage {
  readonly stage: number;
  readonly trades: Record<Variant, number[]>;
  readonly assigned: Record<Variant, number>;
  readonly since: number;
}

const mean = (values: readonly number[]) =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
const variance = (values: readonly number[]) => {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
};

/** Stratified comparison of the variants by stage. */
export function compare(stages: readonly Pick<Stage, 'trades'>[]) {
  const used = stages
    .map(({ trades: { champion: a, challenger: b } }) => ({
      a,
      b,
      w: (a.length * b.length) / (a.length + b.length),
    }))
    .filter(({ a, b }) => a.length > 1 && b.length > 1)
    .map((stage) => ({
      ...stage,
      uA: variance(stage.a) / stage.a.length,
      uB: variance(stage.b) / stage.b.length,
    }));
  const sum = (of: (stage: (typeof used)[number]) => number) =>
    used.reduce((all, stage) => all + of(stage), 0);
  const pooled = {
    a: stages.flatMap(({ trades }) => trades.champion),
    b: stages.flatMap(({ trades }) => trades.challenger),
  };
  const raw = { a: mean(pooled.a), b: mean(pooled.b) };
  const W = sum(({ w }) => w);
  const champion = used.length ? sum(({ a, w }) => w * mean(a)) / W : raw.a;
  const challenger = used.length ? sum(({ b, w }) => w * mean(b)) / W : raw.b;
  const d = challenger - champion;
  const error = used.length ? Math.sqrt(sum(({ uA, uB, w }) => w * w * (uA + uB))) / W : Number.NaN;
  const df =
    sum(({ uA, uB, w }) => w * w * (uA + uB)) ** 2 /
    sum(({ a, b, uA, uB, w }) => w ** 4 * (uA ** 2 / (a.length - 1) + uB ** 2 / (b.length - 1)));
  const improvement =
    Math.abs(champion) < 1e-9
      ? Math.abs(d) < 1e-9
        ? 0
        : 100 * Math.sign(d)
      : (d / Math.abs(champion)) * 100;
  const isBalanced = [...used, pooled].every(
    ({ a, b }) => Math.max(a.length, b.length) <= 2 * Math.min(a.length, b.length),
  );
  const p = used.length === 0 ? 1 : error > 0 ? tTail(d / error, df) : d === 0 ? 1 : 0;
  return {
    champion,
    challenger,
    raw,
    d,
    error,
    df,
    p,
    improvement,
    isBalanced,
    effective: 4 * W,
    t: d / error,
  };
}
type Comparison = ReturnType<typeof compare>;

/** Confidence sequence, valid after every trade; `alpha` is 0.05. */
export function always(
  { d, error, effective }: Pick<Comparison, 'd' | 'error' | 'effective'>,
  tuning: number,
) {
  const scale = (alpha: number) =>
    (effective * (-2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha)))) / tuning;
  const x = scale(0.05);
  const y = scale(0.1);
  const z = d / error;
  return {
    p: Math.min(1, Math.sqrt(1 + x) * Math.exp((-(z * z) / 2) * (x / (1 + x)))),
    half: error * Math.sqrt(((1 + x) / x) * 2 * Math.log(Math.sqrt(1 + x) / 0.05)),
    // One-sided.
    harm: error * Math.sqrt(((2 * (1 + y)) / y) * Math.log(1 + Math.sqrt(1 + y) / (2 * 0.05))),
  };
}

/** Challenge in memory by docs/challenges.md#verdict-rules and docs/challenges.md#canary-stages, for the analysis unit trade. */
export class ChallengeModel {
  readonly stages: Stage[];
  readonly #request: { min_trades: number; max_duration_hours: number; max_drawdown_pct: number };
  readonly open: Record<Variant, number> = { champion: 0, challenger: 0 };
  readonly #equity = { profit: 0, peak: 0 };
  status = 'active';
  outcome: string | null = null;
  reason: string | null = null;
  look: { p: number; trades: number } | null = null;
  now: number;

  constructor(
    request: {
      enable_canary: boolean;
      min_trades: number;
      max_duration_hours: number;
      max_drawdown_pct: number;
    },
    now: number,
  ) {
    this.#request = request;
    this.now = now;
    this.stages = [this.#stage(request.enable_canary ? 0 : 3)];
  }

  /** Closed trades of each variant before the planned look. */
  get m(): number {
    return Math.max(this.#request.min_trades, 100);
  }

  get stageName(): string {
    return `stage_${this.stages.at(-1)!.stage + 1}`;
  }

  #stage(stage: number): Stage {
    return {
      stage,
      since: this.now,
      trades: { champion: [], challenger: [] },
      assigned: { champion: 0, challenger: 0 },
    };
  }

  closed(variant: Variant): number {
    return this.stages.reduce((sum, { trades }) => sum + trades[variant].length, 0);
  }

  advance(): void {
    this.stages.push(this.#stage(this.stages.at(-1)!.stage + 1));
  }

  assign(variant: Variant): void {
    this.stages.at(-1)!.assigned[variant]++;
    this.#climb();
  }

  /** Logs a closed trade. With unbalanced variants `permutation` supplies the two-sided and the lower p-value. */
  trade(variant: Variant, profit: number, permutation: () => { p: number; lower: number }): void {
    if (this.status !== 'active') return;
    this.stages.at(-1)!.trades[variant].push(profit);
    if (variant === 'challenger') {
      this.#equity.profit += profit;
      this.#equity.peak = Math.max(this.#equity.peak, this.#equity.profit);
    }
    this.#judge(permutation);
    this.#climb();
  }

  #judge(permutation: () => { p: number; lower: number }): void {
    const found = compare(this.stages);
    const { harm } = always(found, 4 * this.m);
    const isWorse = this.closed('challenger') >= 20 && found.d + harm < 0;
    if (this.#equity.peak - this.#equity.profit > this.#request.max_drawdown_pct)
      this.#end('rolled_back', null, 'max_drawdown');
    else if (isWorse && (found.isBalanced || permutation().lower < 0.05))
      this.#end('rolled_back', null, 'harm');
    else if (Math.min(this.closed('champion'), this.closed('challenger')) >= this.m)
      this.#decide(found, permutation);
  }

  #decide(found: Comparison, permutation: () => { p: number }): void {
    if (this.look === null) {
      const p = found.isBalanced ? found.p : Math.max(found.p, permutation().p);
      this.look = { p, trades: this.closed('champion') + this.closed('challenger') };
    }
    const { p_value, improvement_pct } = this.evaluation();
    if (p_value < 0.05 && improvement_pct > 10 && this.#gap() <= 20)
      this.#end('completed', 'challenger_wins', null);
    else if (p_value < 0.05 && improvement_pct < 0) this.#end('completed', 'champion_wins', null);
  }

  #end(status: string, outcome: string | null, reason: string | null): void {
    Object.assign(this, { status, outcome, reason });
  }

  #gap(): number {
    const share = (variant: Variant) =>
      (100 * this.open[variant]) / Math.max(1, this.open[variant] + this.closed(variant));
    return Math.abs(share('champion') - share('challenger'));
  }

  /** Advances to the next stage when it is due. */
  #climb(): void {
    const { stage, since, trades } = this.stages.at(-1)!;
    const { min_trades, max_duration_hours } = this.#request;
    const isDue =
      this.now - since >= Math.min(1, max_duration_hours / 8) * 3_600_000 &&
      trades.challenger.length >= Math.max(20, min_trades / 5);
    if (this.status === 'active' && stage < 3 && isDue && this.sampleRatio() >= 0.001) this.advance();
  }

  /** p-value of the sample ratio test. */
  sampleRatio(): number {
    const used = this.stages.filter(({ assigned: { champion, challenger } }) => champion + challenger > 0);
    if (used.length === 0) return 1;
    if (used.length === 1) {
      const { assigned, stage } = used[0]!;
      const n = assigned.champion + assigned.challenger;
      if (n * SHARES[stage]! < 5) return binomialTest(assigned.challenger, n, SHARES[stage]!);
    }
    const terms = used.map(({ assigned: { champion, challenger }, stage }) => {
      const n = champion + challenger;
      const expected = n * SHARES[stage]!;
      return (challenger - expected) ** 2 / expected + (champion - (n - expected)) ** 2 / (n - expected);
    });
    return chiSquareTail(
      terms.reduce((sum, term) => sum + term, 0),
      used.length,
    );
  }

  evaluation() {
    const found = compare(this.stages);
    const sequential = always(found, 4 * this.m);
    const trades = this.closed('champion') + this.closed('challenger');
    const isLook = this.look?.trades === trades;
    const degenerate = !(found.error > 0);
    const p_value = isLook ? this.look!.p : degenerate ? found.p : sequential.p;
    return {
      champion_mean: found.champion,
      challenger_mean: found.challenger,
      improvement_pct: found.improvement,
      p_value,
      p_value_fixed: found.p,
      is_significant: p_value < 0.05,
      confidence_interval: degenerate ? null : [found.d - sequential.half, found.d + sequential.half],
      raw: { champion_mean: found.raw.a, challenger_mean: found.raw.b },
      recommendation: this.#recommendation(),
    };
  }

  #recommendation(): string {
    if (this.status === 'rolled_back') return 'ROLLBACK';
    if (this.outcome === 'challenger_wins') return 'PROMOTE_CHALLENGER';
    return this.status === 'active' ? 'CONTINUE' : 'KEEP_CHAMPION';
  }
}
