/** Weekly times of markets, which a user gives for a series whose own candles do not show them. */

const DAY = 1440;
const HOUR = 60;

/** The time from the close of a day to the open of the next, for some days from Monday. */
function nights(days: readonly number[], close: number, open: number): readonly [number, number][] {
  return days.map((day) => [day * DAY + close, DAY - close + open]);
}

/**
 * Closed times: `[first minute of the week, minutes]`, ascending, from Monday, 00:00, in UTC, with an hour added in the summer of the
 * United States. Holidays are not listed: a missing session is one.
 */
export const CALENDARS = {
  /** 09:30 to 16:00 in New York. */
  XNYS: {
    clock: 'us',
    closed: [
      [0, 14.5 * HOUR],
      ...nights([0, 1, 2, 3], 21 * HOUR, 14.5 * HOUR),
      [4 * DAY + 21 * HOUR, 3 * HOUR + 2 * DAY],
    ],
  },
  /** Globex: from Sunday, 17:00, to Friday, 16:00 in Chicago, with an hour's halt at 16:00. */
  CME: {
    clock: 'us',
    closed: [
      ...[0, 1, 2, 3].map((day): [number, number] => [day * DAY + 22 * HOUR, HOUR]),
      [4 * DAY + 22 * HOUR, 2 * HOUR + DAY + 23 * HOUR],
    ],
  },
  '24/7': { clock: 'utc', closed: [] },
} as const satisfies Readonly<
  Record<string, { readonly clock: string; readonly closed: readonly (readonly [number, number])[] }>
>;

export type Calendar = keyof typeof CALENDARS;
export const CALENDAR_NAMES = Object.keys(CALENDARS) as readonly Calendar[];
