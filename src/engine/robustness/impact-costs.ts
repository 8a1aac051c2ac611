import { FillCosts } from '../simulator/state/fill-costs.ts';
import { type TradeTable, textAt } from '../simulator/trade-table.ts';
import type { PairInput } from '../simulator/types.ts';

/**
 * Cost of the impact in the trades of each pair, quote currency. It is the part of a trade's slippage cost that its fills would
 * not pay without impact.
 *
 * @param slippage constant part of the cost of a market fill, ratio
 */
export function impactCosts(table: TradeTable, pairs: readonly PairInput[], slippage: number): number[] {
  const costs = new Float64Array(pairs.length);
  const rates = new Map(pairs.map((pair, index) => [pair.pair, { index, ...ratesOf(pair, slippage) }]));
  for (let row = 0; row < table.length; row++) {
    const paid = table.slippageCost[row]!;
    const rate = rates.get(textAt(table.pair, row));
    if (!rate || !(paid > 0)) continue;
    let whole = 0;
    let others = 0;
    for (const { filledAt, amount, price } of fillsOf(table, row)) {
      whole += amount * price * rate.whole.rate(filledAt, amount);
      others += amount * price * rate.others.rate(filledAt, amount);
    }
    if (whole > 0) costs[rate.index]! += paid * (1 - others / whole);
  }
  return [...costs];
}

function ratesOf({ costs, candles }: PairInput, slippage: number) {
  const rates = (daily: PairInput['costs']) =>
    new FillCosts(slippage, daily, Number.POSITIVE_INFINITY, candles.volume);
  return { whole: rates(costs), others: rates(costs && { ...costs, impact: null }) };
}

function fillsOf(table: TradeTable, row: number) {
  const amount = table.amount[row]!;
  return (
    table.orders.get(row) ?? [
      { filledAt: table.openedAt[row]!, amount, price: table.entryPrice[row]! },
      { filledAt: table.closedAt[row]!, amount, price: table.exitPrice[row]! },
    ]
  );
}
