import { DAY_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { SERVES_CANDLES_WITHOUT_TRADES } from '#contract/values/market-data-limits.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { Gap, SeriesInfo } from '../../ports.ts';
import { MIN_CLOSED_MINUTES, type MissingCandles, SessionClock, type Sessions } from './sessions.ts';

/** What decides why candles of a series are missing. */
export interface GapRules {
  /** Length of a candle, ms. */
  readonly step: number;
  /** Closed times of the market; undefined when it has none. */
  readonly sessions: Sessions | undefined;
  /** There are no candles for times without trades. */
  readonly omitsNoTrades: boolean;
}

export interface ExplainedGaps extends MissingCandles {
  /** The gaps that are damage, by time. */
  readonly damaged: readonly Gap[];
  /** Those without trades. */
  readonly quiet: readonly Gap[];
}

/** Rules of a series. Its sessions are those of its calendar, else those found in its candles. */
export function gapRulesOf(
  series: Pick<SeriesInfo, 'exchange' | 'timeframe' | 'imported' | 'calendar' | 'sessions'>,
): GapRules {
  const { exchange, timeframe, imported, calendar, sessions } = series;
  const step = TIMEFRAME_MS[timeframe];
  const servesAll = SERVES_CANDLES_WITHOUT_TRADES.includes(exchange);
  return {
    step,
    sessions: servesAll && !calendar ? undefined : sessions,
    omitsNoTrades: imported === true && !servesAll && step < DAY_MS,
  };
}

/**
 * Why the candles of some gaps are missing. In a series with closed times a gap that also contains one session, the end of one, or both in
 * a row is a holiday or a short day; some minutes of a session are without trades; any other candle missing in one is damage. In a
 * series without them all are candles without trades, or damage.
 */
export function explainGaps(gaps: readonly Gap[], rules: GapRules): ExplainedGaps {
  const { step, sessions, omitsNoTrades } = rules;
  const clock = sessions && step <= DAY_MS ? new SessionClock(sessions, step) : undefined;
  const open = clock ? gaps.flatMap((gap) => lostRuns(gap, clock, rules)) : gaps;
  const isQuiet = ([, count]: Gap) => omitsNoTrades && (!clock || isShort(count, step));
  const [damaged, quiet] = [open.filter((gap) => !isQuiet(gap)), open.filter(isQuiet)];
  const [damage, no_trades] = [candlesOf(damaged), candlesOf(quiet)];
  return { closed: candlesOf(gaps) - damage - no_trades, no_trades, damage, damaged, quiet };
}

/** True if gaps that no month lists are times without trades. @param longest candles of the longest of them */
export function areUnlistedQuiet({ step, sessions, omitsNoTrades }: GapRules, longest: number): boolean {
  return omitsNoTrades && (!sessions || isShort(longest, step));
}

/** True for a time within a session that is shorter than any closed time. */
const isShort = (count: number, step: number) => count * step < MIN_CLOSED_MINUTES * MINUTE_MS;

const candlesOf = (gaps: readonly Gap[]) => gaps.reduce((sum, [, count]) => sum + count, 0);

/** Candles of a gap that are in open times: all of a market that never closes. */
export function openCandles([start, count]: Gap, { step, sessions }: GapRules): number {
  if (!sessions || step > DAY_MS) return count;
  return openRuns([start, count], new SessionClock(sessions, step), step).open.reduce(
    (sum, [, candles]) => sum + candles,
    0,
  );
}

/** Candles that are missing between the first and the last one of a series. */
export function missingIn({ timeframe, first, last, count, missing }: SeriesInfo): MissingCandles {
  if (missing) return missing;
  const step = TIMEFRAME_MS[timeframe];
  const slots = (floorToGrid(Date.parse(last), step) - floorToGrid(Date.parse(first), step)) / step + 1;
  return { closed: 0, no_trades: 0, damage: slots - count };
}

/** Gaps between ascending times. @param step length of a candle, ms */
export function gapsBetween(times: Float64Array, step: number): Gap[] {
  const gaps: Gap[] = [];
  for (let row = 1; row < times.length; row++) {
    // Most candles follow each other: two divisions a row would double the time.
    if (times[row]! - times[row - 1]! === step) continue;
    const expected = floorToGrid(times[row - 1]!, step) + step;
    const missing = (floorToGrid(times[row]!, step) - expected) / step;
    if (missing > 0) gaps.push([expected, missing]);
  }
  return gaps;
}

/** The runs of candles of a gap that a session lacks; none in a holiday or short day. */
function lostRuns(gap: Gap, clock: SessionClock, { step, omitsNoTrades }: GapRules): readonly Gap[] {
  const { open, sessions } = openRuns(gap, clock, step);
  if (isHoliday(sessions, gap, clock, step)) return [];
  const [start, count] = gap;
  const last = open.at(-1)!;
  const isLate = last[0] + last[1] * step === start + count * step && isShort(last[1], step);
  if (!omitsNoTrades || !isLate || open.length === 1) return open;
  // The first minutes after a holiday are without trades.
  const before: Gap = [start, (last[0] - start) / step];
  return isHoliday(sessions.slice(0, -1), before, clock, step) ? [last] : open;
}

/** The runs of candles of a gap that are in open times, and their sessions. */
function openRuns([start, count]: Gap, clock: SessionClock, step: number) {
  const open: [number, number][] = [];
  const sessions = new Set<number>();
  for (let i = 0; i < count; i++) {
    const time = start + i * step;
    const session = clock.sessionOf(time);
    if (session === undefined) {
      i += clock.closedFrom(time + step);
      continue;
    }
    sessions.add(session);
    const last = open.at(-1);
    if (last && last[0] + last[1] * step === time) last[1]++;
    else open.push([time, 1]);
  }
  return { open, sessions: [...sessions] };
}

/** True for the end of a session, a whole one, or both in a row. */
function isHoliday(
  sessions: readonly number[],
  [start, count]: Gap,
  clock: SessionClock,
  step: number,
): boolean {
  const end = start + count * step;
  // A gap that ends within a session has lost its beginning.
  if (sessions.length === 0) return true;
  if (clock.sessionOf(end) === sessions.at(-1)) return false;
  const isWhole = clock.sessionOf(start - step) !== sessions[0];
  return sessions.length <= (isWhole ? 1 : 2);
}
