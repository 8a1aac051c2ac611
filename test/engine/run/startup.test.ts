import { describe, expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { definitionProblems } from '#engine/definitions/validate-definition.ts';
import { historyFacts, historyStart, startupCandles, startupRowsOf } from '#engine/run/history.ts';
import { largerStartup, needsMore, startupOn } from '#engine/startup.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, SAMPLE_STRATEGY, sampleInput, sha256 } from '../backtest-sample.ts';

const by = (declared: StrategyDefinition['startupCandles']): StrategyDefinition => ({
  ...SAMPLE_STRATEGY,
  informativeTimeframes: ['1h', '4h'],
  startupCandles: declared,
});

const PARAMS = { fast: 3 };

describe('startupCandles', () => {
  it('is a number, an object by timeframe, or a function that returns either', () => {
    expect(startupCandles(by(140), {})).toBe(140);
    expect(
      startupCandles(
        by(({ fast }) => 5 * (fast as number)),
        PARAMS,
      ),
    ).toBe(15);
    const named = { own: 140, named: { '5m': 140, '4h': 60 } };
    expect(startupCandles(by({ '5m': 140, '4h': 60 }), {})).toEqual(named);
    expect(
      startupCandles(
        by(({ fast }) => ({ '5m': 140, '4h': 20 * (fast as number) })),
        PARAMS,
      ),
    ).toEqual(named);
  });

  it('a timeframe that is not named takes the count of the strategy, and so does another timeframe of the run', () => {
    const strategy = by({ '5m': 140, '4h': 60 });
    const startup = startupCandles(strategy, {});
    expect([startupOn(startup, '4h'), startupOn(startup, '1h')]).toEqual([60, 140]);
    // 141 hours, and 61 candles of 4h, one of which is still open at the start.
    expect(startupRowsOf(historyFacts(strategy), startup, '5m')).toBe(Math.max(140, 141 * 12, 61 * 48));
    expect(startupRowsOf({ ownFeatures: false }, startup, '15m')).toBe(140);
  });

  it.each<[unknown, string]>([
    [undefined, 'it is undefined, which is not an integer'],
    [-1, 'it is -1'],
    [1.5, 'it is 1.5'],
    [{ '4h': 60 }, 'an object without 5m, the timeframe of the strategy'],
    [{ '5m': 10, '7h': 60 }, 'an object with 7h, which is not a timeframe'],
    [{ '5m': 10, '4h': '60' }, '60 for 4h, which is not an integer'],
    [JSON.parse('{"5m":10,"__proto__":1}'), 'an object with __proto__, which is not a timeframe'],
    [[5], 'it is an object, which is not an integer'],
    [() => ({ '4h': 1 }), 'it returned an object without 5m'],
  ])('a definition with %j is broken', (value, problem) => {
    expect(definitionProblems(by(value as number)).join()).toContain(problem);
  });

  it('the largest of several parameters is taken for each timeframe', () => {
    const a = { own: 10, named: { '5m': 10, '4h': 60 } };
    const b = { own: 20, named: { '5m': 20, '1h': 5 } };
    expect(largerStartup(a, b)).toEqual({ own: 20, named: { '5m': 20, '4h': 60, '1h': 10 } });
    expect(largerStartup(3, 4)).toBe(4);
    expect([needsMore(a, b), needsMore(b, b), needsMore(4, 3), needsMore(3, a)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('the report shows the object, and the run equals that of the same numbers', () => {
    const run = (declared: StrategyDefinition['startupCandles']) => {
      const strategy = { ...SAMPLE_STRATEGY, startupCandles: declared };
      return runBacktest(sampleInput({ strategy }), { digest: sha256 });
    };
    const [plain, named] = [run(() => 20), run({ '5m': 20, '1d': 3 })];
    expect(named.report.settings.startup_candles).toEqual({ '5m': 20, '1d': 3 });
    expect(plain.report.settings.startup_candles).toBe(20);
    expect(named.trades).toEqual(plain.trades);
    expect(historyStart({ ...SAMPLE_STRATEGY, startupCandles: { '5m': 20 } }, {}, CONFIG.timeframe, 0)).toBe(
      -20 * 300_000,
    );
  });
});
