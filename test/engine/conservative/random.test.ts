import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';
import { HOUR, pairOf, START, settingsOf } from '../simulator/market.ts';
import { play } from './oracle.ts';
import { type Case, randomCase } from './random-cases.ts';

/** `CONSERVATIVE_CASES` and `CONSERVATIVE_SEED` run others. */
const CASES = Number(process.env.CONSERVATIVE_CASES ?? 2_000);
const SEED = Number(process.env.CONSERVATIVE_SEED ?? 1);
const STAKE = 100;
const WALLET = 10_000;

function simulationOf({ candles, actions, entry, rules }: Case) {
  const { trailing, target, side } = rules;
  const at = ({ index }: CallbackContext) => actions[index] ?? {};
  // Additions and partial exits have the price callbacks of entries and exits.
  let factor: number | undefined = entry;
  const priced = (open: number, own: number | undefined) => {
    const price = open * (factor ?? own ?? 1);
    factor = undefined;
    return price;
  };
  const priceOfEntry: StrategyCallbacks = { customEntryPrice: (_context, _side, open) => priced(open, 1) };
  const ofActions: StrategyCallbacks = {
    customExitPrice: (context, _trade, open) => priced(open, at(context).exit),
    customStoploss: (context) => at(context).stop ?? null,
    customExit: (context) => (at(context).exit === undefined ? null : 'exit_signal'),
    adjustPosition: (context, { stake }) => {
      const { add, take } = at(context);
      factor = add?.at ?? take?.at;
      return add ? add.share * stake : take ? -take.share * stake : null;
    },
  };
  // Without callbacks for each candle the candles in which nothing can happen are skipped.
  const callbacks = actions.length > 0 ? { ...priceOfEntry, ...ofActions } : priceOfEntry;
  const signal = side === 'long' ? { enterLong: [0] } : { enterShort: [0] };
  return simulate(
    [pairOf({ rows: candles, ...signal })],
    settingsOf({
      fillModel: 'conservative',
      startingBalance: WALLET,
      stake: { kind: 'fixed', amount: STAKE },
      leverage: rules.leverage,
      fee: rules.fee,
      slippage: rules.slippage,
      stoploss: -rules.stoploss,
      ...(trailing && {
        trailing: {
          ...(trailing.positive > 0 && { positive: trailing.positive }),
          offset: trailing.offset,
          only_offset_is_reached: trailing.only,
        },
      }),
      ...(target !== undefined && { minimalRoi: { 0: target } }),
      liquidation: { maintenanceMarginRate: rules.maintenance, buffer: rules.buffer },
      unfilledTimeoutMinutes: 1e6,
      callbacks,
    }),
  );
}

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-7 * (1 + Math.abs(b));

/** Differences between the engine and the definition, empty where they agree. */
function disagreements(drawn: Case): string[] {
  const { candles, actions, entry, rules } = drawn;
  const expected = play(candles, actions, entry, STAKE, rules);
  const { trades, curve } = simulationOf(drawn);
  const [trade] = trades;
  const wrong: string[] = [];
  const closed = trade === undefined ? -1 : Math.round((trade.closedAt - START) / HOUR);
  if ((trade === undefined) !== (expected.exit === undefined)) return [`trade: engine ${!!trade}`];
  if (trade && expected.exit) {
    const { exit, amount } = expected;
    if (closed !== exit.candle) wrong.push(`closed in ${closed}, not ${exit.candle}`);
    if (!near(trade.exitPrice, exit.price)) wrong.push(`at ${trade.exitPrice}, not ${exit.price}`);
    if (trade.exitReason !== exit.reason) wrong.push(`by ${trade.exitReason}, not ${exit.reason}`);
    if (!near(trade.amount, amount)) wrong.push(`amount ${trade.amount}, not ${amount}`);
  }
  for (const [row, value] of expected.values.entries()) {
    const isOpen = curve!.openTrades[row] === 1;
    const held = heldAfter(trade, row + 1);
    const fee = isOpen ? held * candles[row + 1]![3] * rules.fee : 0;
    const own = curve!.equity[row]! - WALLET - fee;
    if (!near(own, value)) wrong.push(`worth ${own} after candle ${row + 1}, not ${value}`);
  }
  return wrong;
}

/** Amount held at the close of a candle. */
function heldAfter(
  trade: ReturnType<typeof simulationOf>['trades'][number] | undefined,
  candle: number,
): number {
  if (!trade) return 0;
  if (!trade.orders) return trade.amount;
  let held = 0;
  for (const { side, amount, filledAt } of trade.orders)
    if (filledAt <= START + candle * HOUR) held += side === 'entry' ? amount : -amount;
  return held;
}

describe('conservative fill model', () => {
  it(`values of ${CASES} random trades at every close are those of the path that is worth less`, () => {
    const wrong: Record<string, string[]> = {};
    for (let seed = SEED; seed < SEED + CASES; seed++) {
      const found = disagreements(randomCase(seed));
      if (found.length > 0) wrong[`seed ${seed}`] = found.slice(0, 4);
    }
    expect(
      Object.fromEntries(Object.entries(wrong).slice(0, 5)),
      `${Object.keys(wrong).length} seeds`,
    ).toEqual({});
  });
});
