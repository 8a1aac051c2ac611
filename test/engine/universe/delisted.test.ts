import { describe, expect, it } from 'vitest';
import type { Instrument } from '#engine/instrument.ts';
import { enterOnlyWithin } from '#engine/run/universe-mask.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import {
  candlesOf,
  flat,
  fundingOf,
  HOUR,
  hourOf,
  type PairScript,
  pairOf,
  type Row,
  START,
  settingsOf,
  summary,
} from '../simulator/market.ts';

const ROWS = 20;
/** Candles of the pair that is delisted. */
const ENDED = 10;
const INTERVALS = [{ from: START, to: START + ROWS * HOUR }];
const INSTRUMENT: Instrument = {
  amountStep: null,
  minAmount: null,
  maxAmount: null,
  minCost: null,
  maxCost: null,
  contractSize: 1,
  priceTick: 1,
};

const prices = (length: number, price = 100) => Array.from({ length }, () => flat(price));

/** A pair that is in all the time and trades to the end of the run. */
const staying = (script: PairScript) => enterOnlyWithin(pairOf(script), { intervals: INTERVALS }, HOUR);

/** The same of a pair that was delisted after its last candle, or at `at`. */
function delisted(script: PairScript, haircut = 0, at?: number, more: Partial<PairInput> = {}): PairInput {
  const delisting = { at: at ?? START + script.rows.length * HOUR, haircut };
  return enterOnlyWithin({ ...pairOf(script), ...more }, { intervals: INTERVALS, delisting }, HOUR);
}

/** Entered in row 3 at 100 and never left by its strategy; the last candle closes at 110. */
const RISING: readonly Row[] = [...prices(ENDED - 1), [100, 112, 99, 110]];
const ENTERED: PairScript = { pair: 'ENDED', rows: RISING, enterLong: [2] };
const WIDE: Partial<SimulationSettings> = { stoploss: -0.9 };

describe('pair that was delisted within the run', () => {
  const pairs = [
    delisted({ pair: 'ENDED', rows: prices(ENDED), enterLong: [2] }),
    staying({ pair: 'OTHER', rows: prices(ROWS), enterLong: [5, 9, 14] }),
  ];
  const detail = { detail: candlesOf(prices(4 * ROWS), HOUR / 4) };
  const cases: [string, Partial<SimulationSettings>, Partial<PairInput>?][] = [
    ['alone', {}],
    ['with stacked trades', { positionStacking: true }],
    ['with stacked trades and loopStart', { positionStacking: true, callbacks: { loopStart: () => {} } }],
    ['with callbacks', { callbacks: { customExit: () => null } }],
    ['with loopStart', { callbacks: { loopStart: () => undefined } }],
    ['with cross margin', { liquidation: { maintenanceMarginRate: 0.005, buffer: 0, marginMode: 'cross' } }],
    ['without its detail candles', { detailTimeframeMs: HOUR / 4 }],
    ['with detail candles', { detailTimeframeMs: HOUR / 4 }, detail],
  ];
  it.each(cases)('frees its slot and its money after its last candle, %s', (_, settings, more = {}) => {
    const run = settingsOf({ ...WIDE, maxOpenTrades: 1, ...settings });
    const { trades } = simulate(
      pairs.map((pair) => ({ ...pair, ...more })),
      run,
    );
    const row = (time: number) => Math.floor(hourOf(time));
    // Row 9 is its last candle: the signal of row 9 acts in row 10, when the slot is free.
    expect(
      trades.map((trade) => [
        trade.pair,
        row(trade.openedAt),
        row(trade.closedAt),
        trade.exitReason,
        trade.leftOpen,
      ]),
    ).toEqual([
      ['ENDED', 3, 9, 'delisted', false],
      ['OTHER', 10, ROWS - 1, 'force_exit', true],
    ]);
  });

  it('drops an entry that was not filled', () => {
    const callbacks = { customEntryPrice: () => 50 };
    const settings = settingsOf({ maxOpenTrades: 1, callbacks, unfilledTimeoutMinutes: 10_000 });
    const { table, counters } = simulate(pairs, settings);
    expect([table.length, counters.rejectedSignals]).toEqual([0, 1]);
  });

  it('pair whose candles end without a delisting stays open to the end of the run, as in freqtrade', () => {
    const [ended, other] = [staying({ pair: 'ENDED', rows: prices(ENDED), enterLong: [2] }), pairs[1]!];
    const { trades } = simulate([ended, other], settingsOf({ ...WIDE, maxOpenTrades: 1 }));
    expect(trades).toMatchObject([{ pair: 'ENDED', exitReason: 'force_exit', leftOpen: true }]);
  });

  it('position in the only pair is closed as delisted, though the run has no candle after it', () => {
    for (const callbacks of [{}, { loopStart: () => undefined }])
      expect(summary(simulate([delisted(ENTERED)], settingsOf({ ...WIDE, callbacks })))).toEqual([
        'ENDED long 3@100 9@110 delisted',
      ]);
  });

  it.each(cases)('is closed before those left open, also if it ends with the run, %s', (_, settings) => {
    const longest = staying({ pair: 'OTHER', rows: prices(ROWS), enterLong: [1] });
    const late = delisted(
      { pair: 'ENDED', rows: prices(ENDED), enterLong: [2], startsAt: ROWS - ENDED },
      0,
      START + ROWS * HOUR,
    );
    const { trades } = simulate([longest, late], settingsOf({ ...WIDE, maxOpenTrades: 2, ...settings }));
    expect(trades.map(({ pair, exitReason }) => [pair, exitReason])).toEqual([
      ['ENDED', 'delisted'],
      ['OTHER', 'force_exit'],
    ]);
  });

  it('position is left open in a part of the run that ends before the delisting', () => {
    const at = START + (ENDED + 2) * HOUR;
    expect(summary(simulate([delisted(ENTERED, 0.1, at)], settingsOf(WIDE)))).toEqual([
      'ENDED long 3@100 9@100 force_exit',
    ]);
  });

  it('part of a candle after the last whole one counts as its end', () => {
    const at = START + (ENDED + 0.5) * HOUR;
    expect(summary(simulate([delisted(ENTERED, 0.1, at)], settingsOf(WIDE)))).toEqual([
      'ENDED long 3@100 9@99 delisted',
    ]);
  });
});

