import { roundHalfUp } from '../rules/decimals.ts';
import { type Direction, LONG, slippedEntry } from '../rules/exit-prices.ts';
import { allowedStake, availableStake, entryAmount, entryStake, proposedStake } from '../rules/money.ts';
import type { Market } from '../state/market.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { consentOf, leverageOf, priceOf, stakeOf } from './answer-checks.ts';

/** Enters `market` in the present candle if a slot, the wallet and the strategy allow it, in the order of reference 3.2. */
export function enter(run: Run, market: Market, direction: Direction): void {
  const { terms, bar } = run;
  if (run.positions.length >= terms.maxOpenTrades) {
    run.counters.rejectedSignals++;
    return;
  }
  const limit = terms.callbacks.customEntryPrice ? askEntryPrice(run, market, direction) : bar.open;
  const collateral = run.collateral();
  const available = availableStake(run.balance, collateral, terms.tradableBalanceRatio);
  const proposed = proposedStake(
    terms.fixedStake,
    available,
    collateral,
    terms.maxOpenTrades,
    terms.amendLastStake,
    terms.lastStakeMinRatio,
  );
  if (!(proposed > 0)) return;
  const leverage = askLeverage(run, market, direction);
  const wanted = askStake(run, market, direction, proposed);
  const stake = allowedStake(wanted, Math.max(available, proposed), market.grid, limit, leverage);
  if (!(stake > 0)) return;
  const price = limit === bar.open ? slippedEntry(limit, terms.slippage, direction) : limit;
  const amount = entryAmount(stake, price, leverage, market.grid);
  if (!(amount > 0) || !isConfirmed(run, market, direction, limit)) return;

  const position = run.open(market, direction, leverage);
  position.orderEntry(
    price,
    amount,
    entryStake(stake, amount, price, leverage, market.grid),
    bar.time,
    terms,
  );
  if (limit === bar.open) fillAtMarket(run, position);
}

/** Slippage moves the price off the ticks: it stands for fills at several of them. */
function fillAtMarket(run: Run, position: Position): void {
  const { bar, terms } = run;
  const unslipped = roundHalfUp(bar.open, position.tick);
  const price = slippedEntry(unslipped, terms.slippage, position.direction);
  position.slippageCost = position.amount * Math.abs(price - unslipped);
  position.fill(price, bar, terms);
}

const sideOf = (direction: Direction) => (direction === LONG ? 'long' : 'short');

function askLeverage(run: Run, market: Market, direction: Direction): number {
  const { leverage, callbacks } = run.terms;
  const proposed = Math.max(1, leverage);
  if (!callbacks.leverage) return proposed;
  const context = run.contextOf(market);
  return leverageOf(callbacks.leverage(context, sideOf(direction), proposed), proposed, 'leverage', context);
}

function askStake(run: Run, market: Market, direction: Direction, proposed: number): number {
  const { customStake } = run.terms.callbacks;
  if (!customStake) return proposed;
  const context = run.contextOf(market);
  return stakeOf(customStake(context, sideOf(direction), proposed), proposed, 'customStake', context);
}

/** The limit that the strategy names: on a tick, then no better than the candle's prices (reference 3.1). */
function askEntryPrice(run: Run, market: Market, direction: Direction): number {
  const { bar, terms } = run;
  const { open } = bar;
  const context = run.contextOf(market);
  const answer = terms.callbacks.customEntryPrice!(context, sideOf(direction), open);
  const asked = priceOf(answer, open, 'customEntryPrice', context);
  if (asked === open) return open;
  const price = market.grid === null ? asked : roundHalfUp(asked, market.grid.tickAt(bar.time));
  return direction === LONG ? Math.min(price, bar.high) : Math.max(price, bar.low);
}

function isConfirmed(run: Run, market: Market, direction: Direction, price: number): boolean {
  const { confirmEntry } = run.terms.callbacks;
  if (!confirmEntry) return true;
  const context = run.contextOf(market);
  return consentOf(confirmEntry(context, sideOf(direction), price), 'confirmEntry', context);
}

/** Cancels, replaces or keeps the order of a position that waits since an earlier candle (reference 1.5). */
export function manageOrder(run: Run, position: Position): void {
  const { bar, terms, counters } = run;
  if (bar.time - position.orderTime >= terms.orderTimeoutMs) {
    if (position.order === 'entry') {
      counters.timedOutEntries++;
      run.remove(position);
    } else {
      counters.timedOutExits++;
      position.order = 'none';
    }
    return;
  }
  if (position.order === 'entry' && terms.callbacks.adjustEntryPrice) adjustEntry(run, position);
}

function adjustEntry(run: Run, position: Position): void {
  const { terms, counters } = run;
  const context = run.contextOf(position.market);
  const answer = terms.callbacks.adjustEntryPrice!(context, position.view, position.orderPrice);
  if (answer === null) {
    counters.cancelledEntries++;
    run.remove(position);
    return;
  }
  const price = priceOf(answer, position.orderPrice, 'adjustEntryPrice', context);
  if (price === position.orderPrice) return;
  if (replaceEntry(run, position, price)) {
    counters.replacedEntries++;
    return;
  }
  counters.cancelledEntries++;
  run.remove(position);
}

/**
 * Orders a waiting entry anew at `price` as it is, for what the old order was worth; false if it cannot be ordered. The strategy
 * is asked for a price and its consent as for any order; only the smallest stake hangs on that price.
 */
function replaceEntry(run: Run, position: Position, price: number): boolean {
  const { bar, terms } = run;
  const { market, direction, leverage } = position;
  const { grid } = market;
  const named = terms.callbacks.customEntryPrice ? askEntryPrice(run, market, direction) : bar.open;
  const stake = (position.amount * position.orderPrice) / leverage;
  if (grid !== null && stake < grid.leastStake(named, leverage, true)) return false;
  const amount = entryAmount(stake, price, leverage, grid);
  if (!(amount > 0) || !isConfirmed(run, market, direction, price)) return false;
  position.orderEntry(price, amount, entryStake(stake, amount, price, leverage, grid), bar.time, terms);
  return true;
}

/** Fills the waiting entry if the candle touches its price. */
export function tryFillEntry(run: Run, position: Position): void {
  if (!run.bar.contains(position.orderPrice)) return;
  run.recordBefore();
  position.fill(roundHalfUp(position.orderPrice, position.tick), run.bar, run.terms);
}
