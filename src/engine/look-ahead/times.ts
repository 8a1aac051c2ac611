import type { Random } from '../random.ts';
import { type Call, hasActed } from './calls.ts';
import type { Observed } from './runs.ts';

/** Candles in which something acted, by what did: open times in ms, ascending. */
function actingTimes({ calls, trades }: Observed, first: number, stepMs: number): number[][] {
  const kinds = new Map<string, Set<number>>();
  const add = (kind: string, time: number) => {
    const times = kinds.get(kind) ?? new Set();
    kinds.set(kind, times.add(time));
  };
  const opened = (time: number) => first + Math.floor((time - first) / stepMs) * stepMs;
  for (const trade of trades) {
    add('entry', opened(trade.openedAt));
    if (!trade.leftOpen) add('exit', opened(trade.closedAt));
  }
  for (const call of calls) if (hasActed(call)) add(kindOf(call), call.opened);
  return [...kinds.values()].map((times) => [...times].sort((a, b) => a - b));
}

/** Reasons of exits are kinds of their own, but for numbers in them: one that is rare may be the one that looks ahead. */
function kindOf({ callback, answer }: Call): string {
  return typeof answer === 'string' ? `${callback} ${answer.replace(/[\d.]+/g, '0')}` : callback;
}

/**
 * Open times (ms) of the candles that are forming when the candles end: half of them candles in which an order was filled or an
 * answer acted, each kind in turn, more where there are more kinds; the others drawn evenly from the range. `also` are taken in any case.
 *
 * @param first and `last` bound the times, both included
 */
export function chooseTimes(
  observed: Observed,
  { first, last, stepMs }: { readonly first: number; readonly last: number; readonly stepMs: number },
  wanted: number,
  random: Random,
  also: readonly number[] = [],
): number[] {
  const inRange = (time: number) => time >= first && time <= last;
  const kinds = actingTimes(observed, first, stepMs)
    .map((times) => times.filter(inRange))
    .filter((times) => times.length > 0);
  const steps = Math.floor((last - first) / stepMs) + 1;
  const chosen = new Set(also.filter(inRange));
  const half = Math.max(Math.ceil(wanted / 2), Math.min(kinds.length, wanted));
  for (let i = 0; i < half && kinds.length > 0; i++) {
    const times = kinds[i % kinds.length]!;
    const share = (i + random()) / half;
    chosen.add(times[Math.floor(share * times.length)]!);
  }
  const drawn = Math.max(0, Math.min(wanted, steps) - chosen.size);
  for (let i = 0; i < drawn; i++) {
    const share = (i + random()) / drawn;
    chosen.add(first + Math.floor(share * steps) * stepMs);
  }
  // Some of those were chosen before.
  while (chosen.size < Math.min(wanted, steps)) chosen.add(first + Math.floor(random() * steps) * stepMs);
  return [...chosen].sort((a, b) => a - b);
}
