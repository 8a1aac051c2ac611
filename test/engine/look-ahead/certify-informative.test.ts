import { describe, expect, it } from 'vitest';
import { predictedAbove, predictedBelow } from '#engine/indicators/index.ts';
import type { CallbackContext } from '#engine/strategy.ts';
import { certify } from './certify-fixture.ts';
import { sound } from './crossing-fixture.ts';

describe('informative columns in callbacks and features', () => {
  it.each([
    [
      'the informative row of the forming candle',
      ({ informative, index }: CallbackContext) => informative['4h']!.average![index]!,
      /confirmEntry of .* read informative\.4h\.average\[\d+\]/,
    ],
    [
      'the last value of an informative column',
      ({ informative }: CallbackContext) => informative['4h']!.average!.at(-1)!,
      /confirmEntry of .*informative\.4h\.average\.at/,
    ],
  ])('certification finds a callback that reads %s', async (_, read, message) => {
    const define = (at: (context: CallbackContext) => number) => () =>
      sound({
        informativeTimeframes: ['4h'],
        callbacks: { confirmEntry: (context) => context.candles.close[context.index - 1]! > at(context) },
      });
    const { findings } = await certify(define(read));
    expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'confirmEntry' });
    expect(findings[0]!.message).toMatch(message);
    const causal = define(({ informative, index }) => informative['4h']!.average![index - 1]!);
    expect((await certify(causal)).findings).toEqual([]);
  });

  it('certification finds features that read an informative column one row early', async () => {
    const define = (ahead: number) => () =>
      sound({
        informativeTimeframes: ['4h'],
        mlFeatures: ({ close }, _columns, _params, informative) => {
          const { average } = informative['4h']!;
          return { distance: close.map((price, row) => price / (average![row + ahead] ?? price)) };
        },
        mlEngine: { model_type: 'logistic_regression', train_period_days: 10, backtest_period_days: 5 },
        signals: (_candles, columns) => ({
          enterLong: predictedAbove(columns, 0.5),
          exitLong: predictedBelow(columns, 0.5),
        }),
      });
    const early = await certify(define(1));
    expect(early.findings.map(({ kind, column }) => `${kind} ${column}`)).toContain(
      'look_ahead features.distance',
    );
    expect((await certify(define(0))).findings).toEqual([]);
  });
});
