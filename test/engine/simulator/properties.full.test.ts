import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enterOnlyWithin } from '#engine/run/universe-mask.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { flat, HOUR, pairOf } from './market.ts';
import { pair, pairs, pairsOnGrids, settings, withDetail } from './random-pairs.ts';

/** Profits have 8 decimals and compounding runs reach any size, so the tolerance is relative. */
function expectNear(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-6 + 1e-9 * Math.abs(expected));
}

const RUNS = { numRuns: 300 };
const LARGE: Partial<SimulationSettings> = { maxOpenTrades: 10, stake: { kind: 'fixed', amount: 100 } };

/** Contribution of an open trade to the equity at the close of the candle that opens at `time`, from its record only. */
function unrealised(
  trade: SimulatedTrade,
  { candles, funding }: PairInput,
  time: number,
  { fee, fillModel }: SimulationSettings,
): number {
  const { timestamp, close } = candles;
  const last = timestamp.length - 1;
  const price = close[Math.min(last, Math.round((time - timestamp[0]!) / 3_600_000))]!;
  const sign = trade.side === 'long' ? 1 : -1;
  let value = sign * trade.amount * (price - trade.entryPrice) - trade.amount * trade.entryPrice * fee;
  for (const [event, at] of (funding?.timestamp ?? []).entries()) {
    const paid = sign * funding!.rate[event]! * funding!.markPrice[event]! * trade.amount;
    // The conservative model leaves out what an event at the time of the entry would pay.
    const isLeftOut = fillModel === 'conservative' && at === trade.openedAt && paid < 0;
    if (at >= trade.openedAt && at <= Math.min(time, timestamp[last]!) && !isLeftOut) value -= paid;
  }
  return value;
}

function expectedEquity(
  simulation: Simulation,
  inputs: readonly PairInput[],
  run: SimulationSettings,
): number[] {
  const times = Array.from(simulation.curve!.timestamp);
  return times.map((time, row) => {
    let equity = run.startingBalance;
    for (const trade of simulation.trades) {
      // Forced exits are booked at the end of the run, also when the pair's data ended earlier.
      const closed = trade.leftOpen ? row === times.length - 1 : trade.closedAt <= time;
      const input = inputs.find(({ pair }) => pair === trade.pair)!;
      if (closed) equity += trade.profit;
      else if (trade.openedAt <= time) equity += unrealised(trade, input, time, run);
    }
    return equity;
  });
}

const byEntry = (trades: readonly SimulatedTrade[]) =>
  [...trades].sort(
    (a, b) => a.openedAt - b.openedAt || a.pair.localeCompare(b.pair) || a.closedAt - b.closedAt,
  );

function scaled({ candles, funding, ...input }: PairInput, factor: number): PairInput {
  const times = (column: Float64Array) => column.map((value) => value * factor);
  return {
    ...input,
    candles: {
      ...candles,
      open: times(candles.open),
      high: times(candles.high),
      low: times(candles.low),
      close: times(candles.close),
    },
    ...(funding && { funding: { ...funding, markPrice: times(funding.markPrice) } }),
  };
}

/** Delisted after its last candle. */
function delistedPair(input: PairInput): PairInput {
  const at = input.candles.timestamp.at(-1)! + HOUR;
  return enterOnlyWithin(input, { intervals: [{ from: 0, to: at }], delisting: { at, haircut: 0.05 } }, HOUR);
}

const EVERY_CANDLE: Partial<SimulationSettings> = { callbacks: { customRoi: () => null } };

