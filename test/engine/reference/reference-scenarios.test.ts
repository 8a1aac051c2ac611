import { describe, expect, it } from 'vitest';
import { GOLDEN, type Golden } from './reference-scenarios.ts';
import { runReference } from './simulator.ts';
import type { ReferenceTrade } from './types.ts';

function inCandles({ market }: Golden, trade: ReferenceTrade) {
  const row = (time: number) => market.bars.findIndex((bar) => bar.time === time);
  return { entered: row(trade.openTime), left: row(trade.closeTime) };
}

describe('reference implementation on the worked scenarios', () => {
  it.each(GOLDEN)('reference implementation reproduces $name', (scenario) => {
    const { trades } = runReference([scenario.market], scenario.rules);

    expect(trades).toHaveLength(scenario.expected.length);
    for (const [i, { reason, entered, left, exit, entry = 100, ratio }] of scenario.expected.entries()) {
      const trade = trades[i] as ReferenceTrade;
      expect({ reason: trade.reason, ...inCandles(scenario, trade) }).toEqual({ reason, entered, left });
      expect(trade.entry).toBeCloseTo(entry, 9);
      expect(trade.exit).toBeCloseTo(exit, 6);
      if (ratio !== undefined) expect(trade.ratio).toBeCloseTo(ratio, 8);
    }
  });
});
