import { indexAtOrAfter } from '../../candles.ts';
import { type Direction, slippedExit } from '../rules/prices.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { NEVER, type Slot } from '../state/slot.ts';
import { DELISTED } from '../trade-table.ts';
import { adjust } from './adjustments.ts';
import { callLoopStart } from './callbacks.ts';
import { holdConservatively } from './conservative.ts';
import { enter, manageOrder, tryFillEntry } from './entries.ts';
import { checkExits, isBankruptAtOpen, liquidateAtOpen, orderExit } from './exits.ts';
import { nextEventRow } from './next-event.ts';

/** Simulates all steps of the clock. `onStep` is called with each step that needs one, and may throw. */
export function runLoop(run: Run, onStep: (step: number) => void): void {
  if (run.settings.callbacks.loopStart) simulateEveryStep(run, onStep);
  else simulateEvents(run, onStep);
  closeLeftOpen(run);
  run.equity?.record(run.clock.steps + 1);
}

/** Begins each main candle with `loopStart`. The pairs without a possible event are skipped as in {@link simulateEvents}. */
function simulateEveryStep(run: Run, onStep: (step: number) => void): void {
  for (let step = 1; step <= run.clock.steps; step++) {
    if (step > run.nextEnd) closeDelisted(run);
    callLoopStart(run, step);
    const next = nextStep(run, null);
    run.step = step;
    if (next === step) simulatePairs(run);
    onStep(step);
  }
  closeDelisted(run);
}

/** Simulates the steps with a possible event. */
function simulateEvents(run: Run, onStep: (step: number) => void): void {
  const { settings, wallet, slots } = run;
  for (;;) {
    const only =
      wallet.positions.length === 1 && settings.detailPerCandle === 1 ? wallet.positions[0]! : null;
    const next = nextStep(run, only);
    if (only !== null && only.nextStep < next) simulateOnly(run, slots[only.market.index]!, next);
    else if (next <= run.nextEnd) {
      run.step = next;
      simulatePairs(run);
    } else if (!closeDelisted(run)) break;
    onStep(run.step);
  }
}

function simulatePairs(run: Run): void {
  if (run.settings.detailPerCandle === 1) simulateStep(run);
  else simulateDetailedStep(run);
}

/**
 * The next step at which a position other than `except`, or an entry signal of a pair without position, needs simulation;
 * without one up to `nextEnd` the step after it.
 */
function nextStep({ step, slots, nextEnd }: Run, except: Position | null): number {
  let next = nextEnd + 1;
  for (let index = 0, { length } = slots; index < length; index++) {
    const slot = slots[index]!;
    const { position } = slot;
    if (position !== null && position === except) continue;
    if (position === null && slot.nextEntryStep <= step) slot.findNextEntry(step + 1);
    const own = position === null ? slot.nextEntryStep : position.nextStep;
    if (own < next) next = own;
  }
  return next;
}

/**
 * Simulates the only pair with a position until it has none, or up to the step `until`, which concerns other pairs. Only here
 * may callbacks be called ahead of the clock: no event of another pair is in between.
 */
function simulateOnly(run: Run, slot: Slot, until: number): void {
  const { market } = slot;
  const end = Math.min(market.length, until - market.offset);
  for (;;) {
    const { position } = slot;
    if (position === null) return;
    let row = position.nextStep - market.offset;
    if (run.settings.everyCandle && position.order.kind === 'none' && row < end) {
      // The margin of the only position depends on no price, so it holds for the skipped candles too.
      if (run.valueAccount()) run.liquidateByAccount(position);
      row = nextEventRow(run, position, row, end);
    }
    if (row >= end) {
      position.nextStep = row < market.length ? row + market.offset : NEVER;
      return;
    }
    run.step = row + market.offset;
    run.candle.load(market, row);
    run.valueAccount();
    simulateCandle(run, slot);
    if (slot.position !== null) planNextStep(run, slot.position);
  }
}

function simulateStep(run: Run): void {
  run.valueAccount();
  const count = gather(run);
  for (let index = 0; index < count; index++) {
    const slot = run.active[index]!;
    run.candle.load(slot.market, run.step - slot.market.offset);
    simulateCandle(run, slot);
    if (slot.position !== null) planNextStep(run, slot.position);
  }
}

