import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { floorToGrid } from '#engine/timeframe.ts';
import type { Gap } from '../../ports.ts';
import { MIN_CLOSED_MINUTES, minuteOfWeek, type Sessions, WEEK_MINUTES, WEEK_MS } from './sessions.ts';
import { clockTime, MARKET_CLOCKS, type MarketClock } from './summer-time.ts';

/** Times of a series that its pattern is found in. */
interface SeriesGaps {
  /** Open times of the first and of the last candle, ms. */
  readonly first: number;
  readonly last: number;
  /** All gaps, or the longest. */
  readonly gaps: readonly Gap[];
}

/** Weeks that a pattern is found in. */
const MIN_WEEKS = 3;
/** Of the candles in closed times at least this share is missing, and of the others less by {@link MIN_CONTRAST}. */
const MIN_CLOSED_SHARE = 0.85;
const MIN_CONTRAST = 0.65;
/** Another clock than UTC explains the gaps better by at least this. */
const MIN_GAIN = 0.002;

/**
 * Times of the week at which a market is closed: those at which most weeks of a series have no candles. Undefined when there are none,
 * the series is shorter than three weeks, or its candles longer than a day. Candles that are missing at random times make no pattern.
 *
 * @param step length of a candle, ms
 */
export function findSessions(series: SeriesGaps, step: number): Sessions | undefined {
  const length = series.last + step - series.first;
  if (step > DAY_MS || length < MIN_WEEKS * WEEK_MS || series.gaps.length === 0) return undefined;
  // Longer candles do not move with summer time.
  const clocks = step <= HOUR_MS ? MARKET_CLOCKS : (['utc'] as const);
  let best: Pattern | undefined;
  for (const clock of clocks) {
    const pattern = patternBy(series, step, clock);
    if (pattern && (!best || pattern.contrast > best.contrast + MIN_GAIN)) best = pattern;
  }
  return best?.sessions;
}

interface Pattern {
  readonly sessions: Sessions;
  /** Share of missing candles in closed times less the share in open ones. */
  readonly contrast: number;
}

function patternBy({ first, last, gaps }: SeriesGaps, step: number, clock: MarketClock): Pattern | undefined {
  const slots = WEEK_MS / step;
  const all = new WeekCount(slots, step, clock);
  all.add(floorToGrid(first, step), floorToGrid(last, step) + step);
  const absent = new WeekCount(slots, step, clock);
  for (const [start, count] of gaps) absent.add(start, start + count * step);
  const [present, missing] = [all.counts(), absent.counts()];
  const isClosed = withoutShort(
    Uint8Array.from(missing, (count, slot) => Number(2 * count > present[slot]!)),
    Math.ceil((MIN_CLOSED_MINUTES * MINUTE_MS) / step),
  );
  const closedShare = shareOf(missing, present, isClosed, 1);
  const openShare = shareOf(missing, present, isClosed, 0);
  const contrast = closedShare - openShare;
  // NaN when all times are open, or all are closed.
  if (!(closedShare >= MIN_CLOSED_SHARE && contrast >= MIN_CONTRAST)) return undefined;
  return { sessions: { clock, closed: runsOf(isClosed, WEEK_MINUTES / slots) }, contrast };
}

/** How often intervals contain each slot of the week. */
class WeekCount {
  readonly #changes: Int32Array;
  readonly #step: number;
  readonly #clock: MarketClock;
  #weeks = 0;

  constructor(slots: number, step: number, clock: MarketClock) {
    this.#changes = new Int32Array(slots + 1);
    this.#step = step;
    this.#clock = clock;
  }

  /** Adds `[start, end)`, ms. */
  add(start: number, end: number): void {
    const [from, to] = [clockTime(start, this.#clock), clockTime(end, this.#clock)];
    this.#weeks += Math.floor((to - from) / WEEK_MS);
    const [a, b] = [this.#slotOf(from), this.#slotOf(to)];
    this.#changes[a]!++;
    this.#changes[b]!--;
    if (b >= a) return;
    this.#changes[0]!++;
  }

  counts(): Int32Array {
    const counts = new Int32Array(this.#changes.length - 1);
    let count = this.#weeks;
    for (const slot of counts.keys()) {
      count += this.#changes[slot]!;
      counts[slot] = count;
    }
    return counts;
  }

  #slotOf(time: number): number {
    return Math.floor((minuteOfWeek(time) * MINUTE_MS) / this.#step);
  }
}

/** Share of the missing slots among those that are closed (1) or open (0). */
function shareOf(missing: Int32Array, present: Int32Array, isClosed: Uint8Array, which: 0 | 1): number {
  let absent = 0;
  let all = 0;
  for (const [slot, count] of present.entries()) {
    if (isClosed[slot] !== which) continue;
    absent += missing[slot]!;
    all += count;
  }
  return absent / all;
}

/** Runs of ones that are shorter than `min`, around the end of the week too, become zeros. */
function withoutShort(flags: Uint8Array, min: number): Uint8Array {
  const { length } = flags;
  const start = flags.indexOf(0);
  if (start < 0) return flags;
  for (let i = 0, run = 0; i <= length; i++) {
    if (i < length && flags[(start + i) % length]) {
      run++;
      continue;
    }
    for (let back = 1; run < min && back <= run; back++) flags[(start + i - back) % length] = 0;
    run = 0;
  }
  return flags;
}

/** `[first minute, minutes]` of the runs of ones. */
function runsOf(flags: Uint8Array, minutes: number): [number, number][] {
  const runs: [number, number][] = [];
  for (const [slot, flag] of flags.entries()) {
    if (!flag) continue;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === slot * minutes) last[1] += minutes;
    else runs.push([slot * minutes, minutes]);
  }
  return runs;
}
