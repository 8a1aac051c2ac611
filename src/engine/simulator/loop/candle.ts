import type { Market } from '../state/market.ts';
import type { Run } from '../state/run.ts';
import { enter, manageOrder, tryFillEntry } from './entries.ts';
import { checkExits } from './exits.ts';

/**
 * One pair in the present candle, and once more when it came with a position, has none now, and the candle's signal is for the
 * other side (reference 1.2).
 */
export function simulateCandle(run: Run, market: Market, mayEnter: boolean): void {
  const held = market.position === null ? 0 : market.position.direction;
  advance(run, market, mayEnter);
  if (held === 0 || market.position !== null) return;
  if (market.entryDirection(run.bar.row) === -held) advance(run, market, mayEnter);
}

/** The steps of reference 1.2 in their order: manage the waiting order, enter, fill the entry, funding, exits. */
function advance(run: Run, market: Market, mayEnter: boolean): void {
  const { bar } = run;
  if (market.position !== null && market.position.order !== 'none') manageOrder(run, market.position);
  if (market.position === null) {
    const direction = mayEnter ? market.entryDirection(bar.row) : 0;
    if (direction !== 0) enter(run, market, direction);
  }
  const { position } = market;
  if (position === null) return;
  if (position.order === 'entry') tryFillEntry(run, position);
  if (position.order === 'entry') return;
  if (bar.time >= position.nextFundingTime) {
    run.recordBefore();
    position.bookFunding(bar.time, run.terms);
  }
  if (run.terms.detailPerCandle > 1) position.seeDetail(bar);
  checkExits(run, position);
}