/**
 * Simulates a main candle as detail candles, all pairs concurrently (docs/simulation.md#detail-candles). Pairs without them take
 * the main candle, first.
 */
function simulateDetailedStep(run: Run): void {
  for (let detail = 0; detail < run.settings.detailPerCandle; detail++) {
    run.detail = detail;
    run.valueAccount();
    const count = gather(run);
    for (let index = 0; index < count; index++) {
      const slot = run.active[index]!;
      if (detail === 0) slot.findDetail(run.step - slot.market.offset, run.settings);
      if (slot.position !== null) slot.heldStep = run.step;
      if (loadDetail(run, slot, detail)) simulateCandle(run, slot);
    }
  }
  for (const position of run.wallet.positions) {
    if (position.nextStep > run.step) continue;
    planNextStep(run, position);
    if (position.nextStep === NEVER && position.order.kind !== 'entry') limitFunding(run, position);
  }
}

/** Loads detail candle `detail` of the present step; without detail candles, the main candle as the first. False beyond the last. */
export function loadDetail({ step, candle }: Run, slot: Slot, detail: number): boolean {
  const { market, detailIndex, detailCount } = slot;
  const row = step - market.offset;
  if (detailIndex >= 0) {
    if (detail < detailCount) candle.loadDetail(market.input.detail!, detailIndex + detail, row);
    return detail < detailCount;
  }
  if (detail === 0) candle.load(market, row);
  return detail === 0;
}

/**
 * A position that survives the last candle of its pair is closed at its open (docs/simulation.md#end-of-the-data), before the
 * funding of later detail candles.
 */
export function limitFunding({ step, settings }: Run, position: Position): void {
  const { market, lastFilledAt } = position;
  const last = market.candles.timestamp[step - market.offset]!;
  position.limitFunding(Math.max(last, lastFilledAt), settings);
}

/** Sets the step of a position's next possible event, unless it is known from the entry. */
export function planNextStep(run: Run, position: Position): void {
  if (position.nextStep <= run.step) planFrom(run, position, run.step + 1);
}

/** Sets the step of a position's next possible event from `step` on: {@link NEVER} when its pair's data has ended. */
function planFrom(run: Run, position: Position, step: number): void {
  const { market } = position;
  const row = step - market.offset;
  if (row >= market.length) position.nextStep = NEVER;
  else if (run.settings.everyCandle || position.order.kind !== 'none') position.nextStep = step;
  else {
    const next = nextEventRow(run, position, row, market.length);
    position.nextStep = next < market.length ? next + market.offset : NEVER;
  }
}

/**
 * Lists in `run.active` the slots to simulate now (docs/simulation.md#order-of-events), and returns their number. Slots with
 * positions come first, in the order of opening, then slots with an entry signal, in whitelist order.
 *
 * A pair that was visited with a position in this main candle and has none now stays out of the rest of it. A position opened
 * and closed within a detail candle was not visited (docs/simulation.md#detail-candles).
 */
function gather({ wallet: { positions }, slots, step, active }: Run): number {
  let count = 0;
  for (let index = 0, { length } = positions; index < length; index++) {
    const position = positions[index]!;
    if (position.nextStep <= step) active[count++] = slots[position.market.index]!;
  }
  for (let index = 0, { length } = slots; index < length; index++) {
    const slot = slots[index]!;
    if (slot.nextEntryStep === step && slot.position === null && slot.heldStep !== step)
      active[count++] = slot;
  }
  return count;
}

/**
 * Simulates one pair in the present candle. Simulates it again if its position was closed and the candle's signal is for the
 * other side (docs/simulation.md#one-pair-in-one-candle).
 */
function simulateCandle(run: Run, slot: Slot): void {
  const held = slot.position === null ? 0 : slot.position.direction;
  if (slot.position !== null && slot.position.order.kind !== 'none') manageOrder(run, slot.position);
  if (slot.position !== null) hold(run, slot.position);
  else tryEntry(run, slot, 0);
  if (held !== 0 && slot.position === null) tryEntry(run, slot, held);
  if (run.paths !== null && slot.position !== null) run.paths.record(slot.position, run.candle);
}

