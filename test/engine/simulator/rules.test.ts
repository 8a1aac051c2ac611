import { describe, expect, it } from 'vitest';
import { round8, stepOf } from '#engine/simulator/rules/decimals.ts';
import * as margin from '#engine/simulator/rules/margin.ts';
import * as money from '#engine/simulator/rules/money.ts';
import * as prices from '#engine/simulator/rules/prices.ts';
import * as roi from '#engine/simulator/rules/roi.ts';
import * as stops from '#engine/simulator/rules/stops.ts';
import * as trailing from '#engine/simulator/rules/trailing.ts';

const rules = { ...prices, ...roi, ...stops, ...trailing, ...money };
const { LONG, SHORT } = rules;
const RATE = [{ rate: 0.005, amount: 0 }];

describe('stops', () => {
  it('stops are a loss on the stake: leverage brings them nearer', () => {
    expect(rules.stopAt(200, -0.1, 1, LONG, null)).toBe(180);
    expect(rules.stopAt(200, -0.1, 4, LONG, null)).toBe(195);
    expect(rules.stopAt(200, 0.1, 4, SHORT, null)).toBeCloseTo(205, 10);
  });

  it('stops are on the next tick towards the price', () => {
    const tick = stepOf(0.5);
    expect(rules.stopAt(100, 0.0123, 1, LONG, tick)).toBe(99);
    expect(rules.stopAt(100, 0.01, 1, LONG, tick)).toBe(99);
    expect(rules.stopAt(100, 0.0123, 1, SHORT, tick)).toBe(101);
  });

  it('stops are reached on equality', () => {
    expect(rules.isStopReached(95, 100, 95, LONG)).toBe(true);
    expect(rules.isStopReached(94.99, 100, 95, LONG)).toBe(false);
    expect(rules.isStopReached(100, 100, 95, SHORT)).toBe(true);
    expect(rules.isStopReached(100.01, 100, 95, SHORT)).toBe(false);
  });

  it('stops fill at the open only when the whole candle is beyond them', () => {
    expect(rules.stopFill(98, 96, 97, 95, LONG, false)).toBe(96);
    expect(rules.stopFill(98, 96, 98, 95, LONG, false)).toBe(98);
    expect(rules.stopFill(98, 100, 101, 99, SHORT, false)).toBe(100);
    expect(rules.stopFill(98, 100, 101, 98, SHORT, false)).toBe(98);
  });

  it('stops fill at the open in the conservative model whenever it is beyond them', () => {
    expect(rules.stopFill(98, 96, 99, 95, LONG, true)).toBe(96);
    expect(rules.stopFill(98, 99, 100, 95, LONG, true)).toBe(98);
    expect(rules.stopFill(98, 100, 101, 97, SHORT, true)).toBe(100);
    expect(rules.stopFill(98, 97, 101, 96, SHORT, true)).toBe(98);
  });
});

/** A long of 1 unit at 100, without leverage and funding. */
const TRADE = { entryPrice: 100, amount: 1, leverage: 1, direction: LONG, funding: 0 } as const;

describe('trailing', () => {
  // Offset 3 %, positive 1 %, stop 10 %, entry 100 without fees: the offset's price is 103.
  const distance = (best: number, onlyOffset: boolean) => {
    const settings = {
      stoploss: -0.1,
      trailing: true,
      trailingPositive: 0.01,
      trailingOffset: 0.03,
      trailingOnlyOffset: onlyOffset,
      fee: 0,
    };
    const offset = new rules.TrailingOffset();
    offset.find(TRADE, settings);
    return rules.trailingDistance({ offset, direction: LONG }, best, null, settings);
  };

  it('trailing stop uses the stop distance up to the offset and the positive one beyond it', () => {
    expect(distance(102.9, false)).toBe(0.1);
    expect(distance(103, false)).toBe(0.1);
    expect(distance(103.1, false)).toBe(0.01);
  });

  it('trailing stop waits for the offset with onlyOffset, equality included', () => {
    expect(distance(102.9, true)).toBe(0);
    expect(distance(103, true)).toBe(0.1);
    expect(distance(103.1, true)).toBe(0.01);
  });

  it('trailing stop prices a hit in the entry candle from the offset or the distance, not beyond its worst price', () => {
    // 100 * (1 + 0.04 - 0.02 / 2) = 103, and mirrored 97; without offset 100 * (1 - 0.02 / 2) = 99.
    expect(rules.entryCandleTrailingPrice(100, 106, 95, true, 0.04, 0.02, 0.02, 2, LONG)).toBe(103);
    expect(rules.entryCandleTrailingPrice(100, 106, 95, true, 0.04, 0.02, 0.02, 2, SHORT)).toBe(97);
    expect(rules.entryCandleTrailingPrice(100, 106, 95, false, 0.04, 0.02, 0.02, 2, LONG)).toBe(99);
    expect(rules.entryCandleTrailingPrice(100, 106, 99.5, false, 0.04, 0.02, 0.02, 2, LONG)).toBe(99.5);
    expect(rules.entryCandleTrailingPrice(100, 102, 99.5, true, 0.04, 0.02, 0.02, 2, LONG)).toBe(103);
  });
});

