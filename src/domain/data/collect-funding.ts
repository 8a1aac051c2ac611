import type { FundingEvents } from '#engine/simulator/types.ts';
import type { CandleStore, Clock } from '../ports.ts';
import type { Exchange } from './exchange-ports.ts';

/** The longest time between two funding events of any perpetual; some have 4 h or 1 h. */
const LONGEST_INTERVAL_MS = 8 * 3_600_000;
/** Exchanges stamp events up to some milliseconds late. */
const TOLERANCE_MS = 60_000;

export interface FundingDeps {
  readonly candles: CandleStore;
  readonly clock: Clock;
}

interface FundingRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Fetches and stores the missing funding events in [start, end] ms. Returns the number of new events and the corrupt
 * files found. A corrupt file is replaced for its whole month, since no later call would fetch its events outside the
 * range. Throws DATA003, DATA004, DATA005.
 */
export async function collectFunding(
  { candles, clock }: FundingDeps,
  exchange: Exchange,
  symbol: string,
  range: FundingRange,
  signal?: AbortSignal,
): Promise<{ readonly added: number; readonly corrupt: readonly string[] }> {
  const corrupt = new Set<string>();
  const read = ({ start, end }: FundingRange) =>
    candles.readFunding(exchange.name, symbol, start, end, (file) => corrupt.add(file));
  let wanted = range;
  let stored = await read(wanted);
  if (corrupt.size > 0) {
    wanted = wholeMonths(range, clock.now());
    stored = await read(wanted);
  }
  const missing = missingFunding(stored.timestamp, wanted.start, wanted.end);
  if (!missing) return { added: 0, corrupt: [...corrupt] };
  const fetched = await exchange.fetchFunding(symbol, missing.start, missing.end, signal);
  const events = newEvents(fetched, stored.timestamp);
  if (events.timestamp.length > 0) await candles.writeFunding(exchange.name, symbol, events);
  return { added: events.timestamp.length, corrupt: [...corrupt] };
}

/** The range, widened to whole UTC months, but not into the future. */
function wholeMonths({ start, end }: FundingRange, now: number): FundingRange {
  const [first, last] = [new Date(start), new Date(end)];
  const monthEnd = Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1) - 1;
  return {
    start: Date.UTC(first.getUTCFullYear(), first.getUTCMonth()),
    end: Math.max(end, Math.min(monthEnd, now)),
  };
}

/** Events with finite values at times that are not stored, ascending. */
function newEvents(fetched: FundingEvents, known: Float64Array): FundingEvents {
  const times = new Set(known);
  const rows: number[] = [];
  for (let i = 0; i < fetched.timestamp.length; i++) {
    const values = [fetched.timestamp[i]!, fetched.rate[i]!, fetched.markPrice[i]!];
    if (times.has(values[0]!) || !values.every(Number.isFinite)) continue;
    times.add(values[0]!);
    rows.push(i);
  }
  rows.sort((a, b) => fetched.timestamp[a]! - fetched.timestamp[b]!);
  const pick = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!);
  return { timestamp: pick(fetched.timestamp), rate: pick(fetched.rate), markPrice: pick(fetched.markPrice) };
}

/**
 * The interval within [start, end] in which events must be missing: before the first stored one, after the last, or
 * between two that are too far apart. Undefined when no event is known to be missing.
 */
function missingFunding(times: Float64Array, start: number, end: number) {
  const count = times.length;
  if (count === 0) return start <= end ? { start, end } : undefined;
  const gaps: { start: number; end: number }[] = [];
  if (times[0]! - start >= interval(times, 1)) gaps.push({ start, end: times[0]! - 1 });
  for (let i = 1; i < count; i++) {
    if (times[i]! - times[i - 1]! > LONGEST_INTERVAL_MS + TOLERANCE_MS) {
      gaps.push({ start: times[i - 1]! + 1, end: times[i]! - 1 });
    }
  }
  if (end - times[count - 1]! >= interval(times, count - 1)) gaps.push({ start: times[count - 1]! + 1, end });
  return gaps.length === 0 ? undefined : { start: gaps[0]!.start, end: gaps.at(-1)!.end };
}

/** Time between events `i - 1` and `i`, ms, at most {@link LONGEST_INTERVAL_MS}. */
function interval(times: Float64Array, i: number): number {
  return Math.min(LONGEST_INTERVAL_MS, times.length > 1 ? times[i]! - times[i - 1]! : LONGEST_INTERVAL_MS);
}
