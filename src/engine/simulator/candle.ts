import { enter, manageOrder, tryFillEntry } from './entries.ts';
import { checkExits, tryFillExit } from './exits.ts';
import type { Market } from './market.ts';
import type { Run } from './run.ts';

/** One pair in the present candle, and once more when its position closed and the candle's signal is for the other side (1.4). */
export function simulateCandle(run: Run, market: Market, mayEnter: boolean): void {
  const held = market.position;
  advance(run, market, mayEnter);
  if (held === null || market.position !== null || held.order === 'entry') return;
  if (market.entryDirection(run.bar.row) === -held.direction) advance(run, market, mayEnter);
}

/** The steps of rule 1.4 in their order: manage the waiting order, enter, fill the entry, funding and exits, fill the exit. */
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
  if (position.order === 'exit' && market.position === position) tryFillExit(run, position);
}