describe('ROI', () => {
  it.each([
    { side: LONG, leverage: 1, funding: 0 },
    { side: LONG, leverage: 5, funding: 0.7 },
    { side: SHORT, leverage: 1, funding: 0 },
    { side: SHORT, leverage: 5, funding: -0.7 },
  ] as const)(
    'ROI exit triggers where the booked ratio exceeds it: $side x$leverage funding $funding',
    (scenario) => {
      const { side, leverage, funding } = scenario;
      const trigger = rules.priceExceeding(0.03, { ...TRADE, leverage, direction: side, funding }, 0.001);
      const booked = (price: number) => {
        const open = money.openValue(1, 100, 0.001, side);
        return money.profitRatioOf(open, money.closeValue(1, price, 0.001, funding, side), leverage, side);
      };
      expect(booked(trigger * (1 + side * 1e-9))).toBeGreaterThan(0.03);
      expect(booked(trigger * (1 - side * 1e-9))).toBeLessThanOrEqual(0.03);
    },
  );

  it('ROI exit does not trigger at exactly the ratio, despite rounding', () => {
    // In doubles 100 * 1.15 is 114.99999999999999.
    expect(rules.isAtOrBeyond(115, rules.priceExceeding(0.15, TRADE, 0), LONG)).toBe(false);
    expect(rules.isAtOrBeyond(115.0001, rules.priceExceeding(0.15, TRADE, 0), LONG)).toBe(true);
  });

  it('ROI exit is at the price that pays exactly the ratio, after both fees and the funding so far', () => {
    // Long 1 at 100: (100.1 * 1.03) / 0.999. Short 2 at 100, leverage 3, 1.5 received: (199.8 * 0.98 + 1.5) / 2.002.
    expect(rules.roiTarget(0.03, 100.1, 1, 0.001, 0, 1, LONG)).toBeCloseTo(103.103 / 0.999, 10);
    expect(rules.roiTarget(0.06, 199.8, 2, 0.001, 1.5, 3, SHORT)).toBeCloseTo(197.304 / 2.002, 10);
  });

  it('ROI exit stays inside the candle', () => {
    const fill = (target: number, key: number) =>
      rules.roiFill(0.01, target, key, 120, 60, 100, 104, 105, 103, 104, LONG);
    expect(fill(101, 0)).toBe(103);
    expect(fill(104.5, 0)).toBe(104.5);
    expect(fill(106, 0)).toBe(105);
    expect(fill(101, 120)).toBe(104);
    expect(fill(104.5, 120)).toBe(104.5);
  });

  it('ROI exit of -1 closes at the open on the grid and at the price of its loss off it, inside the candle', () => {
    const fill = (target: number, key: number) =>
      rules.roiFill(-1, target, key, 180, 60, 100, 104, 105, 103, 104, LONG);
    expect(fill(0, 120)).toBe(104);
    expect(fill(0, 100)).toBe(103);
    // With leverage, and after funding, the whole stake is lost inside the candle or above it.
    expect(fill(103.5, 100)).toBe(103.5);
    expect(fill(110, 100)).toBe(105);
    // Without leverage a short loses its stake at twice the price.
    expect(rules.roiFill(-1, 200, 100, 120, 60, 100, 104, 105, 103, 104, SHORT)).toBe(105);
  });

  it('ROI exit does not fill above the close of a red entry candle that was bought below its open', () => {
    const fill = (target: number, entry: number, close: number) =>
      rules.roiFill(0.01, target, 0, 0, 60, entry, 100, 101, 95, close, LONG);
    expect(fill(99, 96, 98)).toBeNaN();
    expect(fill(97, 96, 98)).toBe(97);
    expect(fill(99, 100, 98)).toBe(99);
    expect(fill(99, 96, 100.5)).toBe(99);
    const mirrored = rules.roiFill(0.01, 101, 0, 0, 60, 104, 100, 105, 99, 102, SHORT);
    expect(mirrored).toBeNaN();
  });
});

