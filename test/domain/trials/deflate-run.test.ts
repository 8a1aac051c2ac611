import { describe, expect, it } from 'vitest';
import type { Deflation } from '#contract/jobs/trial-ledger.ts';
import { type DeflatedRun, deflateRun } from '#domain/trials/deflate-run.ts';
import type { Trial, TrialSum } from '#domain/trials/owner-trials.ts';
import { momentsOf } from '#engine/stats/running-moments.ts';
import { falsePositives } from '../../support/null-trials.ts';

const day = (index: number) => Date.UTC(2024, 0, 1) + Math.round(index * 86_400_000);

const YEAR = {
  strategy: 'ema_crossover',
  simulated: false,
  assets: ['BTC', 'ETH'],
  start: day(0),
  end: day(365),
  session: null,
};

/** A run with this daily Sharpe ratio. */
const runOf = (sharpe: number, changes: Partial<DeflatedRun> = {}): DeflatedRun => {
  const { days = 365 } = changes;
  const sample = { sharpe, periods: days, skewness: 0.1, kurtosis: 3.2 };
  return { ...YEAR, digest: 'own', days, sample, ...changes };
};

let digests = 0;
const trial = (sharpe: number | null, changes: Partial<Trial> = {}): Trial => ({
  ...YEAR,
  digest: `${digests++}`,
  sharpe,
  ...changes,
});

const owner = (run: DeflatedRun, trials: readonly Trial[], sums: readonly TrialSum[] = []): Deflation =>
  deflateRun(run, { trials, sums }).owner;

// Values computed with numpy 2.3 and scipy 1.17 from the formulas of the docstrings in src/engine/stats/sharpe-ratio.ts.
describe('deflated Sharpe ratio', () => {
  const VECTORS = [
    {
      name: 'four like ones of a year',
      others: [0.262, 0.255, 0.268],
      run: { sharpe: 0.259, periods: 364, skewness: 0.1, kurtosis: 3.2 },
      expected: { variance: 3.000000000000005e-5, max: 0.0057627140407452235, ratio: 0.9999992007550347 },
    },
    {
      name: 'a disaster among five: the variance is that of ratios without skill',
      others: [0.02, 0.11, -1.05, 0.06],
      run: { sharpe: 0.157, periods: 365, skewness: -0.2, kurtosis: 4 },
      expected: { variance: 1 / 364, max: 0.06250891038146637, ratio: 0.9607471753406327 },
    },
    {
      name: 'twenty weak ones of two years',
      others: [
        0.016643, -0.028272, 0.027846, -0.011928, -0.00472, 0.04761, 0.01427, 0.035943, 0.07994, -0.022591,
        0.021435, -0.052248, 0.081357, -0.049208, -0.060759, -0.019416, 0.061832, 0.019866, -0.0637,
      ],
      run: { sharpe: 0.09, periods: 730, skewness: -0.4, kurtosis: 5.1 },
      expected: { variance: 1 / 729, max: 0.07039659078448882, ratio: 0.6977510815010525 },
    },
  ];
  it.each(VECTORS)('$name', ({ others, run: sample, expected }) => {
    const found = owner(
      runOf(sample.sharpe, { days: sample.periods, sample }),
      others.map((each) => trial(each)),
    );
    expect(found.trials).toBe(others.length + 1);
    expect(found.sharpe_variance_daily).toBeCloseTo(expected.variance, 15);
    expect(found.expected_max_sharpe_daily).toBeCloseTo(expected.max, 14);
    expect(found.deflated_sharpe_ratio).toBeCloseTo(expected.ratio, 12);
  });

  it('a range that begins long before the first candle does not leave out the trials of the traded days', () => {
    const trials = [0.1, 0.12, 0.14].map((sharpe) => trial(sharpe, { start: day(31), end: day(292) }));
    const asked = runOf(0.157, { start: day(-8_766), days: 365 });
    expect(owner(asked, trials)).toEqual(owner(runOf(0.157), trials));
    expect(owner(asked, trials).trials).toBe(4);
    // It was traded for all of that time.
    expect(owner(runOf(0.157, { start: day(-8_766), days: 9_131 }), trials).trials).toBe(1);
  });

  it('a smoke run or a disaster never lowers the ratio beyond that of trials without skill', () => {
    const alike = [0.11, 0.13, 0.12].map((each) => trial(each));
    const run = runOf(0.157);
    const ratios = [-1.05, -9, 30].map(
      (sharpe) => owner(run, [...alike, trial(sharpe)]).deflated_sharpe_ratio!,
    );
    expect(new Set(ratios).size).toBe(1);
    // An ordinary fifth trial.
    expect(owner(run, [...alike, trial(0.12)]).deflated_sharpe_ratio).toBeGreaterThan(ratios[0]!);
  });

  it('a fourth variant of a year is deflated by three others, and not by two runs of three days', () => {
    const variants = [0.262, 0.2518, 0.2696].map((each) => trial(each));
    const short = [2.1, -1.9].map((each) => trial(each, { start: day(10), end: day(13) }));
    const found = owner(runOf(0.2602), [...variants, ...short]);
    expect(found.trials).toBe(4);
    expect(found.sharpe_variance_daily).toBeCloseTo(5.34e-5, 10);
    expect(found.expected_max_sharpe_daily).toBeCloseTo(0.0076884194829246666, 12);
    expect(found.deflated_sharpe_ratio).toBeCloseTo(0.9999991694904276, 12);
  });

  it('is the probabilistic Sharpe ratio of a single trial', () => {
    expect(owner(runOf(0.1), [])).toEqual({
      scope: 'owner',
      trials: 1,
      sharpe_variance_daily: 0,
      expected_max_sharpe_daily: 0,
      // Phi(0.1 sqrt(364) / sqrt(1 - 0.01 + 0.55 * 0.01))
      deflated_sharpe_ratio: expect.closeTo(0.9720738083751566, 12),
      reason: null,
    });
  });

  it('is null with a reason below 30 daily returns, without variation, and with fewer than two known ratios', () => {
    const reasonOf = (run: DeflatedRun, trials: readonly Trial[]) => {
      const { deflated_sharpe_ratio: ratio, reason } = owner(run, trials);
      expect(ratio === null).toBe(reason !== null);
      return reason;
    };
    expect(reasonOf(runOf(3, { days: 2 }), [])).toBe(
      'the run has 2 daily returns, and at least 30 are needed',
    );
    expect(reasonOf(runOf(3, { days: 1 }), [])).toMatch(/^the run has 1 daily return,/);
    expect(reasonOf(runOf(3, { days: 29 }), [trial(0.1), trial(0.2)])).toMatch(/^the run has 29 daily/);
    expect(reasonOf(runOf(0.1, { days: 30 }), [trial(0.1), trial(0.2)])).toBeNull();
    expect(reasonOf(runOf(0.1), [trial(null)])).toBe('fewer than two of the 2 trials have a Sharpe ratio');
    expect(reasonOf(runOf(0.1), [trial(null), trial(0.2)])).toBeNull();
    const idle = runOf(0, { sample: undefined });
    expect(reasonOf(idle, [])).toBe('the daily returns do not vary');
    expect(reasonOf(idle, [trial(0.1), trial(0.2)])).toBe('the daily returns do not vary');
    const skewed = { sharpe: 1, periods: 365, skewness: 2, kurtosis: 5 };
    expect(reasonOf(runOf(1, { sample: skewed }), [])).toMatch(/without a standard error$/);
  });
});

