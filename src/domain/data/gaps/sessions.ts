import { CALENDARS, type Calendar } from '#contract/values/calendars.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { clockTime, type MarketClock } from './summer-time.ts';

/** Candles that are not stored, by the reason. */
export interface MissingCandles {
  /** The market was closed: by its week, for a holiday, or early. */
  readonly closed: number;
  /** Nothing was traded. */
  readonly no_trades: number;
  /** All others: they are lost. */
  readonly damage: number;
}

/** Times of the week at which a market is closed. */
export interface Sessions {
  readonly clock: MarketClock;
  /** `[first minute of the week, minutes]`, ascending, from Monday, 00:00 by the clock. */
  readonly closed: readonly (readonly [from: number, minutes: number])[];
}

/** No market closes for less, and minutes without trades that follow each other are fewer. */
export const MIN_CLOSED_MINUTES = 15;

export const WEEK_MINUTES = 7 * 1440;
export const WEEK_MS = 7 * DAY_MS;
/** First Monday after the epoch. */
const MONDAY_MS = 4 * DAY_MS;
const DAY_MINUTES = 1440;

/** Minute of the week of a time by a clock. */
export function minuteOfWeek(time: number): number {
  const since = (time - MONDAY_MS) % WEEK_MS;
  return Math.floor((since < 0 ? since + WEEK_MS : since) / MINUTE_MS);
}

/** The closed times of a calendar; undefined for a market that never closes. */
export function sessionsOf(calendar: Calendar): Sessions | undefined {
  const { clock, closed } = CALENDARS[calendar];
  return closed.length === 0 ? undefined : { clock, closed };
}

/** Knows when a market is open, and in which session. */
export class SessionClock {
  readonly #clock: MarketClock;
  readonly #stepMs: number;
  readonly #minutes: number;
  /** Closed minutes before each minute of the week. */
  readonly #closedBefore = new Int32Array(WEEK_MINUTES + 1);
  /** Minutes since the market opened, by minute of the week. */
  readonly #sinceOpen = new Int32Array(WEEK_MINUTES);
  /** Minutes until it opens. */
  readonly #untilOpen = new Int32Array(WEEK_MINUTES);

  /** @param stepMs length of a candle, ms, up to a day */
  constructor({ clock, closed }: Sessions, stepMs: number) {
    this.#clock = clock;
    this.#stepMs = stepMs;
    this.#minutes = stepMs / MINUTE_MS;
    const isClosed = new Uint8Array(WEEK_MINUTES);
    for (const [from, minutes] of closed) isClosed.fill(1, from, from + minutes);
    for (let i = 0; i < WEEK_MINUTES; i++) this.#closedBefore[i + 1] = this.#closedBefore[i]! + isClosed[i]!;
    // Two rounds: the market may have opened in the week before.
    for (let i = 0, open = 0; i < 2 * WEEK_MINUTES; i++) {
      const minute = i % WEEK_MINUTES;
      this.#sinceOpen[minute] = isClosed[minute] ? 0 : open;
      open = isClosed[minute] ? 0 : open + 1;
    }
    for (let i = 2 * WEEK_MINUTES - 1, wait = 0; i >= 0; i--) {
      const minute = i % WEEK_MINUTES;
      wait = isClosed[minute] ? wait + 1 : 0;
      this.#untilOpen[minute] = wait;
    }
  }

  /** Candles from the one that opens at `time`, ms, that are surely in closed times: they need no further look. */
  closedFrom(time: number): number {
    const wait = this.#untilOpen[minuteOfWeek(clockTime(time, this.#clock))]!;
    // The clock may be put forward meanwhile.
    return Math.max(0, Math.floor((wait * MINUTE_MS - HOUR_MS) / this.#stepMs));
  }

  /**
   * Start of the session of the candle that opens at `time`, ms by the market's clock; undefined while the market is closed. A market
   * that is open for longer has sessions of a day, and a candle of a day is one.
   */
  sessionOf(time: number): number | undefined {
    const own = clockTime(time, this.#clock);
    const minute = minuteOfWeek(own);
    if (this.#closedIn(minute, this.#minutes) === this.#minutes) return undefined;
    if (this.#stepMs >= DAY_MS) return time;
    const wait = this.#untilOpen[minute]!;
    const since = this.#sinceOpen[(minute + wait) % WEEK_MINUTES]! % DAY_MINUTES;
    return Math.floor(own / MINUTE_MS) * MINUTE_MS + (wait - since) * MINUTE_MS;
  }

  /** Closed minutes of the `length` minutes from a minute of the week. */
  #closedIn(minute: number, length: number): number {
    const before = this.#closedBefore;
    const end = minute + length;
    if (end <= WEEK_MINUTES) return before[end]! - before[minute]!;
    return before[WEEK_MINUTES]! - before[minute]! + before[end - WEEK_MINUTES]!;
  }
}
