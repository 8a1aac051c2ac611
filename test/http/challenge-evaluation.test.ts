import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { generated, HOUR } from '../support/challenge-fixture.ts';
import { always, ChallengeModel, compare, type Variant } from '../support/challenge-model.ts';
import { fixture, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';
import { binomialTest, chiSquareTail, tTail } from '../support/reference-tails.ts';

useOneChallengeFixture();

// Checks the model that the tests below compare the service with, by the vectors of test/engine/stats/welch.test.ts.
describe('reference model', () => {
  const of = (champion: number[], challenger: number[]) => compare([{ trades: { champion, challenger } }]);

  it.each([
    ['T1', [0.5, -1, 2, 0.3, -0.4, 1.1], [1.2, 0.1, 2.6, 0.9, -0.2, 1.9, 3], 0.164142490806, 225.714285714],
    ['T2', [-0.5, -1, 0.2, -0.7, -0.1, -0.9], [-0.2, 0.1, -0.4, 0, -0.1, -0.3], 0.136292503346, 70],
    ['T3', generated(12345, 120, 0), generated(67890, 120, 0.6), 0.000705304244, 193.336067],
    ['T3b', generated(12345, 120, 0), generated(67890, 120, 0.2), 0.093272444085, 94.914907],
    ['T4', generated(111, 380, 0), generated(222, 20, 0.5), 0.471034867831, 58.764265],
    ['T7', [1], [2, 3, 4], 1, 200],
  ])('model matches the reference comparison %s', (_, champion, challenger, p, improvement) => {
    expect(of(champion, challenger).p).toBeCloseTo(p, 11);
    expect(of(champion, challenger).improvement).toBeCloseTo(improvement, 6);
  });

  it('model matches the always-valid p-values of T3 and T9', () => {
    const t3 = of(generated(12345, 120, 0), generated(67890, 120, 0.6));
    expect(always(t3, 400).p).toBeCloseTo(0.018441192103, 11);
    const t9 = always({ d: 0.6, error: 0.2, effective: 240 }, 400);
    expect(t9.p).toBeCloseTo(0.058229459745, 11);
    expect(t9.half).toBeCloseTo(0.612167767301, 11);
    expect(t9.harm).toBeCloseTo(0.56255530392, 11);
  });

  it('model matches the tail probabilities of T12 and T13', () => {
    expect(chiSquareTail(8.421052631579, 1)).toBeCloseTo(0.003709009991, 11);
    expect(chiSquareTail(4.573976608187, 4)).toBeCloseTo(0.333865664953, 11);
    expect(binomialTest(70, 1000, 0.05)).toBeCloseTo(0.005670160943, 11);
    expect(tTail(2, 10.5)).toBeCloseTo(0.072033800157, 11);
    expect(tTail(5, 3.2)).toBeCloseTo(0.01317209307, 11);
  });
});

const RETURNS = {
  normal: (random: () => number) =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()) * 2,
  trend: (random: () => number) => (random() < 0.38 ? 3 * random() : -1.2 * random()),
  'short-vol': (random: () => number) => (random() < 0.86 ? random() : -6 * random()),
};

interface Stream {
  readonly seed: number;
  readonly returns: keyof typeof RETURNS;
  readonly effect: number;
  readonly request: { enable_canary: boolean; min_trades: number; max_drawdown_pct: number };
}

