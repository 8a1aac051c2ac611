import { describe, expect, test } from 'vitest';
import { describeMonth, summarizeMonths } from '#adapters/series-months.ts';
import { explainGaps } from '#domain/data/gaps/explain-gaps.ts';
import { findSessions } from '#domain/data/gaps/find-sessions.ts';
import { sessionsOf } from '#domain/data/gaps/sessions.ts';
import type { Gap } from '#domain/ports.ts';
import { floorToGrid } from '#engine/timeframe.ts';
import { at, DAY, grid, HOUR } from './market.ts';

const MINUTE = 60_000;

function seriesOf(times: readonly number[], step: number) {
  const gaps: Gap[] = [];
  const slots = times.map((time) => floorToGrid(time, step));
  for (let i = 1; i < slots.length; i++) {
    const missing = (slots[i]! - slots[i - 1]!) / step - 1;
    if (missing > 0) gaps.push([slots[i - 1]! + step, missing]);
  }
  return { first: times[0]!, last: times.at(-1)!, gaps };
}

/** Explained gaps of candles at these times. */
function explain(times: readonly number[], step: number, { omits = true } = {}) {
  const series = seriesOf(times, step);
  const sessions = findSessions(series, step);
  const rules = { step, sessions, omitsNoTrades: omits && step < DAY };
  const { damaged, quiet: _, ...kinds } = explainGaps(series.gaps, rules);
  return { ...kinds, sessions, damaged: damaged.map(([start, count]) => [iso(start), count]) };
}

const iso = (time: number) => new Date(time).toISOString().slice(0, 16);

/** Offset of New York, hours, for 2024 and 2025. */
const newYork = (time: number) => {
  const summers = [
    [at('2024-03-10T07:00'), at('2024-11-03T06:00')],
    [at('2025-03-09T07:00'), at('2025-11-02T06:00')],
  ];
  return summers.some(([from, to]) => time >= from! && time < to!) ? -4 : -5;
};

/** True while ES trades: from Sunday, 18:00 in New York, to Friday, 17:00, with an hour's halt at 17:00. */
function isGlobex(time: number): boolean {
  const local = new Date(time + newYork(time) * HOUR);
  const [day, hour] = [local.getUTCDay(), local.getUTCHours()];
  if (day === 6 || hour === 17) return false;
  return day === 0 ? hour >= 18 : day === 5 ? hour < 17 : true;
}

/** True between 09:30 and 16:00 in New York, from Monday to Friday. */
function isStockMarket(time: number): boolean {
  const local = new Date(time + newYork(time) * HOUR);
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes();
  return local.getUTCDay() % 6 !== 0 && minute >= 570 && minute < 960;
}

const year = (step: number, isOpen: (time: number) => boolean, from = '2024-01-08') =>
  grid(at(from), at('2025-01-06'), step).filter(isOpen);

/** Deterministic values in [0, 1). */
const random = (i: number) => {
  const x = Math.sin(i * 12.9898) * 43758.5453;
  return x - Math.floor(x);
};