describe('trials that count against a run', () => {
  const trialsOf = (run: DeflatedRun, ...trials: readonly Trial[]) => owner(run, trials).trials;

  it('both are real or both simulated', () => {
    expect(trialsOf(runOf(0.1), trial(0.2, { simulated: true }))).toBe(1);
    expect(trialsOf(runOf(0.1, { simulated: true }), trial(0.2, { simulated: true }))).toBe(2);
    expect(trialsOf(runOf(0.1, { simulated: true }), trial(0.2))).toBe(1);
  });

  it('a base asset is in both', () => {
    expect(trialsOf(runOf(0.1), trial(0.2, { assets: ['ETH', 'SOL'] }))).toBe(2);
    expect(trialsOf(runOf(0.1), trial(0.2, { assets: ['ETHW', 'SOL'] }))).toBe(1);
  });

  it('the trial covers at least 5 % of the range of the run, not of its own', () => {
    const run = runOf(0.1, { start: day(0), end: day(100) });
    const on = (start: number, end: number) =>
      trialsOf(run, trial(0.2, { start: day(start), end: day(end) }));
    expect([on(0, 5), on(40, 45), on(95, 200), on(-50, 5)]).toEqual([2, 2, 2, 2]);
    expect([on(0, 4.99), on(95.01, 200), on(-50, 4.99), on(100, 300)]).toEqual([1, 1, 1, 1]);
    // Ten years have tried little of these days, and all of them count.
    expect(on(-3000, 600)).toBe(2);
    const decade = runOf(0.1, { start: day(-3000), end: day(600), days: 3_600 });
    expect(trialsOf(decade, trial(0.2, { start: day(0), end: day(100) }))).toBe(1);
  });

  it('equal daily returns count once, in any strategy, range, market or session', () => {
    const run = runOf(0.1, { session: 's' });
    const same = [
      trial(0.2, { digest: 'a' }),
      trial(0.2, { digest: 'a', strategy: 'supertrend' }),
      trial(0.2, { digest: 'a', assets: ['BTC'], session: 's' }),
      trial(0.2, { digest: 'a', start: day(1) }),
      trial(0.1, { digest: 'own', session: 'other' }),
    ];
    const { owner, strategy, session } = deflateRun(run, { trials: same, sums: [] });
    expect([owner.trials, strategy.trials, session?.trials]).toEqual([2, 2, 2]);
    // The copies are no third known ratio: two ratios, 0.1 and 0.2.
    expect(owner.sharpe_variance_daily).toBeCloseTo(1 / 364, 15);
    expect(trialsOf(run, ...same.map((each) => ({ ...each, simulated: true })))).toBe(1);
  });

  it('sums count with the parts that are known of them', () => {
    const sum = (of: Partial<TrialSum['of']>): TrialSum => ({
      of: { ...YEAR, ...of },
      trials: 7,
      sharpe: momentsOf([0.1, 0.2]),
    });
    const run = runOf(0.15, { session: 's' });
    const by = (of: Partial<TrialSum['of']>) => {
      const { owner, strategy, session } = deflateRun(run, { trials: [], sums: [sum(of)] });
      return [owner.trials, strategy.trials, session?.trials];
    };
    expect(by({})).toEqual([8, 8, 1]);
    expect(by({ session: 's' })).toEqual([8, 8, 8]);
    expect(by({ strategy: 'supertrend' })).toEqual([8, 1, 1]);
    expect(by({ strategy: null, assets: null, start: null, end: null, simulated: null })).toEqual([8, 8, 1]);
    expect(by({ simulated: true })).toEqual([1, 1, 1]);
    expect(by({ assets: ['SOL'] })).toEqual([1, 1, 1]);
    expect(by({ start: day(400), end: day(800) })).toEqual([1, 1, 1]);
    // 0.1, 0.15 and 0.2.
    expect(owner(run, [], [sum({})]).sharpe_variance_daily).toBeCloseTo(0.0025, 15);
  });
});