/** Logs random trades in small batches and compares the service with the model after each call. */
async function run({ seed, returns, effect, request }: Stream): Promise<ChallengeModel> {
  const random = createRandom(seed);
  const whole = { ...request, max_duration_hours: 4 };
  const { body } = await fixture.create(whole);
  const id: string = body.challenge_id;
  const model = new ChallengeModel(whole, fixture.clock.now());
  for (let call = 0; call < 45 && model.status === 'active'; call++) {
    fixture.clock.forward(Math.floor(random() * 0.1 * HOUR));
    model.now = fixture.clock.now();
    const missing = model.m - Math.min(model.closed('champion'), model.closed('challenger'));
    const size = missing > 8 ? 1 + Math.floor(random() * 25) : 1 + Math.floor(random() * 2);
    const trades = Array.from({ length: size }, (_, n) => {
      const variant: Variant = random() < 0.5 ? 'champion' : 'challenger';
      const drawn = RETURNS[returns](random) + (variant === 'challenger' ? effect : 0.1);
      return { trade_id: `m-${call}-${n}`, variant, profit_pct: Math.round(drawn * 1e4) / 1e4 };
    });
    await fixture.post(id, 'trades', { trades });
    const served = await fixture.evaluate(id);
    const logged = served.champion_trades + served.challenger_trades;
    for (const { variant, profit_pct } of trades) {
      // The service draws the permutations: the model takes a permutation p-value from the service.
      model.trade(variant, profit_pct, () => {
        const isLast = model.closed('champion') + model.closed('challenger') === logged;
        const isHarm = isLast && served.status === 'rolled_back';
        return { p: served.planned_look?.p_value, lower: isHarm ? 0 : 1 };
      });
    }
    agree(served, model);
  }
  if (model.status === 'active') await fixture.post(id, 'rollback');
  else expect((await fixture.read(id)).body).toMatchObject({ outcome: model.outcome, reason: model.reason });
  return model;
}

function agree(served: any, model: ChallengeModel): void {
  const { confidence_interval, raw, recommendation, is_significant, ...numbers } = model.evaluation();
  expect(served).toMatchObject({ status: model.status, recommendation, is_significant });
  expect([served.champion_trades, served.challenger_trades, served.canary_stage]).toEqual([
    model.closed('champion'),
    model.closed('challenger'),
    model.stageName,
  ]);
  near(served, numbers);
  near(served.raw, raw);
  if (confidence_interval === null) expect(served.confidence_interval).toBeNull();
  else near(served.confidence_interval, confidence_interval);
  if (model.look) near(served.planned_look, { p_value: model.look.p });
  else expect(served.planned_look).toBeNull();
}

/** Equal to 1e-9, of the value where that is above 1. */
function near(served: any, expected: object): void {
  for (const [name, value] of Object.entries(expected)) {
    const error = Math.abs(served[name] - value) / Math.max(1, Math.abs(value));
    expect(error, `${name}: ${served[name]} and not ${value}`).toBeLessThan(1e-9);
  }
}

const plain = { enable_canary: false, min_trades: 100, max_drawdown_pct: 1000 };
const canary = { ...plain, enable_canary: true };

it.each<readonly [string, Stream, object]>([
  [
    'equal variants',
    { seed: 1, returns: 'normal', effect: 0.1, request: plain },
    { status: 'active', stageName: 'stage_4' },
  ],
  [
    'equal variants, with canary',
    { seed: 2, returns: 'normal', effect: 0.1, request: canary },
    { status: 'active', stageName: expect.stringMatching(/stage_[34]/) },
  ],
  [
    'a better challenger, after its planned look',
    { seed: 3, returns: 'trend', effect: 0.6, request: { ...plain, min_trades: 120 } },
    { outcome: 'challenger_wins', stageName: 'stage_4' },
  ],
  [
    'a better challenger, with canary',
    { seed: 4, returns: 'normal', effect: 1.2, request: canary },
    { outcome: 'challenger_wins', stageName: 'stage_3' },
  ],
  [
    'a slightly better challenger, at its planned look',
    { seed: 5, returns: 'trend', effect: 0.35, request: plain },
    { outcome: 'challenger_wins' },
  ],
  [
    'a slightly worse challenger',
    { seed: 14, returns: 'trend', effect: -0.3, request: plain },
    { outcome: 'champion_wins' },
  ],
  [
    'a worse challenger',
    { seed: 6, returns: 'normal', effect: -0.5, request: plain },
    { status: 'rolled_back', reason: 'harm' },
  ],
  [
    'a much worse challenger, with canary',
    { seed: 7, returns: 'short-vol', effect: -2, request: canary },
    { status: 'rolled_back', reason: 'harm', stageName: 'stage_1' },
  ],
  [
    'a challenger that loses too much',
    { seed: 17, returns: 'normal', effect: -0.1, request: { ...plain, max_drawdown_pct: 25 } },
    { status: 'rolled_back', reason: 'max_drawdown' },
  ],
])('service agrees with the reference model after every call: %s', async (_, stream, end) => {
  const model = await run(stream);
  expect(model).toMatchObject(end);
});