describe('closed sessions', () => {
  test.each([
    ['ES, 1h, a year with both clocks', HOUR, isGlobex],
    ['ES, 15m', 15 * MINUTE, isGlobex],
    ['stocks, 5m', 5 * MINUTE, isStockMarket],
    ['stocks, 30m', 30 * MINUTE, isStockMarket],
    ['Monday to Friday, 1d', DAY, (time: number) => new Date(time).getUTCDay() % 6 !== 0],
  ])('%s: nothing is lost', (_, step, isOpen) => {
    const times = year(step, isOpen);
    const { closed, no_trades, damage } = explain(times, step);
    expect({ closed, no_trades, damage }).toEqual({
      closed: (times.at(-1)! - times[0]!) / step + 1 - times.length,
      no_trades: 0,
      damage: 0,
    });
  });

  test('hours of stocks that open at half past are on the slots of their hours', () => {
    const times = grid(at('2024-01-08T00:30'), at('2025-01-06'), HOUR).filter(isStockMarket);
    expect(explain(times, HOUR).damage).toBe(0);
  });

  test('three weeks suffice, less show no pattern', () => {
    const weeks = (count: number) =>
      grid(at('2024-01-08'), at('2024-01-08') + count * 7 * DAY, HOUR).filter(isGlobex);
    expect(explain([...weeks(3), at('2024-01-29')], HOUR)).toMatchObject({ no_trades: 0, damage: 0 });
    const short = explain(weeks(2), HOUR);
    expect(short).toMatchObject({ sessions: undefined, closed: 0 });
    expect(short.no_trades).toBeGreaterThan(0);
  });

  test('a session that is missing, ends early, or both in a row, is a holiday', () => {
    const [whole, early] = [at('2024-03-28T22:00'), at('2024-12-24T18:00')];
    const times = year(HOUR, isGlobex).filter(
      (time) => !(time >= whole && time < whole + DAY) && !(time >= early && time < at('2024-12-25T23:00')),
    );
    expect(explain(times, HOUR)).toMatchObject({ damage: 0, no_trades: 0 });
  });

  test('two sessions in a row, a late start, and hours within a session are damage', () => {
    const lost = (from: string, to: string) => (time: number) => !(time >= at(from) && time < at(to));
    const all = year(HOUR, isGlobex);
    expect(explain(all.filter(lost('2024-02-05T23:00', '2024-02-07T22:00')), HOUR)).toMatchObject({
      damage: 46,
      damaged: [
        ['2024-02-05T23:00', 23],
        ['2024-02-06T23:00', 23],
      ],
    });
    expect(explain(all.filter(lost('2024-02-05T23:00', '2024-02-06T01:00')), HOUR).damage).toBe(2);
    expect(explain(all.filter(lost('2024-02-06T10:00', '2024-02-06T13:00')), HOUR)).toMatchObject({
      damage: 3,
      damaged: [['2024-02-06T10:00', 3]],
    });
  });

  test('minutes within a session are without trades, a quarter of an hour is damage', () => {
    const lost = (from: string, to: string) => (time: number) => !(time >= at(from) && time < at(to));
    const all = grid(at('2024-01-08'), at('2024-02-19'), MINUTE).filter(isGlobex);
    const quiet = all.filter((time) => random(time / MINUTE) > 0.2);
    const some = all.filter(lost('2024-01-16T10:00', '2024-01-16T10:14'));
    const more = all.filter(lost('2024-01-16T10:00', '2024-01-16T10:15'));
    expect(explain(some, MINUTE)).toMatchObject({ no_trades: 14, damage: 0 });
    expect(explain(some, MINUTE, { omits: false })).toMatchObject({ no_trades: 0, damage: 14 });
    expect(explain(more, MINUTE)).toMatchObject({ no_trades: 0, damage: 15 });
    // Those that begin a session are not its late start.
    expect(explain(all.filter(lost('2024-01-16T23:00', '2024-01-16T23:05')), MINUTE)).toMatchObject({
      no_trades: 5,
      damage: 0,
    });
    // Nor are those after a holiday.
    const holiday = explain(all.filter(lost('2024-01-16T23:00', '2024-01-17T23:05')), MINUTE);
    expect(holiday).toMatchObject({ no_trades: 5, damage: 0 });
    const { closed, no_trades, damage } = explain(quiet, MINUTE);
    expect({ closed: closed > 0, no_trades: no_trades > 0.15 * all.length, damage }).toEqual({
      closed: true,
      no_trades: true,
      damage: 0,
    });
  });

  test('the months of a thin market list its closed times', () => {
    const times = grid(at('2024-01-01'), at('2024-04-01'), MINUTE).filter(
      (time) => isGlobex(time) && random(time / MINUTE) > 0.1,
    );
    const months = ['2024-01', '2024-02', '2024-03'].map((month) => {
      const own = times.filter((time) => iso(time).startsWith(month));
      return describeMonth(month, Float64Array.from(own), MINUTE);
    });
    const key = { exchange: 'glbxmdp3', symbol: 'ES/USD:USD', timeframe: '1m' } as const;
    const { missing } = summarizeMonths(key, months, '2024-04-01T00:00:00Z', { imported: true });
    const open = grid(times[0]!, times.at(-1)! + MINUTE, MINUTE).filter(isGlobex).length;
    // Minutes without trades next to closed times are closed with them: the end of a session.
    expect(missing!.damage).toBe(0);
    expect(missing!.no_trades).toBeGreaterThan((open - times.length) * 0.99);
    expect(missing!.no_trades).toBeLessThanOrEqual(open - times.length);
  });

  test('of daily candles one missing day is a holiday, two in a row are damage', () => {
    const days = year(DAY, (time) => new Date(time).getUTCDay() % 6 !== 0);
    const without = (...lost: string[]) => days.filter((time) => !lost.some((day) => at(day) === time));
    expect(explain(without('2024-05-27'), DAY).damage).toBe(0);
    expect(explain(without('2024-05-23', '2024-05-24'), DAY).damage).toBe(2);
    expect(explain(without('2024-05-24', '2024-05-27'), DAY).damage).toBe(2);
  });
});

