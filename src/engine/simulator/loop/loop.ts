import { indexAtOrAfter } from '../../candles.ts';
import { Progress } from '../progress.ts';
import { roundHalfUp } from '../rules/decimals.ts';
import { keepShapes, NO_INPUT } from '../shapes.ts';
import { CurveRecorder } from '../state/curve-recorder.ts';
import { type Market, NEVER } from '../state/market.ts';
import type { Position } from '../state/position.ts';
import { Run } from '../state/run.ts';
import { createSchedule, type Schedule } from '../state/schedule.ts';
import { readTerms, type Terms } from '../terms.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from '../types.ts';
import { simulateCandle } from './candle.ts';
import { quietUntil } from './next-event.ts';

/**
 * Simulates all pairs on one clock with one wallet, candle by candle, by the rules of freqtrade 2026.9. It handles every
 * setting and callback. Stretches without an open position are skipped to the next entry signal.
 *
 * @param pairs in whitelist order: where slots or money are scarce, earlier pairs win.
 * @throws RangeError on candles with holes and on settings that contradict each other.
 * @throws SimulationStopped when `options.onProgress` returned false.
 */
export function simulateLoop(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  options: SimulateOptions = {},
): Simulation {
  const terms = readTerms(settings);
  const schedule = createSchedule(pairs, terms);
  const run = new Run(terms, schedule.markets, settings.startingBalance);
  if (options.equity !== false) run.recorder = new CurveRecorder(schedule, run);
  const progress = new Progress(options.onProgress, schedule.steps);
  for (;;) {
    const only = run.positions.length === 1 && terms.detailPerCandle === 1 ? run.positions[0]! : null;
    const next = nextStep(run, schedule, only);
    if (only !== null && only.nextStep < next) simulateAlone(run, schedule, only.market, next);
    else if (next > schedule.steps) break;
    else {
      run.step = next;
      if (terms.detailPerCandle === 1) simulateStep(run, schedule);
      else simulateDetailedStep(run, schedule);
    }
    if (run.step >= progress.next) progress.report(run.step);
  }
  closeLeftOpen(run, schedule);
  run.recorder?.record(run, schedule.steps + 1);
  keepShapes('loop', emptyRun(terms));
  return {
    outcomes: run.book,
    get table() {
      return run.book.table;
    },
    get trades() {
      return run.book.trades;
    },
    curve: run.recorder?.curve ?? null,
    finalBalance: run.balance,
    counters: run.counters,
  };
}

/** A run of nothing, with its curve. */
function emptyRun(terms: Terms): Run {
  const schedule = createSchedule([NO_INPUT], terms);
  const run = new Run(terms, schedule.markets, 0);
  run.recorder = new CurveRecorder(schedule, run);
  return run;
}

/**
 * The next step at which a position other than `except`, or an entry signal of a pair without position, needs simulation;
 * beyond the last when none does.
 */
function nextStep({ step }: Run, { markets, steps }: Schedule, except: Position | null): number {
  let next = steps + 1;
  for (const market of markets) {
    if (market.position !== null && market.position === except) continue;
    if (market.position === null && market.signalStep <= step) market.seekSignal(step + 1);
    const own = market.position === null ? market.signalStep : market.position.nextStep;
    if (own < next) next = own;
  }
  return next;
}

/**
 * Simulates the one pair that has a position until it has none, or up to the step `until`, which concerns others. Only here
 * may callbacks be asked ahead of the clock: nothing of another pair lies between.
 */
function simulateAlone(run: Run, schedule: Schedule, market: Market, until: number): void {
  const end = Math.min(market.length, until - market.offset);
  for (;;) {
    const { position } = market;
    if (position === null) return;
    let row = position.nextStep - market.offset;
    if (run.terms.everyCandle && position.order === 'none' && row < end)
      row = quietUntil(run, position, row, end);
    if (row >= end) {
      position.nextStep = row < market.length ? row + market.offset : NEVER;
      return;
    }
    run.step = row + market.offset;
    run.bar.load(market.candles, row);
    simulateCandle(run, market, run.step < schedule.steps);
    if (market.position !== null) plan(run, market.position);
  }
}

