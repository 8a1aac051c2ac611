import { CurveRecorder } from './curve.ts';
import { enter, manageOrder, tryFillEntry } from './entries.ts';
import { checkExits, tryFillExit } from './exits.ts';
import type { Market } from './market.ts';
import { Progress } from './progress.ts';
import { Run } from './run.ts';
import { createSchedule, type Schedule } from './schedule.ts';
import { readTerms } from './terms.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from './types.ts';

/**
 * Simulates all pairs on one clock with one wallet, candle by candle, by freqtrade's rules (1.2 to 1.22). It handles every
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
  const run = new Run(terms, settings.startingBalance);
  const recorder = options.equity === false ? null : new CurveRecorder(schedule, terms.timeframeMs);
  const progress = new Progress(options.onProgress, schedule.steps);
  const active: Market[] = [];
  for (;;) {
    const next = run.positions.length > 0 ? run.step + 1 : nextSignalStep(schedule, run.step);
    if (next > schedule.steps) break;
    recorder?.idle(run.step + 1, next, run.balance);
    run.step = next;
    if (terms.detailPerCandle === 1) simulateStep(run, schedule, active);
    else simulateDetailedStep(run, schedule, active);
    recorder?.record(run);
    if (next >= progress.next) progress.report(next);
  }
  recorder?.idle(run.step + 1, schedule.steps + 1, run.balance);
  closeLeftOpen(run, schedule, recorder);
  return {
    trades: run.trades,
    curve: recorder?.curve ?? null,
    finalBalance: run.balance,
    counters: run.counters,
  };
}

/** The first step after `step` with an entry signal; beyond the last step when there is none. */
function nextSignalStep(schedule: Schedule, step: number): number {
  const signal = schedule.firstSignal[step + 1];
  return signal === undefined ? schedule.steps + 1 : (schedule.signalStep[signal] ?? schedule.steps + 1);
}

function simulateStep(run: Run, schedule: Schedule, active: Market[]): void {
  gather(run, schedule, active);
  for (const market of active) {
    const row = run.step - market.offset;
    run.bar.load(market.candles, row, row);
    simulateCandle(run, market, run.step < schedule.steps);
  }
  countRejected(run, schedule);
}

/** One main candle in detail candles, all pairs side by side (1.22). Pairs without them take the main candle, first. */
function simulateDetailedStep(run: Run, schedule: Schedule, active: Market[]): void {
  for (let detail = 0; detail < run.terms.detailPerCandle; detail++) {
    gather(run, schedule, active);
    for (const market of active) {
      const row = run.step - market.offset;
      if (detail === 0) market.findDetail(row, run.terms);
      if (market.detailIndex >= 0) run.bar.load(market.input.detail!, market.detailIndex + detail, row);
      else if (detail === 0) run.bar.load(market.candles, row, row);
      else continue;
      simulateCandle(run, market, run.step < schedule.steps);
    }
  }
  countRejected(run, schedule);
}

/**
 * Lists the pairs to simulate now (1.14): those with positions in the order they were opened, then those with an entry
 * signal in whitelist order. A pair whose position ended in this main candle stays out of the rest of it.
 */
function gather({ positions, step }: Run, schedule: Schedule, active: Market[]): void {
  const { markets, firstSignal, signalMarket } = schedule;
  active.length = 0;
  for (const { market } of positions) if (step - market.offset < market.length) active.push(market);
  const end = firstSignal[step + 1]!;
  for (let signal = firstSignal[step]!; signal < end; signal++) {
    const market = markets[signalMarket[signal]!]!;
    if (market.position === null && market.endedAt !== step) active.push(market);
  }
}

/** One pair in the present candle, and once more when its position closed and the candle's signal is for the other side (1.4). */
function simulateCandle(run: Run, market: Market, mayEnter: boolean): void {
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
  if (bar.time >= position.nextFundingTime) position.bookFunding(bar.time, run.terms);
  checkExits(run, position);
  if (position.order === 'exit' && market.position === position) tryFillExit(run, position);
}

/** Counts the signals of the present step that found no slot. */
function countRejected({ counters, step }: Run, { markets, firstSignal, signalMarket }: Schedule): void {
  const end = firstSignal[step + 1]!;
  for (let signal = firstSignal[step]!; signal < end; signal++) {
    const market = markets[signalMarket[signal]!]!;
    if (market.rejected) counters.rejectedSignals++;
    market.rejected = false;
  }
}

/** Closes what is open at the open of each pair's last candle (1.21); entries that never filled are dropped. */
function closeLeftOpen(run: Run, schedule: Schedule, recorder: CurveRecorder | null): void {
  run.step = schedule.steps;
  for (const position of run.positions.slice()) {
    const { market } = position;
    const last = market.length - 1;
    run.bar.load(market.candles, last, last);
    if (position.order === 'entry') run.remove(position);
    else run.closeAtMarket(position, run.bar.open, 'force_exit', true);
  }
  if (schedule.steps > 0) recorder?.record(run);
}
