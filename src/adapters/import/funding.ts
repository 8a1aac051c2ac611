import { MINUTE_MS } from '#contract/values/durations.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { inOrder, rejectWrongRows, takeTimes, timeProblem } from './checks.ts';
import { BadFileError, type FileRows } from './file-rows.ts';

/** Exchanges record funding events some milliseconds late, so times are rounded down to the minute. */

export interface CheckedFunding {
  /** At least one; ascending, each time once. */
  readonly events: FundingEvents;
  /** Corrections and omissions, one sentence each, for the user. */
  readonly notes: readonly string[];
}

/**
 * Funding events from rates and the mark prices of the same minutes. Only times in both files count, as in freqtrade.
 * @param rates `timestamp, rate, ...`; the last row of a minute counts
 * @throws BadFileError for an invalid row, or when no time is in both files
 */
export function joinFunding(rates: FileRows, marks: Candles, now: number): CheckedFunding {
  const [stamps, values] = rates.columns;
  const taken = takeTimes(stamps!, now);
  rejectWrongRows(rates, (row) => timeProblem(stamps![row]!, taken.rules) ?? rateProblem(values![row]!));
  const { columns, sorted } = inOrder([stamps!, values!]);
  const times = columns[0]!.map((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const markPrices = times.map((time) => markAt(marks, time));
  const events = eventsOf(times, columns[1]!, markPrices);
  if (events.timestamp.length === 0) throw new BadFileError('no event has a mark price of the same minute');
  const left = markPrices.filter(Number.isNaN).length;
  const notes = left > 0 ? [`events without a mark price: ${formatInteger(left)}, left out`] : [];
  return { events, notes: [...taken.notes, ...notes, ...orderNotes(sorted)] };
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
