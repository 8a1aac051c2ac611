import { availableStake, proposedStake } from './accounting.ts';
import { consentOf, leverageOf, priceOf, stakeOf } from './answer-checks.ts';
import type { Market } from './market.ts';
import type { Position } from './position.ts';
import { type Direction, LONG, slippedEntry } from './rules.ts';
import type { Run } from './run.ts';

/** Enters `market` in the present candle if a slot, the wallet and the strategy allow it (1.3, from the fifth condition on). */
export function enter(run: Run, market: Market, direction: Direction): void {
  const { terms, bar } = run;
  const { callbacks } = terms;
  if (run.positions.length >= terms.maxOpenTrades) {
    run.reject(market);
    return;
  }
  const collateral = run.collateral();
  const available = availableStake(run.balance, collateral, terms.tradableBalanceRatio);
  let stake = proposedStake(
    terms.fixedStake,
    available,
    collateral,
    terms.maxOpenTrades,
    terms.amendLastStake,
    terms.lastStakeMinRatio,
  );
  if (!(stake > 0)) return;

  const side = direction === LONG ? 'long' : 'short';
  let leverage = Math.max(1, terms.leverage);
  let limit = bar.open;
  if (terms.hasCallbacks) {
    const context = run.contextOf(market);
    if (callbacks.leverage)
      leverage = leverageOf(callbacks.leverage(context, side, leverage), leverage, 'leverage', context);
    if (callbacks.customEntryPrice) {
      const asked = callbacks.customEntryPrice(context, side, bar.open);
      const price = priceOf(asked, bar.open, 'customEntryPrice', context);
      if (price !== bar.open) limit = placeableEntry(run, price, direction);
    }
    if (callbacks.customStake) {
      const asked = stakeOf(callbacks.customStake(context, side, stake), stake, 'customStake', context);
      stake = Math.min(asked, available);
    }
    if (!(stake > 0)) return;
    if (callbacks.confirmEntry) {
      const answer = callbacks.confirmEntry(context, side, limit);
      if (!consentOf(answer, 'confirmEntry', context)) return;
    }
  }

  const position = run.open(market, direction, leverage, stake);
  if (limit === bar.open) fillAtMarket(run, position);
  else placeEntry(run, position, limit);
}

function fillAtMarket(run: Run, position: Position): void {
  const { bar, terms } = run;
  position.priceEntry(slippedEntry(bar.open, terms.slippage, position.direction), bar.time, terms);
  position.slippageCost = position.amount * Math.abs(position.entryPrice - bar.open);
  position.fill(bar, terms);
}

function placeEntry(run: Run, position: Position, price: number): void {
  position.order = 'entry';
  position.orderPrice = price;
  position.orderTime = run.bar.time;
  position.priceEntry(price, run.bar.time, run.terms);
}

/** A limit that the market would not have filled at once: a long at most at the high, a short at least at the low (1.20). */
function placeableEntry({ bar }: Run, price: number, direction: Direction): number {
  return direction === LONG ? Math.min(price, bar.high) : Math.max(price, bar.low);
}

/** Cancels, replaces or keeps the order of a position that waits since an earlier candle (1.4 step 1, 1.20). */
export function manageOrder(run: Run, position: Position): void {
  const { bar, terms, counters } = run;
  if (bar.time - position.orderTime > terms.orderTimeoutMs) {
    if (position.order === 'entry') {
      counters.timedOutEntries++;
      run.remove(position);
    } else {
      counters.timedOutExits++;
      position.order = 'none';
    }
    return;
  }
  const { callbacks } = terms;
  if (position.order !== 'entry' || !callbacks.adjustEntryPrice) return;
  const context = run.contextOf(position.market);
  const answer = callbacks.adjustEntryPrice(context, position.view, position.orderPrice);
  if (answer === null) {
    counters.cancelledEntries++;
    run.remove(position);
    return;
  }
  const price = priceOf(answer, position.orderPrice, 'adjustEntryPrice', context);
  if (price === position.orderPrice) return;
  counters.replacedEntries++;
  placeEntry(run, position, placeableEntry(run, price, position.direction));
}

/** Fills the waiting entry if the candle touches its price. */
export function tryFillEntry(run: Run, position: Position): void {
  if (!run.bar.contains(position.orderPrice)) return;
  run.recordBefore();
  position.fill(run.bar, run.terms);
}