describe('best of trials without skill', () => {
  // All of `npm run bench -- deflated-null` are below 5.2 %; here the standard error is 0.5 %.
  it.each([
    [1, 0],
    [2, 0.9],
    [5, 0],
    [20, 0],
    [20, 0.9],
  ])('of %d with a correlation of %d at most about 5 % have a ratio above 0.95', (trials, correlation) => {
    const share = falsePositives({ trials, correlation, days: 90, runs: 2_000, seed: 1 });
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(0.065);
  });
});

describe('scopes', () => {
  const run = runOf(0.1, { session: 'new' });
  const others = [0.12, 0.08, 0.02].map((each) => trial(each));

  it('a new session or strategy does not raise the lowest ratio', () => {
    const found = deflateRun(run, { trials: others, sums: [] });
    expect(found.session).toMatchObject({ trials: 1, scope: 'session' });
    expect(found.session!.deflated_sharpe_ratio).toBeGreaterThan(found.owner.deflated_sharpe_ratio!);
    expect(found.lowest).toBe(found.owner);
    const renamed = deflateRun({ ...run, strategy: 'copy' }, { trials: others, sums: [] });
    expect(renamed.strategy.trials).toBe(1);
    expect(renamed.lowest).toBe(renamed.owner);
  });

  it('the narrower scope is named where its ratio is lower: its trials vary more', () => {
    const own = [0.15, 0.05].map((each) => trial(each, { strategy: 'other', session: 'new' }));
    const like = Array.from({ length: 10 }, (_, index) => trial(0.1 + index / 10_000));
    const found = deflateRun(run, { trials: [...own, ...like], sums: [] });
    const { owner, strategy, session, lowest } = found;
    const ratios = [owner, strategy, session!].map((each) => each.deflated_sharpe_ratio!);
    expect(lowest.deflated_sharpe_ratio).toBe(Math.min(...ratios));
    expect(lowest).toMatchObject({ scope: 'session', trials: 3 });
    expect(lowest).toBe(session);
  });

  it('an undefined ratio of the owner is not replaced by a defined one', () => {
    const idle = trial(null, { strategy: 'other' });
    const found = deflateRun(run, { trials: [idle], sums: [] });
    expect(found.strategy.deflated_sharpe_ratio).not.toBeNull();
    expect(found.lowest).toMatchObject({ scope: 'owner', trials: 2, deflated_sharpe_ratio: null });
    // An idle run in the session leaves the owner's ratio, which counts it too.
    const inSession = deflateRun(run, { trials: [...others, trial(null, { session: 'new' })], sums: [] });
    expect(inSession.session!.deflated_sharpe_ratio).toBeNull();
    expect(inSession.lowest).toMatchObject({ scope: 'owner', trials: 5 });
    expect(inSession.lowest.deflated_sharpe_ratio).toBe(inSession.owner.deflated_sharpe_ratio);
  });
});
