import { HOUR_MS } from '#contract/values/durations.ts';
import { indexAtOrAfter } from '../../candles.ts';
import type { Direction } from '../rules/prices.ts';
import type { FundingEvents } from '../types.ts';

/** Funding of a position in quote currency, positive when received (docs/simulation.md#funding). A long pays a positive rate. */
export class FundingSum {
  readonly #events: FundingEvents | null;
  /** What profit ratios include: the total, but for what an adjustment leaves out until the next full hour. */
  counted = Number.NaN;
  /** Time of the next event to be booked. */
  nextTime = Number.POSITIVE_INFINITY;
  #next = 0;
  /** Time of the last fill, ms, and the funding up to it. */
  #from = Number.NaN;
  #before = Number.NaN;
  /** Funding since the last fill. */
  since = Number.NaN;
  /** True if `since` must be summed again, with the present amount. */
  #isStale = false;

  constructor(events: FundingEvents | null) {
    this.#events = events;
  }

  get total(): number {
    return this.#before + this.since;
  }

  /**
   * Begins the sum of a trade at the fill of its entry. Events at that time are still to be booked; the conservative model leaves out
   * what the position would receive, since an exchange pays only those that it saw open before.
   */
  begin(time: number, direction: Direction, conservative: boolean): void {
    this.since = 0;
    this.#before = 0;
    this.#beginPart(conservative && this.isPaidAt(time, direction) ? time + 1 : time);
  }

  /** True if an event at `time` pays a position of this side. */
  isPaidAt(time: number, direction: Direction): boolean {
    if (this.#events === null) return false;
    const { timestamp, rate } = this.#events;
    const event = indexAtOrAfter(timestamp, time);
    return timestamp[event] === time && direction * rate[event]! < 0;
  }

  /**
   * Begins a new part at an adjustment. An event at its time counts for `amount`: after a partial exit for what was held before.
   * Profit ratios leave it out until the part is summed again, with the present amount, in the next full hour.
   */
  beginAfterAdjustment(time: number, amount: number, direction: Direction): void {
    this.#beginPart(time);
    if (this.nextTime !== time) return;
    const { timestamp, rate, markPrice } = this.#events!;
    const event = this.#next;
    this.since = -direction * rate[event]! * markPrice[event]! * amount;
    this.#isStale = true;
    const nextHour = nextHourAfter(time);
    this.nextTime = Math.min(nextHour, timestamp[event + 1] ?? nextHour);
  }

  /** Profit ratios leave out what was received since the last fill, until the next full hour: an addition was placed and waits. */
  leaveOut(time: number): void {
    if (this.since === 0) return;
    this.counted = this.#before;
    this.nextTime = Math.min(this.nextTime, nextHourAfter(time));
  }

  /** Books the events up to `time`, included. */
  book(time: number, amount: number, direction: Direction): void {
    if (this.#events === null) return;
    const { timestamp, rate, markPrice } = this.#events;
    if (this.#isStale) this.#forgetPart();
    let next = this.#next;
    for (; next < timestamp.length && timestamp[next]! <= time; next++)
      this.since -= direction * rate[next]! * markPrice[next]! * amount;
    this.#next = next;
    this.counted = this.total;
    this.#findTime(timestamp);
  }

  /** {@link total} after the events up to `time`, included, without booking them. */
  totalAt(time: number, amount: number, direction: Direction): number {
    if (this.#events === null || time < this.nextTime) return this.total;
    const { timestamp, rate, markPrice } = this.#events;
    let since = this.#isStale ? 0 : this.since;
    let next = this.#isStale ? indexAtOrAfter(timestamp, this.#from) : this.#next;
    for (; next < timestamp.length && timestamp[next]! <= time; next++)
      since -= direction * rate[next]! * markPrice[next]! * amount;
    return this.#before + since;
  }

  /** Forgets the events after `time`, at which the position is closed in retrospect. */
  limit(time: number, amount: number, direction: Direction): void {
    // Later events are not booked while the part is stale.
    if (this.#isStale) return;
    this.#forgetPart();
    this.book(time, amount, direction);
  }

  #beginPart(time: number): void {
    this.#from = time;
    this.#before = this.total;
    this.counted = this.#before;
    this.since = 0;
    this.#isStale = false;
    if (this.#events === null) return;
    this.#next = indexAtOrAfter(this.#events.timestamp, time);
    this.#findTime(this.#events.timestamp);
  }

  #forgetPart(): void {
    this.since = 0;
    this.#beginPart(this.#from);
  }

  #findTime(timestamp: Float64Array): void {
    const next = this.#next;
    this.nextTime = next < timestamp.length ? timestamp[next]! : Number.POSITIVE_INFINITY;
  }
}

/** Start of the hour after `time`, ms. */
function nextHourAfter(time: number): number {
  return (Math.floor(time / HOUR_MS) + 1) * HOUR_MS;
}
