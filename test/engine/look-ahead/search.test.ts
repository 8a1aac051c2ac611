import { describe, expect, it } from 'vitest';
import { sliceCandles } from '#engine/candles.ts';
import { crossedAbove, crossedBelow } from '#engine/indicators/index.ts';
import { beginSearch, sampleLookAhead, testCut } from '#engine/look-ahead/search.ts';
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

/** Milliseconds of a candle whose indicators are computed: 1,020 candles of two pairs take about the 20 ms of the whole run. */
const ROW_MS = 0.01;

/** Processor clock of which a strategy uses time for its candles, and `callMs` for each call of `customExit`. */
function working(define: typeof leak, begun: number, callMs = 0) {
  let now = begun;
  const take = (ms: number) => {
    now += ms;
  };
  const worker = () => {
    const strategy = define();
    const { indicators, callbacks } = strategy;
    const customExit: StrategyCallbacks['customExit'] =
      callbacks?.customExit &&
      ((...given) => {
        take(callMs);
        return callbacks.customExit!(...given);
      });
    return {
      ...strategy,
      indicators: (...given: Parameters<typeof indicators>) => {
        take(given[0].close.length * ROW_MS);
        return indicators(...given);
      },
      ...(customExit && { callbacks: { ...callbacks, customExit } }),
    };
  };
  return { spent: () => now, worker };
}

/** A sample after `begun` ms, and its share in the processor time. */
async function sample(
  define: typeof leak,
  begun: number,
  more: Parameters<typeof lookAheadSubject>[1] = {},
  callMs = 0,
) {
  const { spent, worker } = working(define, begun, callMs);
  const found = await sampleLookAhead(lookAheadSubject(worker, { rows: 1_000, ...more }), {
    spent,
    strategy: define(),
    runMs: 20,
    opened: [Date.UTC(2024, 0, 20)],
  });
  return { ...found, share: 1 - begun / spent() };
}

it('cut around the end of a delisted pair, or of the run, finds nothing in a causal strategy', async () => {
  const held = () => {
    const strategy = clean();
    return defineStrategy({
      ...strategy,
      signals: ({ close }) => ({ enterLong: new Uint8Array(close.length).fill(1) }),
      stoploss: -0.99,
      callbacks: { ...strategy.callbacks, orderFilled: () => undefined },
    });
  };
  const subject = lookAheadSubject(held, { rows: 60 });
  const [delisted, other] = subject.pairs;
  const { timestamp } = delisted!.candles;
  const stepMs = timestamp[1]! - timestamp[0]!;
  const rows = timestamp.length - 20;
  const at = timestamp[rows]!;
  const intervals = [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
  const pairs = [
    {
      pair: delisted!.pair,
      candles: sliceCandles(delisted!.candles, 0, rows),
      membership: { intervals, delisting: { at, haircut: 0.05 } },
    },
    { ...other!, membership: { intervals } },
  ];
  const search = await beginSearch({ ...subject, pairs });
  expect(search.whole.trades.map(({ exitReason }) => exitReason)).toEqual(['delisted', 'force_exit']);
  for (const end of [at, timestamp.at(-1)! + stepMs])
    for (let time = end - 4 * stepMs; time < end + 4 * stepMs; time += stepMs)
      if (time <= timestamp.at(-1)!) expect([time, await testCut(search, time)]).toEqual([time, []]);
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

  it.each([100, 200, 500])(
    'look-ahead sample uses at most a tenth of the processor time after %i ms',
    async (begun) => {
      const cheap = await sample(clean, begun);
      const dear = await sample(clean, begun, {}, 0.05);
      for (const { cuts, share } of [cheap, dear]) {
        expect(cuts).toBeGreaterThan(0);
        expect(share).toBeLessThanOrEqual(0.1);
      }
      // What recording takes is measured.
      expect(dear.rows).toBeLessThanOrEqual(cheap.rows);
    },
  );

  it('look-ahead sample of a short run takes 50 candles of each pair', async () => {
    // 5.6 ms are left. The part takes 1.4 ms; one of 100 candles would take 2.4 ms, and a cut as long.
    expect((await sample(clean, 50)).rows).toBe(100);
  });

  it('look-ahead sample takes the longest part of which five cuts are affordable, else two', async () => {
    // The part of 70 candles with those before it takes 1.4 ms, 0.02 ms each. Of 11.1 ms 9.7 are left: for two cuts, each as long
    // as the part, 161 candles. Of 55.6 ms 54.1 are left: for five cuts 451 candles.
    expect((await sample(clean, 100)).rows).toBe(2 * (161 - 20));
    expect((await sample(clean, 500)).rows).toBe(2 * (451 - 20));
  });

  it('look-ahead sample uses at most a twentieth for more than five cuts', async () => {
    const { cuts, share } = await sample(clean, 1_000);
    expect(cuts).toBeGreaterThanOrEqual(5);
    if (cuts > 5) expect(share).toBeLessThanOrEqual(0.05);
  });

  it('look-ahead sample takes up to 1,000 candles of each pair', async () => {
    const { cuts, rows } = await sample(clean, 9_000, { rows: 3_000 });
    expect([cuts, rows]).toEqual([20, 2_000]);
  });

  it('look-ahead sample without cuts states the reason', async () => {
    expect(await sample(clean, 3)).toMatchObject({
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
    const options = { spent: () => 9_000, strategy: failing(), runMs: 100, opened: [] };
    expect(await sampleLookAhead({ ...subject, load }, options)).toMatchObject({ cuts: 0, reason: 'gone' });
  });

  it('look-ahead sample covers strategies without callbacks and with models', async () => {
    expect(await sample(() => bollingerBreakout, 9_000)).toMatchObject({ cuts: 20, findings: [] });
    const withModels = await sample(() => mlClassifier, 50_000, { seeds: [1], rows: 400 });
    expect(withModels.cuts).toBeGreaterThanOrEqual(20);
    expect(withModels.findings).toEqual([]);
  });
});