describe('simulation of any candles, signals and settings', () => {
  it('equity is cash plus open positions at every candle', () => {
    fc.assert(
      fc.property(pairs(4), settings, (inputs, run) => {
        const simulation = simulate(inputs, run);
        const { equity, openTrades } = simulation.curve!;
        for (const [row, expected] of expectedEquity(simulation, inputs, run).entries())
          expectNear(equity[row]!, expected);
        expect(Math.max(0, ...openTrades)).toBeLessThanOrEqual(run.maxOpenTrades);
      }),
      RUNS,
    );
  });

  it('equity, balance and open trades agree with the trades in runs with delisted pairs', () => {
    const ways: Partial<SimulationSettings>[] = [
      {},
      { positionStacking: true },
      { callbacks: { loopStart: () => undefined } },
      { callbacks: { customRoi: () => null } },
    ];
    fc.assert(
      fc.property(pairs(4), settings, fc.constantFrom(...ways), (some, base, way) => {
        const run = { ...base, ...way };
        const inputs = some.map((input, index) => (index === 1 ? input : delistedPair(input)));
        const simulation = simulate(inputs, run);
        const { equity, balance, openTrades, timestamp } = simulation.curve!;
        for (const [row, expected] of expectedEquity(simulation, inputs, run).entries())
          expectNear(equity[row]!, expected);
        for (const [row, time] of timestamp.entries()) {
          const isClosed = ({ leftOpen, closedAt }: SimulatedTrade) =>
            leftOpen ? row === timestamp.length - 1 : closedAt <= time;
          const closed = simulation.trades.filter(isClosed);
          const opened = simulation.trades.filter(({ openedAt }) => openedAt <= time);
          expectNear(
            balance[row]!,
            closed.reduce((sum, { profit }) => sum + profit, run.startingBalance),
          );
          expect(openTrades[row]).toBe(opened.length - closed.length);
        }
        const left = simulation.trades.filter(({ leftOpen }) => leftOpen);
        expect(left.every((trade) => trade.pair === 'P1')).toBe(true);
        expect(simulation.trades).toEqual(simulate(inputs, { ...run, ...EVERY_CANDLE }).trades);
      }),
      { numRuns: 1000 },
    );
  });

  it('profits of the trades add up to the change of the balance', () => {
    fc.assert(
      fc.property(pairs(4), settings, (inputs, run) => {
        const { trades, finalBalance, curve } = simulate(inputs, run);
        const profit = trades.reduce((sum, trade) => sum + trade.profit, 0);
        expectNear(finalBalance - run.startingBalance, profit);
        expect(curve!.equity.at(-1) ?? run.startingBalance).toBe(finalBalance);
        expect(curve!.balance.at(-1) ?? run.startingBalance).toBe(finalBalance);
      }),
      RUNS,
    );
  });

  it('two disjoint runs make the same trades as one run with enough slots and money', () => {
    fc.assert(
      fc.property(pairs(5), settings, fc.nat({ max: 5 }), (inputs, base, cut) => {
        const run = { ...base, ...LARGE };
        // A pair without signals gives every run the same clock: the last candle of a run allows no entry.
        const clock = pairOf({ pair: 'CLOCK', rows: Array.from({ length: 80 }, () => flat(1)) });
        const parts = [inputs.slice(0, cut), inputs.slice(cut)];
        const apart = parts.flatMap((part) => simulate([...part, clock], run).trades);
        expect(byEntry(apart)).toEqual(byEntry(simulate([...inputs, clock], run).trades));
      }),
      RUNS,
    );
  });

  it('scaling all prices by a power of two changes no ratio and no profit', () => {
    fc.assert(
      fc.property(pairs(3), settings, fc.constantFrom(2 ** -10, 0.5, 2, 2 ** 14), (inputs, run, factor) => {
        const ratios = ({ trades }: Simulation) =>
          trades.map((trade) => [
            trade.pair,
            trade.closedAt,
            trade.exitReason,
            trade.profitRatio,
            trade.profit,
          ]);
        const other = simulate(
          inputs.map((input) => scaled(input, factor)),
          run,
        );
        const plain = simulate(inputs, run);
        expect(ratios(other)).toEqual(ratios(plain));
        expect(other.curve!.equity).toEqual(plain.curve!.equity);
      }),
      RUNS,
    );
  });

  it('equal inputs produce equal bytes and are not modified', () => {
    fc.assert(
      fc.property(pairs(3), settings, (inputs, run) => {
        const before = structuredClone(inputs);
        const first = JSON.stringify(simulate(inputs, run));
        expect(JSON.stringify(simulate(inputs, run))).toBe(first);
        expect(inputs).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });

  it('trades are in the order of closing, on price ticks and in full lots', () => {
    fc.assert(
      fc.property(pairsOnGrids(4), settings, (inputs, base) => {
        const { trades } = simulate(inputs, { ...base, slippage: 0 });
        expect(trades.map(({ closedAt }) => closedAt)).toEqual(
          trades.map(({ closedAt }) => closedAt).toSorted((a, b) => a - b),
        );
        for (const { pair, amount, entryPrice, exitPrice, stopPrice, profit, stake } of trades) {
          const { instrument } = inputs.find((input) => input.pair === pair)!;
          if (!instrument) continue;
          // Candles are multiples of 0.5: a month with halves has ticks of 0.1, a month of integers the market's tick.
          // An exit that loses the whole stake has the price at which it does (docs/simulation.md#liquidation).
          const isLimited = profit <= -stake + 1e-6;
          for (const price of [entryPrice, isLimited ? entryPrice : exitPrice, stopPrice])
            if (instrument.priceTick !== null) expect(Number(price.toFixed(1))).toBe(price);
          const step = (instrument.amountStep ?? 0) * instrument.contractSize;
          if (step > 0) expect(Math.abs(amount / step - Math.round(amount / step))).toBeLessThan(1e-6);
        }
      }),
      RUNS,
    );
  });

  it('skipping candles without events does not change the result', () => {
    fc.assert(
      fc.property(pairsOnGrids(4), settings, (inputs, run) => {
        const everyCandle = { ...run, callbacks: { customRoi: () => null } };
        expect(simulate(inputs, run)).toEqual(simulate(inputs, everyCandle));
      }),
      { numRuns: 1000 },
    );
  });

  it('callbacks get the same arguments with and without a position of another pair', () => {
    fc.assert(
      fc.property(pair('A'), settings, fc.infiniteStream(fc.nat({ max: 60 })), (input, base, wishes) => {
        const script = Array.from({ length: 400 }, () => wishes.next().value);
        const play = (inputs: PairInput[]) => {
          const calls: unknown[][] = [];
          const note = (...call: unknown[]) => script[calls.push(call) % script.length]!;
          const callbacks: StrategyCallbacks = {
            customStoploss: ({ pair, time }, { stopPrice }, best, profit) => {
              if (pair !== 'A') return null;
              const wish = note('stoploss', time, stopPrice, best, profit);
              return wish < 20 ? wish / 100 : null;
            },
            customRoi: ({ pair, time }, _trade, minutes) =>
              pair === 'A' && note('roi', time, minutes) === 0 ? 0.01 : null,
            customExit: ({ pair, time }, _trade, price, profit) =>
              pair === 'A' && note('exit', time, price, profit) === 1 ? 'mine' : null,
          };
          const { trades } = simulate(inputs, { ...base, ...LARGE, callbacks });
          return { calls, trades: trades.filter((trade) => trade.pair === 'A') };
        };
        const rows = Array.from({ length: 90 }, () => flat(1));
        const held = pairOf({ pair: 'HELD', rows, enterLong: [0] });
        const idle = pairOf({ pair: 'IDLE', rows });
        const separate = play([input, idle]);
        expect(play([held, input])).toEqual(separate);
        const questions = separate.calls.map(([kind, time]) => `${kind} ${time}`);
        const reversals = separate.trades.filter(
          ({ openedAt }, at) => separate.trades[at - 1]?.closedAt === openedAt,
        );
        if (reversals.length === 0) expect(new Set(questions).size).toBe(questions.length);
      }),
      RUNS,
    );
  });

  it.each(['main', 'detail'])('exits stay within their %s candle, one trade at a time per pair', (kind) => {
    fc.assert(
      fc.property(pairs(3), settings, (plain, base) => {
        const detail = kind === 'detail';
        const inputs = detail ? plain.map(withDetail) : plain;
        const run: SimulationSettings = {
          ...base,
          slippage: 0,
          // In the conservative model a target keeps its price in a gap.
          fillModel: 'freqtrade',
          ...(detail && { detailTimeframeMs: base.timeframeMs / 2 }),
        };
        const busyUntil = new Map<string, number>();
        for (const trade of byEntry(simulate(inputs, run).trades)) {
          const input = inputs.find(({ pair }) => pair === trade.pair)!;
          // Forced exits are dated by the main candle, whose open equals the first detail candle's.
          const columns = detail ? input.detail! : input.candles;
          const row = columns.timestamp.indexOf(trade.closedAt);
          // Beyond bankruptcy the price is the one that loses all of the collateral, also where the candle opens past it.
          const losesAll = Math.abs(trade.profit + trade.stake) < 1e-6;
          if (!losesAll || trade.side === 'short')
            expect(trade.exitPrice).toBeLessThanOrEqual(columns.high[row]!);
          if (!losesAll || trade.side === 'long')
            expect(trade.exitPrice).toBeGreaterThanOrEqual(columns.low[row]!);
          expect(trade.openedAt).toBeGreaterThanOrEqual(busyUntil.get(trade.pair) ?? 0);
          expect(trade.closedAt).toBeGreaterThanOrEqual(trade.openedAt);
          busyUntil.set(trade.pair, trade.closedAt);
        }
      }),
      RUNS,
    );
  });
});
