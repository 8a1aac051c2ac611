import { describe, expect, it } from 'vitest';
import { countFillModelDifferences } from '#engine/simulator/differences.ts';
import { simulateLoop } from '#engine/simulator/loop.ts';
import { GOLDEN } from './golden.ts';
import { flat, pairOf, type Row, settingsOf } from './market.ts';

function differences(
  rows: readonly Row[],
  enterLong: number[],
  settings: Parameters<typeof settingsOf>[0],
): number {
  const pair = pairOf({ rows, enterLong });
  const [freqtrade, conservative] = (['freqtrade', 'conservative'] as const).map((fillModel) =>
    simulateLoop([pair], settingsOf({ ...settings, fillModel })),
  );
  const count = countFillModelDifferences(freqtrade!, conservative!);
  expect(countFillModelDifferences(conservative!, freqtrade!)).toBe(count);
  return count;
}

describe('the number of trades on which the fill models differ', () => {
  it('is 0 without ambiguity', () => {
    expect(differences([flat(100), flat(100), flat(97), flat(97)], [0], { stoploss: -0.02 })).toBe(0);
  });

  it('counts another exit price once', () => {
    const rows: Row[] = [flat(100), flat(100), [96, 98.5, 95, 98], flat(98)];
    expect(differences(rows, [0], { stoploss: -0.02 })).toBe(1);
  });

  it('counts another exit time, and trades that one model alone has', () => {
    // freqtrade: lifted to 104.5 and stopped in candle 2, entered again in 3. Conservative: held to the end.
    const rows: Row[] = [flat(100), flat(100), [104, 110, 103, 105], flat(105), flat(105)];
    expect(differences(rows, [0, 2], { stoploss: -0.05, trailing: {} })).toBe(2);
  });

  it('is 0 between a run and itself', () => {
    for (const { pair, settings } of GOLDEN) {
      const simulation = simulateLoop([pair], settings);
      expect(countFillModelDifferences(simulation, simulation)).toBe(0);
    }
  });
});
