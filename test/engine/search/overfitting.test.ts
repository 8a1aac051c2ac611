import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { overfittingReport, probabilityOfOverfitting } from '#engine/search/overfitting.ts';
import type { SearchSpace } from '#engine/search/space.ts';
import type { DailyReturns, PastTrial } from '#engine/search/trials.ts';
import { deflatedSharpe, probabilisticSharpe, sharpeSample } from '#engine/stats/sharpe-ratio.ts';

const SPACE: SearchSpace = [{ kind: 'float', name: 'x', min: 0, max: 1 }];

const trial = (number: number, value: number | null, rest: Partial<PastTrial> = {}): PastTrial => ({
  number,
  params: { x: number / 100 },
  state: 'complete',
  value,
  ...rest,
});

/** Hyperopt job whose trials have these true daily Sharpe ratios. A trial's value is its sample Sharpe ratio. */
function study(skills: readonly number[], days: number, seed = 1) {
  const random = createRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const series = skills.map((skill) => Float64Array.from({ length: days }, () => 0.01 * (skill + normal())));
  const returns = new Map<number, DailyReturns>();
  series.forEach((values, number) => {
    returns.set(number, { firstDay: '2025-01-31', returns: values });
  });
  const trials = series.map((values, number) => trial(number, sharpeSample(values)!.sharpe));
  return { series, returns, trials };
}

const sharpes = (series: readonly Float64Array[]) => series.map((values) => sharpeSample(values)!.sharpe);

function sampleVariance(values: readonly number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1);
}

