import { describe, expect, it } from 'vitest';
import { crossedAbove, crossedBelow } from '#engine/indicators/index.ts';
import { sampleLookAhead } from '#engine/look-ahead/search.ts';
import { bollingerBreakout } from '#engine/strategies/bollinger-breakout.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import { defineStrategy, type StrategyCallbacks } from '#engine/strategy.ts';
import { CROSSING } from './crossing-fixture.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

const crossing = (callbacks: StrategyCallbacks) => () =>
  defineStrategy({
    ...CROSSING,
    name: 'crossing',
    signals: ({ close }, { average }) => ({
      enterLong: crossedAbove(close, average),
      exitLong: crossedBelow(close, average),
    }),
    stoploss: -0.2,
    callbacks,
  });

const leak = crossing({
  customExit: ({ candles, index }, _trade, price) => (candles.close[index + 3]! < price ? 'known' : null),
});
const clean = crossing({ customExit: ({ candles, index }) => (candles.close[index - 1]! < 0 ? 'x' : null) });

/** Processor clock that advances 1 ms per read. */
function clock(begun: number) {
  let now = begun;
  return () => now++;
}

const sample = (define: typeof leak, begun: number, more = {}) =>
  sampleLookAhead(lookAheadSubject(define, { rows: 1_000, ...more }), {
    spent: clock(begun),
    strategy: define(),
    runMs: 20,
    opened: [Date.UTC(2024, 0, 20)],
  });

describe('sampleLookAhead', () => {
  it('look-ahead sample finds a callback that reads ahead, with its pair and candle', async () => {
    const { cuts, findings } = await sample(leak, 9_000);
    expect(cuts).toBe(20);
    expect(findings.map(({ kind, callback }) => [kind, callback])).toEqual([['look_ahead', 'customExit']]);
    expect(findings[0]!.message).toMatch(/^customExit of M2\d\/USDT:USDT in the candle of 2024-/);
  });

  it('look-ahead sample of a causal strategy has no findings and states its coverage', async () => {
    const { cuts, rows, pairs, findings, reason } = await sample(clean, 9_000);
    expect([cuts, rows, findings, reason]).toEqual([20, 2_000, [], '']);
    expect(pairs).toEqual(['M21/USDT:USDT', 'M22/USDT:USDT']);
  });

  it('look-ahead sample uses at most a tenth of the processor time for cuts', async () => {
    // 100 ms were spent: 11 more ms are a tenth of the total.
    const few = await sample(clean, 100);
    expect(few.cuts).toBeGreaterThan(0);
    expect(few.cuts).toBeLessThan(8);
    expect(few.rows).toBeLessThan(500);
  });

  it('look-ahead sample of a short run takes 50 candles of each pair', async () => {
    // 5.6 ms are left: for four times the run's time per candle too few, for that time itself enough.
    const { cuts, rows } = await sample(clean, 50);
    expect(cuts).toBeGreaterThan(0);
    expect(rows).toBe(100);
  });

  it('look-ahead sample uses at most a twentieth for more than five cuts', async () => {
    // A cut takes 2 ms: a tenth of the total would be 11 of them.
    expect((await sample(clean, 200)).cuts).toBe(5);
    expect((await sample(clean, 500)).cuts).toBeGreaterThan(5);
  });

  it('look-ahead sample takes up to 1,000 candles of each pair', async () => {
    const { cuts, rows } = await sample(clean, 9_000, { rows: 3_000 });
    expect([cuts, rows]).toEqual([20, 2_000]);
  });

  it('look-ahead sample without cuts states the reason', async () => {
    expect(await sample(clean, 3)).toEqual({
      cuts: 0,
      rows: 0,
      pairs: [],
      findings: [],
      reason: '10 % of the processor time allows no cut',
    });
    const failing = crossing({});
    const subject = lookAheadSubject(failing, { rows: 1_000 });
    let loaded = 0;
    const load = async () => {
      if (loaded++ > 0) throw new Error('gone');
      return failing();
    };
    const options = { spent: clock(9_000), strategy: failing(), runMs: 100, opened: [] };
    expect(await sampleLookAhead({ ...subject, load }, options)).toMatchObject({ cuts: 0, reason: 'gone' });
  });

  it('look-ahead sample covers strategies without callbacks and with models', async () => {
    expect(await sample(() => bollingerBreakout, 9_000)).toMatchObject({ cuts: 20, findings: [] });
    const withModels = await sample(() => mlClassifier, 50_000, { seeds: [1], rows: 400 });
    expect(withModels.cuts).toBeGreaterThanOrEqual(20);
    expect(withModels.findings).toEqual([]);
  });
});
