import fc from 'fast-check';
import { expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { pairs, settings } from '../simulator/random-pairs.ts';

/**
 * freqtrade has no slippage, but prices of the strategy: an entry that slips is one at the slipped price, and what follows from it is what
 * recorded scenarios prove.
 */

/** Candles that contain the slipped prices of their opens, of so many decimals that no price is rounded to a tick. */
function widened({ candles, ...input }: PairInput, slippage: number): PairInput {
  const scale = 1 + Math.PI * 1e-9;
  const open = candles.open.map((price) => price * scale);
  return {
    ...input,
    candles: {
      ...candles,
      open,
      high: candles.high.map((price, row) => Math.max(price * scale, open[row]! * (1 + slippage))),
      low: candles.low.map((price, row) => Math.min(price * scale, open[row]! * (1 - slippage))),
      close: candles.close.map((price) => price * scale),
    },
  };
}

/** Additions and partial exits at the open of some candles. */
const ADJUSTING: StrategyCallbacks = {
  adjustPosition: ({ index }, { stake }) => {
    if (index % 3 === 0) return 40;
    return index % 7 === 0 ? -0.3 * stake : null;
  },
};

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(a), Math.abs(b));

/** Prices of the orders of a trade. */
function ordersOf({ orders, entryPrice, exitPrice, amount, exitReason }: SimulatedTrade) {
  return (
    orders ?? [
      { side: 'entry', price: entryPrice, amount, tag: null },
      { side: 'exit', price: exitPrice, amount, tag: exitReason },
    ]
  );
}

/** What the slipped trade has to have, by that of limit orders at the slipped prices of its entries. */
function expectedOf(limit: SimulatedTrade, { slippage, fee }: SimulationSettings) {
  const up = limit.side === 'long' ? 1 : -1;
  const { amount, initialStopPrice, stopPrice, lowestPrice, highestPrice, funding } = limit;
  const prices: number[] = [];
  let [slippageCost, fees, profit] = [0, 0, funding];
  for (const { side, price, amount: part, tag } of ordersOf(limit)) {
    const isEntry = side === 'entry';
    // A target is a limit order too.
    const filled = isEntry || tag === 'roi' ? price : price * (1 - up * slippage);
    prices.push(filled);
    slippageCost += part * Math.abs(isEntry ? price - price / (1 + up * slippage) : price - filled);
    fees += part * filled * fee;
    profit += (isEntry ? -up : up) * part * filled - part * filled * fee;
  }
  const values = { amount, initialStopPrice, stopPrice, lowestPrice, highestPrice, funding };
  return { prices, values: { ...values, slippageCost, fees, profit } };
}

function different(slipped: SimulatedTrade, limit: SimulatedTrade, run: SimulationSettings): string[] {
  const { prices, values } = expectedOf(limit, run);
  const wrong = Object.entries(values).filter(([name, value]) => !near(slipped[name as 'amount'], value));
  const own = ordersOf(slipped).map(({ price }) => price);
  const isEqual = own.length === prices.length && own.every((price, at) => near(price, prices[at]!));
  return [
    ...wrong.map(([name, value]) => `${name} ${slipped[name as 'amount']}, not ${value}`),
    ...(isEqual ? [] : [`prices ${own}, not ${prices}`]),
  ];
}

const timesOf = ({ trades }: Simulation) =>
  trades.map(({ pair, side, openedAt, closedAt, exitReason }) => [
    pair,
    side,
    openedAt,
    closedAt,
    exitReason,
  ]);

/** A loss of the whole stake has a price of its own. The stake of an adjusted trade is that of its last exit only. */
const losesAll = ({ profit, stake, orders, exitReason }: SimulatedTrade) =>
  profit <= -stake + 1e-6 || (orders !== undefined && exitReason === 'liquidation');

it('market orders that slip are limit orders at the slipped prices, and their exits are that much worse', () => {
  fc.assert(
    fc.property(
      pairs(3),
      settings,
      fc.constantFrom(0.0003, 0.004),
      fc.constantFrom({}, ADJUSTING),
      (plain, base, slippage, callbacks) => {
        const inputs = plain.map((input) => widened(input, slippage));
        const run: SimulationSettings = {
          ...base,
          callbacks,
          slippage,
          fillModel: 'freqtrade',
          stake: { kind: 'fixed', amount: 100 },
        };
        const customEntryPrice: StrategyCallbacks['customEntryPrice'] = (_, side, open) =>
          open * (side === 'long' ? 1 + slippage : 1 - slippage);
        const slipped = simulate(inputs, run);
        const limits = simulate(inputs, {
          ...run,
          slippage: 0,
          callbacks: { ...callbacks, customEntryPrice },
        });
        expect(timesOf(slipped)).toEqual(timesOf(limits));
        for (const [index, trade] of slipped.trades.entries())
          if (!losesAll(trade) && !losesAll(limits.trades[index]!))
            expect(different(trade, limits.trades[index]!, run)).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});