describe('liquidation', () => {
  it('liquidation follows the general isolated formula, moved towards the entry by the buffer', () => {
    // Entry 100, leverage 5: v = 20. (100 - 20) / (1 - 0.006) = 80.482897; plus 5 % of 19.517103 = 81.4587525.
    expect(margin.liquidationPrice(100, 20, 1, RATE, 0.05, 0.001, LONG, null)).toBeCloseTo(81.4587525, 7);
    // (100 + 20) / 1.006 = 119.284294; minus 5 % of 19.284294 = 118.3200795.
    expect(margin.liquidationPrice(100, 20, 1, RATE, 0.05, 0.001, SHORT, null)).toBeCloseTo(118.3200795, 7);
  });

  it('liquidation price is 0 for an unleveraged long but not for a short', () => {
    expect(margin.liquidationPrice(100, 100, 1, RATE, 0.05, 0, LONG, null)).toBe(0);
    // 200 / 1.005 = 199.004975; minus 5 % of 99.004975 = 194.0547264.
    expect(margin.liquidationPrice(100, 100, 1, RATE, 0.05, 0, SHORT, null)).toBeCloseTo(194.0547264, 7);
  });
});

describe('slippage', () => {
  it('slippage is always adverse', () => {
    expect(rules.slippedEntry(100, 0.01, LONG)).toBe(101);
    expect(rules.slippedEntry(100, 0.01, SHORT)).toBe(99);
    expect(rules.slippedExit(100, 0.01, LONG)).toBe(99);
    expect(rules.slippedExit(100, 0.01, SHORT)).toBe(101);
  });
});

describe('money', () => {
  it('account charges both fees and adds funding', () => {
    // Long 2 at 100 to 110, fee 1 %: 202 paid, 217.8 received, 1.5 funding received: 17.3 on 202.
    const open = money.openValue(2, 100, 0.01, LONG);
    const close = money.closeValue(2, 110, 0.01, 1.5, LONG);
    expect(money.profitOf(open, close, LONG)).toBe(17.3);
    expect(money.profitRatioOf(open, close, 3, LONG)).toBe(0.25693069);
    // Short 2 at 100 to 90, fee 1 %: 198 received, 181.8 paid, 1.5 funding paid: 14.7 on 198.
    const opened = money.openValue(2, 100, 0.01, SHORT);
    const closed = money.closeValue(2, 90, 0.01, -1.5, SHORT);
    expect(money.profitOf(opened, closed, SHORT)).toBe(14.7);
    expect(money.profitRatioOf(opened, closed, 3, SHORT)).toBe(0.22272727);
  });

  it('account rounds to 8 decimals and never to -0', () => {
    expect(round8(0.123456789)).toBe(0.12345679);
    expect(round8(-1e-10)).toBe(0);
  });

  it('account keeps part of the balance out of trades', () => {
    // 1000 * 0.99 - 300 in trades; with a ratio above 1 the free cash is the limit.
    expect(money.availableStake(1000, 300, 990)).toBe(690);
    expect(money.availableStake(1000, 300, 1500)).toBe(700);
  });

  it('account takes a fixed stake in full or not at all, unless the last one may be smaller', () => {
    expect(money.proposedStake(100, 100, 0, 3, false, 0.5)).toBe(100);
    expect(money.proposedStake(100, 99, 0, 3, false, 0.5)).toBeNull();
    expect(money.proposedStake(100, 99, 0, 3, true, 0.5)).toBe(99);
    expect(money.proposedStake(100, 50, 0, 3, true, 0.5)).toBe(0);
    expect(money.proposedStake(100, 500, 0, 3, true, 0.5)).toBe(100);
  });

  it('account divides the balance by the slots, at most what is available', () => {
    expect(money.proposedStake(0, 600, 300, 3, false, 0.5)).toBe(300);
    expect(money.proposedStake(0, 200, 700, 3, false, 0.5)).toBe(200);
    expect(money.proposedStake(0, -5, 5, 3, false, 0.5)).toBe(0);
  });
});
