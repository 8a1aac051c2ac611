import { ceilToGrid, floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Gap, SeriesInfo, SeriesMonth, SeriesStore } from '../../ports.ts';
import type { TimeInterval } from '../missing-ranges.ts';
import {
  areUnlistedQuiet,
  explainGaps,
  type GapRules,
  gapRulesOf,
  missingIn,
  openCandles,
} from './explain-gaps.ts';
import type { MissingCandles } from './sessions.ts';

interface ReadDeps {
  readonly series: Pick<SeriesStore, 'months'>;
  readonly candles: Pick<CandleStore, 'read'>;
}

/**
 * Candles of a series that are missing in an interval. Those before its first and after its last candle are damage, unless the market was
 * closed, or the exchange is known not to have them. Reads the months of a series with gaps, and the candles of a month with many.
 *
 * @param interval on the grid
 */
export async function missingInRange(
  deps: ReadDeps,
  info: SeriesInfo,
  interval: TimeInterval,
): Promise<MissingCandles> {
  const rules = gapRulesOf(info);
  const { step } = rules;
  const first = floorToGrid(Date.parse(info.first), step);
  const end = floorToGrid(Date.parse(info.last), step) + step;
  const begins = info.complete_from === undefined ? first : Math.min(first, Date.parse(info.complete_from));
  const edges = [
    ...(begins > interval.start ? [{ start: interval.start, end: Math.min(first, interval.end) }] : []),
    { start: Math.max(end, interval.start), end: interval.end },
  ].filter((edge) => edge.start < edge.end);
  const within = { start: Math.max(first, interval.start), end: Math.min(end, interval.end) };
  const parts = edges.map((edge) => atEdge(edge, rules));
  if (info.gap_count > 0 && within.start < within.end) {
    const isWhole = within.start === first && within.end === end;
    parts.push(isWhole ? missingIn(info) : await missingWithin(deps, info, within, rules));
  }
  return parts.reduce(add, { closed: 0, no_trades: 0, damage: 0 });
}

const add = (a: MissingCandles, b: MissingCandles): MissingCandles => ({
  closed: a.closed + b.closed,
  no_trades: a.no_trades + b.no_trades,
  damage: a.damage + b.damage,
});

function atEdge({ start, end }: TimeInterval, rules: GapRules): MissingCandles {
  const count = (end - start) / rules.step;
  const damage = openCandles([start, count], rules);
  return { closed: count - damage, no_trades: 0, damage };
}

async function missingWithin(
  deps: ReadDeps,
  info: SeriesInfo,
  range: TimeInterval,
  rules: GapRules,
): Promise<MissingCandles> {
  const months = await deps.series.months(info);
  const explained = explainMonths(months, rules);
  return missingOf(explained, range, await unlistedIn(deps, info, months, range), rules);
}

/** The gaps that the months of a series list, those of them that are damage or without trades, and what the others are. */
export function explainMonths(months: readonly SeriesMonth[], rules: GapRules) {
  const gaps = months.flatMap((month, index) => [
    ...between(months[index - 1], month, rules.step),
    ...month.gaps,
  ]);
  const { damaged, quiet } = explainGaps(gaps, rules);
  const longest = Math.max(0, ...months.map((month) => month.longest_omitted_gap));
  return { gaps, damaged, quiet, unlistedAreQuiet: areUnlistedQuiet(rules, longest) };
}

/** @param unlisted missing candles of the range in gaps that no month lists */
function missingOf(
  { gaps, damaged, quiet, unlistedAreQuiet }: ReturnType<typeof explainMonths>,
  range: TimeInterval,
  unlisted: number,
  rules: GapRules,
): MissingCandles {
  const listed = candlesIn(gaps, range, rules.step);
  const lost = candlesIn(damaged, range, rules.step);
  const untraded = candlesIn(quiet, range, rules.step);
  return {
    closed: listed - lost - untraded,
    no_trades: untraded + (unlistedAreQuiet ? unlisted : 0),
    damage: lost + (unlistedAreQuiet ? 0 : unlisted),
  };
}

/** Candles of a part of a series that are missing, where the number of stored ones is known. */
export function missingOfPart(
  explained: ReturnType<typeof explainMonths>,
  part: TimeInterval,
  stored: number,
  rules: GapRules,
): MissingCandles {
  const listed = candlesIn(explained.gaps, part, rules.step);
  const all = Math.max(0, (part.end - part.start) / rules.step);
  return missingOf(explained, part, Math.max(0, all - stored - listed), rules);
}

/** The gap between two months. */
function between(before: SeriesMonth | undefined, month: SeriesMonth, step: number): Gap[] {
  if (!before) return [];
  const start = floorToGrid(before.last, step) + step;
  const count = (floorToGrid(month.first, step) - start) / step;
  return count > 0 ? [[start, count]] : [];
}

/** Candles of the gaps that open in a range. */
function candlesIn(gaps: readonly Gap[], { start, end }: TimeInterval, step: number): number {
  return gaps.reduce((sum, [from, count]) => {
    const length = Math.min(from + count * step, end) - Math.max(from, start);
    return sum + Math.max(0, length / step);
  }, 0);
}

/** Missing candles of a range in gaps that the months do not list. A month that is in the range as a whole needs no read. */
async function unlistedIn(
  { candles }: ReadDeps,
  info: SeriesInfo,
  months: readonly SeriesMonth[],
  range: TimeInterval,
): Promise<number> {
  const step = TIMEFRAME_MS[info.timeframe];
  let unlisted = 0;
  for (const month of months) {
    if (month.longest_omitted_gap === 0) continue;
    const [first, end] = [floorToGrid(month.first, step), floorToGrid(month.last, step) + step];
    const part = { start: Math.max(first, range.start), end: Math.min(end, range.end) };
    if (part.start >= part.end) continue;
    const isWhole = part.start === first && part.end === end;
    const stored = isWhole
      ? month.count
      : (await candles.read(info, part.start, ceilToGrid(part.end, step), () => {})).timestamp.length;
    unlisted += (part.end - part.start) / step - stored - candlesIn(month.gaps, part, step);
  }
  return unlisted;
}