describe('price of a position in a delisted pair', () => {
  const tail = staying({ pair: 'TAIL', rows: prices(ROWS) });
  const exit = (pair: PairInput, settings: Partial<SimulationSettings> = {}) =>
    simulate([pair, tail], settingsOf({ ...WIDE, ...settings })).trades[0]!;

  it('is the last close less the haircut for a long, and plus it for a short', () => {
    const short = { pair: 'ENDED', rows: RISING, enterShort: [2] };
    expect(exit(delisted(ENTERED, 0.1)).exitPrice).toBeCloseTo(99, 10);
    expect(exit(delisted(ENTERED, 0.1)).profit).toBeCloseTo(-1, 8);
    expect(exit(delisted(short, 0.1)).exitPrice).toBeCloseTo(121, 10);
    expect(exit(delisted(short, 0.1)).profit).toBeCloseTo(-21, 8);
  });

  it('is 0 with a haircut of 1: the long loses its stake', () => {
    const { exitPrice, profit, profitRatio } = exit(delisted(ENTERED, 1));
    expect([exitPrice, profit, profitRatio]).toEqual([0, -100, -1]);
  });

  it('has no slippage on top', () => {
    const trade = exit(delisted(ENTERED, 0.1), { slippage: 0.01 });
    expect(trade.exitPrice).toBeCloseTo(99, 10);
    // That of the entry at 101.
    expect(trade.slippageCost).toBeCloseTo(trade.amount, 8);
  });

  it('is rounded to the tick, like that of other exits', () => {
    expect(exit(delisted(ENTERED, 0.05, undefined, { instrument: INSTRUMENT })).exitPrice).toBe(105);
  });

  it('counts the whole last candle: its range, and its funding but for the event at its end', () => {
    const events = [9.25, 9.75, 10].map((hour) => ({ hour, rate: 0.01, markPrice: 100 }));
    const detail = candlesOf(prices(4 * ENDED), HOUR / 4);
    for (const more of [{}, { detail }]) {
      const pair = delisted({ ...ENTERED, funding: fundingOf(events) }, 0, undefined, more);
      const trade = exit(pair, { detailTimeframeMs: HOUR / 4 });
      expect(trade.funding).toBeCloseTo(-2, 8);
      expect(hourOf(trade.closedAt)).toBe('detail' in more ? 9.75 : 9);
      expect(trade.exitPrice).toBe(110);
      if (!('detail' in more)) expect([trade.lowestPrice, trade.highestPrice]).toEqual([99, 112]);
    }
  });
});

it('equity, balance and open trades have the exit in the last candle of the delisted pair', () => {
  const pairs = [delisted(ENTERED, 0.1), staying({ pair: 'OTHER', rows: prices(14), enterLong: [9] })];
  const { curve, finalBalance } = simulate(pairs, settingsOf({ ...WIDE, maxOpenTrades: 1 }));
  // Rows 1 to 13. A loss of 1 in row 9; the other pair is held in rows 10 to 12, and closed at the end.
  const before = Array.from({ length: 8 }, () => 1000);
  const after = Array.from({ length: 5 }, () => 999);
  expect(Array.from(curve!.equity, (value) => Math.round(value * 1e8) / 1e8)).toEqual([...before, ...after]);
  expect([...curve!.balance]).toEqual([...before, ...after]);
  expect([...curve!.openTrades]).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0]);
  expect(finalBalance).toBe(999);
});

it('protections count the loss', () => {
  const protection = { method: 'MaxDrawdown', lookback_period: 600, stop_duration: 300, trade_limit: 1 };
  const pairs = [
    delisted(ENTERED, 0.5),
    staying({ pair: 'OTHER', rows: prices(ROWS), enterLong: [9, 11, 13, 15] }),
  ];
  const settings = settingsOf({
    ...WIDE,
    protections: [{ ...protection, max_allowed_drawdown: 0.2 } as never],
  });
  const { table, locks } = simulate(pairs, settings);
  expect(locks.map(({ pair, from, until }) => [pair, hourOf(from), hourOf(until)])).toEqual([[null, 9, 15]]);
  expect(Array.from(table.openedAt, hourOf)).toEqual([3, 16]);
});
