import { HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { inOrder, rejectWrongRows, takeTimes, timeProblem } from './checks.ts';
import type { FileRows } from './file-rows.ts';

/** Exchanges record funding events some milliseconds late, so times are rounded down to the minute. */

export interface CheckedFunding {
  /** At least one; ascending, each time once. */
  readonly events: FundingEvents;
  /** Corrections and omissions, one sentence each, for the user. */
  readonly notes: readonly string[];
}

/** Prices for rates without a mark price of the same minute, by hour since the epoch. */
export type HourPrices = (hours: readonly number[]) => Promise<ReadonlyMap<number, number>>;

/**
 * Funding events from rates and the mark prices of the same minutes, as in freqtrade. Fallback for a missing price, as when funding is
 * collected: the open of that hour's mark price candle, or of its trade candle. Events without any price are left out.
 * @param rates `timestamp, rate, ...`; the last row of a minute counts
 * @returns undefined when no event has a price
 * @throws BadFileError for an invalid row
 */
export async function joinFunding(
  rates: FileRows,
  marks: Candles,
  now: number,
  tradePrices: HourPrices,
): Promise<CheckedFunding | undefined> {
  const [stamps, values] = rates.columns;
  const taken = takeTimes(stamps!, now);
  rejectWrongRows(rates, (row) => timeProblem(stamps![row]!, taken.rules) ?? rateProblem(values![row]!));
  const { columns, sorted } = inOrder([stamps!, values!]);
  const times = columns[0]!.map((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const prices = times.map((time) => {
    const ofMinute = markAt(marks, time);
    return Number.isNaN(ofMinute) ? markAt(marks, Math.floor(time / HOUR_MS) * HOUR_MS) : ofMinute;
  });
  const traded = await fillPrices(prices, times, tradePrices);
  const events = eventsOf(times, columns[1]!, prices);
  if (events.timestamp.length === 0) return undefined;
  const left = prices.filter(Number.isNaN).length;
  const notes = [
    ...(traded > 0
      ? [
          `events without a mark price: ${formatInteger(traded)}, at the open of the stored candle of the hour`,
        ]
      : []),
    ...(left > 0 ? [`events without a mark price: ${formatInteger(left)}, left out`] : []),
  ];
  return { events, notes: [...taken.notes, ...notes, ...orderNotes(sorted)] };
}

/** Replaces missing prices where there is one. Returns their number. */
async function fillPrices(
  prices: Float64Array,
  times: Float64Array,
  tradePrices: HourPrices,
): Promise<number> {
  const missing = [...prices.keys()].filter((row) => Number.isNaN(prices[row]));
  if (missing.length === 0) return 0;
  const hourOf = (row: number) => Math.floor(times[row]! / HOUR_MS);
  const found = await tradePrices(missing.map(hourOf));
  const filled = missing.filter((row) => found.has(hourOf(row)));
  for (const row of filled) prices[row] = found.get(hourOf(row))!;
  return filled.length;
}

/**
 * Funding events as Touchstone stores them.
 * @param rows `timestamp, rate, mark_price`; the last row of a time counts
 * @throws BadFileError for an invalid row
 */
export function checkEvents(rows: FileRows, now: number): CheckedFunding {
  const [stamps, rates, marks] = rows.columns;
  const taken = takeTimes(stamps!, now);
  rejectWrongRows(
    rows,
    (row) =>
      timeProblem(stamps![row]!, taken.rules) ??
      rateProblem(rates![row]!) ??
      (marks![row]! > 0 && marks![row]! < Infinity ? undefined : `mark price ${marks![row]} is not above 0`),
  );
  const { columns, sorted } = inOrder(rows.columns);
  return {
    events: eventsOf(columns[0]!, columns[1]!, columns[2]!),
    notes: [...taken.notes, ...orderNotes(sorted)],
  };
}

function rateProblem(rate: number): string | undefined {
  return Math.abs(rate) < 1 ? undefined : `funding rate ${rate} is not a ratio`;
}

const orderNotes = (sorted: boolean) => (sorted ? ['rows were not in time order: sorted'] : []);

/** NaN when no mark candle opens in the minute. */
function markAt(marks: Candles, minute: number): number {
  const row = indexAtOrAfter(marks.timestamp, minute);
  return marks.timestamp[row]! < minute + MINUTE_MS ? marks.open[row]! : Number.NaN;
}

/** The last event of each time that has a mark price. */
function eventsOf(times: Float64Array, rates: Float64Array, marks: Float64Array): FundingEvents {
  const kept: number[] = [];
  for (const [row, time] of times.entries()) {
    if (Number.isNaN(marks[row])) continue;
    if (kept.length > 0 && times[kept.at(-1)!] === time) kept.pop();
    kept.push(row);
  }
  const pick = (column: Float64Array) => Float64Array.from(kept, (row) => column[row]!);
  return { timestamp: pick(times), rate: pick(rates), markPrice: pick(marks) };
}