describe('series without closed sessions', () => {
  test.each([0.1, 0.3, 0.6, 0.9])(
    'minutes and hours that are missing at random (%d) are without trades',
    (p) => {
      for (const step of [MINUTE, HOUR]) {
        for (const weeks of [3, 8]) {
          const times = grid(at('2024-01-08'), at('2024-01-08') + weeks * 7 * DAY, step);
          const some = times.filter((_, i) => i === 0 || i === times.length - 1 || random(i) > p);
          expect(explain(some, step)).toMatchObject({
            closed: 0,
            damage: 0,
            no_trades: times.length - some.length,
          });
        }
      }
    },
  );

  test('days that are missing, and candles of an exchange that serves those without trades, are damage', () => {
    const days = grid(at('2024-01-01'), at('2024-04-01'), DAY).filter((_, i) => i % 11 !== 5);
    expect(explain(days, DAY)).toMatchObject({ no_trades: 0, closed: 0, damage: 8 });
    const hours = grid(at('2024-01-01'), at('2024-04-01'), HOUR).filter((_, i) => i % 11 !== 5);
    expect(explain(hours, HOUR, { omits: false })).toMatchObject({ no_trades: 0, closed: 0, damage: 198 });
  });

  test('a long hole is no closed session', () => {
    const days = grid(at('2024-01-01'), at('2024-06-01'), DAY).filter(
      (time) => time < at('2024-02-01') || time >= at('2024-05-01'),
    );
    expect(explain(days, DAY)).toMatchObject({ closed: 0, damage: 90 });
  });
});

describe('calendars', () => {
  const kinds = (times: readonly number[], step: number, calendar: 'XNYS' | 'CME' | '24/7') => {
    const { gaps } = seriesOf(times, step);
    const { closed, damage } = explainGaps(gaps, {
      step,
      sessions: sessionsOf(calendar),
      omitsNoTrades: false,
    });
    return { closed, damage };
  };
  const week = (step: number, isOpen: (time: number) => boolean, from: string) =>
    grid(at(from), at(from) + 7 * DAY, step).filter(isOpen);

  test.each(['2024-01-08', '2024-07-08'])('a week of %s is complete', (from) => {
    for (const step of [MINUTE, 5 * MINUTE, 30 * MINUTE])
      expect(kinds(week(step, isStockMarket, from), step, 'XNYS').damage).toBe(0);
    for (const step of [5 * MINUTE, HOUR])
      expect(kinds(week(step, isGlobex, from), step, 'CME').damage).toBe(0);
  });

  test('an hour within a session is damage, and so is each gap of a market that never closes', () => {
    const times = week(HOUR, isGlobex, '2024-01-08');
    const some = times.filter((time) => time !== at('2024-01-10T10:00'));
    expect(kinds(some, HOUR, 'CME').damage).toBe(1);
    expect(kinds(times, HOUR, '24/7')).toEqual({ closed: 0, damage: 53 });
  });
});
