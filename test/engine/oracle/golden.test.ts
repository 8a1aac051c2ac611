import { describe, expect, it } from 'vitest';
import { GOLDEN, type Golden } from './golden.ts';
import { runOracle } from './oracle.ts';
import type { OracleTrade } from './types.ts';

function inCandles({ market }: Golden, trade: OracleTrade) {
  const row = (time: number) => market.bars.findIndex((bar) => bar.time === time);
  return { entered: row(trade.openTime), left: row(trade.closeTime) };
}

describe('the oracle on the worked scenarios of the reference', () => {
  it.each(GOLDEN)('$name', (scenario) => {
    const { trades } = runOracle([scenario.market], scenario.rules);

    expect(trades).toHaveLength(scenario.expected.length);
    for (const [i, { reason, entered, left, exit, entry = 100, ratio }] of scenario.expected.entries()) {
      const trade = trades[i] as OracleTrade;
      expect({ reason: trade.reason, ...inCandles(scenario, trade) }).toEqual({ reason, entered, left });
      expect(trade.entry).toBeCloseTo(entry, 9);
      expect(trade.exit).toBeCloseTo(exit, 6);
      if (ratio !== undefined) expect(trade.ratio).toBeCloseTo(ratio, 8);
    }
  });
});
