import type { Market } from '../state/market.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import type { Slot } from '../state/slot.ts';
import { NEVER } from '../state/slot.ts';
import { callLoopStart } from './callbacks.ts';
import { enter, manageOrder } from './entries.ts';
import { closeDelisted, closeLeftOpen, hold, limitFunding, loadDetail, planNextStep } from './loop.ts';

/**
 * Simulates all steps of the clock of a run in which a pair may have several trades (docs/simulation.md#several-trades-of-a-pair).
 * Each is simulated on its own, in the order of opening; a closed one is not followed by one of the other side in the same candle.
 */
export function runStackedLoop(run: Run, onStep: (step: number) => void): void {
  const { clock, settings } = run;
  const everyStep = settings.callbacks.loopStart !== undefined;
  for (;;) {
    const next = nextStep(run);
    const step = everyStep ? run.step + 1 : next;
    if (step > run.nextEnd) {
      if (closeDelisted(run)) continue;
      break;
    }
    if (everyStep) callLoopStart(run, step);
    run.step = step;
    if (step === next) simulateStep(run);
    onStep(step);
  }
  closeLeftOpen(run);
  run.equity?.record(clock.steps + 1);
}

function simulateStep(run: Run): void {
  for (let detail = 0; detail < run.settings.detailPerCandle; detail++) {
    run.detail = detail;
    run.valueAccount();
    for (const slot of visited(run)) simulateDetail(run, slot, detail);
  }
  for (const position of run.wallet.positions) plan(run, position);
}

function plan(run: Run, position: Position): void {
  if (position.nextStep > run.step) return;
  planNextStep(run, position);
  const isLast = position.nextStep === NEVER && position.order.kind !== 'entry';
  if (isLast && run.settings.detailPerCandle > 1) limitFunding(run, position);
}

/** The next step at which a position or an entry signal needs simulation; without one up to `nextEnd` the step after it. */
function nextStep({ step, slots, nextEnd, wallet }: Run): number {
  let next = nextEnd + 1;
  for (const slot of slots) {
    if (slot.nextEntryStep <= step) slot.findNextEntry(step + 1);
    next = Math.min(next, slot.nextEntryStep);
  }
  for (const position of wallet.positions) next = Math.min(next, position.nextStep);
  return next;
}

/** The pairs to simulate now: those with trades in the order of opening, then those with an entry signal in whitelist order. */
function visited({ wallet, slots, step }: Run): Set<Slot> {
  const due = new Set<Slot>();
  for (const { market, nextStep: own } of wallet.positions) if (own <= step) due.add(slots[market.index]!);
  const active = new Set<Slot>();
  // The place of a pair is that of its first trade, also when only a later one is due: slots and money depend on the order.
  for (const { market } of wallet.positions) {
    const slot = slots[market.index]!;
    if (due.has(slot) || slot.nextEntryStep === step) active.add(slot);
  }
  // A pair that was seen with a trade and has none now stays out of the rest of the candle (docs/simulation.md#detail-candles).
  for (const slot of slots) if (slot.nextEntryStep === step && slot.heldStep !== step) active.add(slot);
  return active;
}

function simulateDetail(run: Run, slot: Slot, detail: number): void {
  if (detail === 0) slot.findDetail(run.step - slot.market.offset, run.settings);
  if (slot.position !== null) slot.heldStep = run.step;
  if (loadDetail(run, slot, detail)) simulateCandle(run, slot.market);
}

/** The steps of docs/simulation.md#one-pair-in-one-candle: manage the waiting orders, enter, then each trade on its own. */
function simulateCandle(run: Run, market: Market): void {
  for (const position of tradesOf(run, market))
    if (position.order.kind !== 'none') manageOrder(run, position);
  if (run.mayEnter) {
    const direction = market.entryDirection(run.candle.row);
    if (direction !== 0) enter(run, market, direction);
  }
  // The ROI steps that come due before a trade's next event are applied already.
  for (const position of tradesOf(run, market)) if (position.nextStep <= run.step) hold(run, position);
  if (run.paths !== null)
    for (const position of tradesOf(run, market)) run.paths.record(position, run.candle);
}

function tradesOf({ wallet }: Run, market: Market): Position[] {
  return wallet.positions.filter((position) => position.market === market);
}