describe('overfittingReport', () => {
  it('overfitting report counts identical runs as trials and as one series for PBO', () => {
    const { series, returns, trials } = study([0, 0.05, 0.1], 200);
    // Other parameters with the same run as trial 0, seven times.
    const repeats = Array.from({ length: 7 }, (_, i) => ({
      ...trials[0]!,
      number: 3 + i,
      params: { x: 0.9 + i / 100 },
    }));
    const withRepeats = new Map([
      ...returns,
      ...repeats.map((each) => [each.number, returns.get(0)!] as const),
    ]);
    const found = overfittingReport(SPACE, [...trials, ...repeats].reverse(), withRepeats, 'maximize', null)!;
    const best = series[sharpes(series).indexOf(Math.max(...sharpes(series)))]!;
    const selection = { trials: 10, variance: sampleVariance(sharpes(series)) };
    expect(found.trials).toBe(10);
    expect(found.deflated_sharpe_ratio).toBeCloseTo(deflatedSharpe(sharpeSample(best)!, selection)!, 12);
    expect(found.pbo).toEqual(probabilityOfOverfitting(series));
    // Eight of ten series are equal: 28 of 45 pairs have the correlation 1, the others about 0.
    expect(found.effective_trials).toBeLessThan(6);
    const alone = [trials[0]!, ...repeats];
    const one = overfittingReport(SPACE, alone, withRepeats, 'maximize', null)!;
    expect(one).toMatchObject({
      trials: 8,
      expected_max_sharpe_daily: null,
      deflated_sharpe_ratio: null,
      pbo: null,
    });
  });

  it("overfitting report uses the best trial's statistics and the true number of trials", () => {
    const { series, returns, trials } = study([0, 0.05, 0.1, 0, 0.02], 200);
    const all = [
      ...trials,
      trial(5, null, { state: 'pruned' }),
      trial(6, null, { state: 'failed' }),
      { ...trials[2]!, number: 7 },
    ];
    const best = series[sharpes(series).indexOf(Math.max(...sharpes(series)))]!;
    const sample = sharpeSample(best)!;
    const found = overfittingReport(SPACE, all, returns, 'maximize', null)!;
    expect(found).toMatchObject({ days: 200, trials: 8, sharpe_ratio_daily: sample.sharpe, plateau: null });
    expect(found.probabilistic_sharpe_ratio).toBe(probabilisticSharpe(sample));
    expect(found.deflated_sharpe_ratio).toBeCloseTo(
      deflatedSharpe(sample, { trials: 8, variance: Math.min(sampleVariance(sharpes(series)), 1 / 199) })!,
      12,
    );
    expect(found.pbo).toEqual(probabilityOfOverfitting(series));
    expect(found.effective_trials).toBeGreaterThan(7);
    expect(found.effective_trials).toBeLessThanOrEqual(8);
  });

  it('deflated Sharpe ratio and PBO distinguish skill from selection by chance', () => {
    const noise = study(new Array(40).fill(0), 250);
    const best = overfittingReport(SPACE, noise.trials, noise.returns, 'maximize', null)!;
    expect(best.probabilistic_sharpe_ratio).toBeGreaterThan(0.95);
    expect(best.deflated_sharpe_ratio).toBeLessThan(0.8);
    expect(best.pbo!.probability).toBeGreaterThan(0.15);
    const skill = study(
      Array.from({ length: 40 }, (_, i) => (i === 20 ? 0.4 : 0)),
      250,
    );
    const skilled = overfittingReport(SPACE, skill.trials, skill.returns, 'maximize', null)!;
    expect(skilled.deflated_sharpe_ratio).toBeGreaterThan(0.99);
    expect(skilled.pbo!.probability).toBeLessThan(0.01);
    expect(skilled.plateau!.width).toBeLessThan(0.05);
  });

  it('deflated Sharpe ratio of a search does not fall because one trial lost everything', () => {
    const days = 250;
    const { returns, trials } = study([0.2, 0.21, 0.19, 0.2], days);
    const disaster = {
      firstDay: '2025-01-31',
      returns: Float64Array.from({ length: days }, (_, i) => -0.9 - 0.001 * (i % 2)),
    };
    const withDisaster = new Map([...returns, [4, disaster] as const]);
    const all = [...trials, trial(4, sharpeSample(disaster.returns)!.sharpe)];
    const found = overfittingReport(SPACE, all, withDisaster, 'maximize', null)!;
    // Five trials without skill: the largest of their daily ratios is expected at 1.2 standard deviations of 1 / sqrt(n - 1).
    expect(found.expected_max_sharpe_daily! * Math.sqrt(days - 1)).toBeCloseTo(1.19, 1);
    expect(found.deflated_sharpe_ratio).toBeGreaterThan(0.9);
  });

  it('overfitting report gives no probability for fewer than 30 days', () => {
    for (const [days, given] of [
      [29, false],
      [30, true],
    ] as const) {
      const { returns, trials } = study([0.2, 0, 0.1], days);
      const found = overfittingReport(SPACE, trials, returns, 'maximize', null)!;
      expect(found.probabilistic_sharpe_ratio !== null).toBe(given);
      expect(found.deflated_sharpe_ratio !== null).toBe(given);
    }
  });

  it('overfitting report uses one series for repeated parameters', () => {
    const { returns, trials } = study([0, 0.3, 0.1], 100);
    const repeats = Array.from({ length: 10 }, (_, i) => ({ ...trials[1]!, number: 3 + i }));
    for (const { number } of repeats) returns.set(number, returns.get(1)!);
    const alone = overfittingReport(SPACE, trials, returns, 'maximize', null)!;
    const repeated = overfittingReport(SPACE, [...trials, ...repeats], returns, 'maximize', null)!;
    expect(repeated.pbo).toEqual(alone.pbo);
    expect(repeated.trials).toBe(13);
    expect(repeated.deflated_sharpe_ratio).toBeLessThan(alone.deflated_sharpe_ratio!);
  });

  it('overfitting report includes a trial whose parameters failed before', () => {
    const { returns, trials } = study([0.2, 0, 0.1], 100);
    const failed = { ...trials[0]!, number: 0, state: 'failed' as const, value: null };
    const later = trials.map((one) => ({ ...one, number: one.number + 1 }));
    const moved = new Map([...returns].map(([number, values]) => [number + 1, values]));
    const found = overfittingReport(SPACE, [failed, ...later], moved, 'maximize', null)!;
    expect(found.pbo).toEqual(overfittingReport(SPACE, trials, returns, 'maximize', null)!.pbo);
  });

  it('overfitting report aligns series by day', () => {
    const { series, returns, trials } = study([0.2, 0.1], 60);
    returns.set(1, { firstDay: '2025-02-05', returns: series[1]!.slice(5) });
    const moved = Float64Array.from(series[1]!);
    moved.fill(0, 0, 5);
    const found = overfittingReport(SPACE, trials, returns, 'maximize', null)!;
    expect(found.days).toBe(60);
    expect(found.pbo).toEqual(probabilityOfOverfitting([series[0]!, moved]));
  });

  it('overfitting report has no deflation for one trial and nulls when other trials did not complete', () => {
    const { returns, trials } = study([0.2], 100);
    const alone = overfittingReport(SPACE, trials, returns, 'maximize', null)!;
    expect(alone.expected_max_sharpe_daily).toBe(0);
    expect(alone.deflated_sharpe_ratio).toBe(alone.probabilistic_sharpe_ratio);
    expect(alone).toMatchObject({ pbo: null, effective_trials: null });
    const among = overfittingReport(
      SPACE,
      [...trials, trial(1, null, { state: 'pruned' })],
      returns,
      'maximize',
      null,
    )!;
    expect(among).toMatchObject({ trials: 2, expected_max_sharpe_daily: null, deflated_sharpe_ratio: null });
    expect(among.probabilistic_sharpe_ratio).toBe(alone.probabilistic_sharpe_ratio);
  });

  it('overfitting report accepts a best trial that never traded', () => {
    const returns = new Map(
      [0, 1].map((n) => [n, { firstDay: '2025-01-01', returns: new Float64Array(30) }]),
    );
    const found = overfittingReport(SPACE, [trial(0, 0), trial(1, 0)], returns, 'maximize', null)!;
    expect(found).toMatchObject({
      sharpe_ratio_daily: null,
      probabilistic_sharpe_ratio: null,
      deflated_sharpe_ratio: null,
    });
    expect(found.min_track_record_days).toBeNull();
  });

  it('overfitting report is undefined without a complete trial', () => {
    expect(
      overfittingReport(SPACE, [trial(0, null, { state: 'failed' })], new Map(), 'maximize', null),
    ).toBeUndefined();
    expect(overfittingReport(SPACE, [trial(0, 1)], new Map(), 'maximize', null)).toBeUndefined();
  });
});