function simulateStep(run: Run, schedule: Schedule): void {
  const count = gather(run, schedule);
  for (let index = 0; index < count; index++) {
    const market = run.active[index]!;
    const row = run.step - market.offset;
    run.bar.load(market.candles, row);
    simulateCandle(run, market, run.step < schedule.steps);
    if (market.position !== null) plan(run, market.position);
  }
}

/** One main candle in detail candles, all pairs side by side (1.22). Pairs without them take the main candle, first. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: hot loop over pairs and detail candles
function simulateDetailedStep(run: Run, schedule: Schedule): void {
  for (let detail = 0; detail < run.terms.detailPerCandle; detail++) {
    const count = gather(run, schedule);
    for (let index = 0; index < count; index++) {
      const market = run.active[index]!;
      const row = run.step - market.offset;
      if (detail === 0) market.findDetail(row, run.terms);
      if (market.position !== null) market.seenAt = run.step;
      if (market.detailIndex < 0) {
        if (detail > 0) continue;
        run.bar.load(market.candles, row);
      } else {
        if (detail >= market.detailCount) continue;
        run.bar.loadDetail(market.input.detail!, market.detailIndex + detail, row);
      }
      simulateCandle(run, market, run.step < schedule.steps);
    }
  }
  for (const position of run.positions) {
    if (position.nextStep > run.step) continue;
    plan(run, position);
    if (position.nextStep === NEVER && position.order !== 'entry') limitFunding(run, position);
  }
}

/** What survives the last candle of its pair will be closed at its open (1.21), before the funding of later detail candles. */
function limitFunding({ step, terms }: Run, position: Position): void {
  const { market, filledAt } = position;
  const last = market.candles.timestamp[step - market.offset]!;
  position.limitFunding(Math.max(last, filledAt), terms);
}

/** Sets the step at which a position needs simulation next: never again when its pair's data has ended. */
function plan(run: Run, position: Position): void {
  const { step, terms } = run;
  const { market } = position;
  const row = step + 1 - market.offset;
  if (row >= market.length) position.nextStep = NEVER;
  else if (terms.everyCandle || position.order !== 'none') position.nextStep = step + 1;
  else {
    const next = quietUntil(run, position, row, market.length);
    position.nextStep = next < market.length ? next + market.offset : NEVER;
  }
}

/**
 * Lists in `run.active` the pairs to simulate now (1.14), and returns their number: those with positions in the order they
 * were opened, then those with an entry signal in whitelist order. A pair that was come to with a position in this main candle and
 * has none now stays out of the rest of it; one that was opened and closed within a detail candle was not (2.4).
 */
function gather({ positions, step, active }: Run, { markets }: Schedule): number {
  let count = 0;
  for (const position of positions) if (position.nextStep <= step) active[count++] = position.market;
  for (const market of markets)
    if (market.signalStep === step && market.position === null && market.seenAt !== step)
      active[count++] = market;
  return count;
}

/**
 * Closes what is open at the open of each pair's last candle, pair by pair in the order in which they joined (1.21); entries that
 * never filled are dropped. An entry that a detail candle filled later than that is closed at the open of this detail candle.
 */
function closeLeftOpen(run: Run, schedule: Schedule): void {
  run.step = schedule.steps;
  const joined = run.positions.toSorted(
    (a, b) => a.market.offset - b.market.offset || a.market.index - b.market.index,
  );
  for (const position of joined) {
    const { market, filledAt } = position;
    const { detail } = market.input;
    const last = market.length - 1;
    run.bar.load(market.candles, last);
    if (position.order === 'entry') {
      run.remove(position);
      continue;
    }
    if (detail && filledAt > run.bar.time)
      run.bar.loadDetail(detail, indexAtOrAfter(detail.timestamp, filledAt), last);
    run.close(position, roundHalfUp(run.bar.open, position.tick), true, 'force_exit', true);
  }
  run.book.sort();
}