/** Enters by the candle's signal, unless that is for the side `held`, and holds the position if it may have an event at once. */
function tryEntry(run: Run, slot: Slot, held: Direction | 0): void {
  if (!run.mayEnter) return;
  const direction = slot.market.entryDirection(run.candle.row);
  if (direction === 0 || direction === held) return;
  // The pair's own trade was still open at the open at which this one enters.
  const followsInside = held !== 0 && slot.pooledPosition.endedInside;
  if (followsInside) {
    run.dependsOnFillModel = true;
    if (run.settings.conservative) return;
  }
  enter(run, slot.market, direction);
  const { position } = slot;
  if (position === null) return;
  if (followsInside) position.usesFreedLater = true;
  planFrom(run, position, run.step);
  if (position.nextStep === run.step) hold(run, position);
}

/** The steps of docs/simulation.md#one-pair-in-one-candle from the fill of an entry on. */
export function hold(run: Run, position: Position): void {
  const { candle, settings } = run;
  // One branch for what is rare: V8 inlines this function.
  if ((settings.conservative || position.order.kind !== 'none') && !beginHold(run, position)) return;
  if (candle.time >= position.nextFundingTime) {
    run.recordEquity();
    position.bookFunding(candle.time, settings);
  }
  if (liquidateAtOpen(run, position)) return;
  if (settings.callbacks.adjustPosition) {
    adjust(run, position);
    if (!position.isOpen) return;
  }
  if (settings.detailPerCandle > 1) position.seeDetail(candle);
  checkExits(run, position);
}

/** Fills a waiting entry, or takes a position of the conservative model through the candle. False if nothing is left to do in it. */
function beginHold(run: Run, position: Position): boolean {
  const { order } = position;
  // Which orders fill, and what happens before, depends on the path.
  if (order.kind !== 'none') run.dependsOnFillModel = true;
  if (run.settings.conservative) {
    holdConservatively(run, position);
    return false;
  }
  if (order.kind === 'entry' || (order.kind === 'addition' && !isBankruptAtOpen(run, position)))
    tryFillEntry(run, position);
  return order.kind !== 'entry';
}

/**
 * Closes the positions in the delisted pairs that end next, after the last candle of these: their slots and money are free in the
 * next one. False when no further pair ends.
 */
export function closeDelisted(run: Run): boolean {
  const ended = run.takeDelisted();
  if (ended.length === 0) return false;
  for (const position of [...run.wallet.positions])
    if (ended.includes(position.market)) closeInLastCandle(run, position);
  return true;
}

/** Closes positions left open, in the order in which their pairs joined the clock (docs/simulation.md#end-of-the-data). */
export function closeLeftOpen(run: Run): void {
  run.step = run.clock.steps;
  const joined = run.wallet.positions.toSorted(
    (a, b) => a.market.offset - b.market.offset || a.market.index - b.market.index,
  );
  for (const position of joined) closeInLastCandle(run, position);
  run.trades.sort();
}

/**
 * Closes a position in the last candle of its pair; an entry that never filled is dropped.
 *
 * - A position left open is closed at the open. An entry filled later than that by a detail candle is closed at the open of this one.
 * - One in a delisted pair is closed at the close, less the haircut, after all funding of the candle.
 */
function closeInLastCandle(run: Run, position: Position): void {
  const { candle, settings } = run;
  const { market, lastFilledAt, direction, order } = position;
  const { haircut } = market;
  const last = market.length - 1;
  candle.load(market, last);
  if (order.kind === 'entry') {
    run.remove(position);
    return;
  }
  order.kind = 'none';
  if (haircut === null) {
    const { detail } = market.input;
    if (detail && lastFilledAt > candle.time)
      candle.loadDetail(detail, indexAtOrAfter(detail.timestamp, lastFilledAt), last);
    orderExit(run, position, candle.open, true, 'force_exit');
  } else {
    const price = slippedExit(candle.close, haircut, direction);
    const slot = run.slots[market.index]!;
    slot.findDetail(last, settings);
    if (slot.detailIndex >= 0) loadDetail(run, slot, slot.detailCount - 1);
    const end = market.timeOf(market.length);
    if (position.nextFundingTime < end) {
      run.recordEquity();
      position.bookFunding(end - 1, settings);
    }
    orderExit(run, position, price, false, DELISTED);
  }
  run.bookExit(position, haircut === null);
}
