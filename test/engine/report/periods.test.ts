import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { dailyEquity } from '#engine/metrics/equity-curve.ts';
import { buildEquityData } from '#engine/report/result.ts';
import { buildPeriods } from '#engine/report/tables.ts';
import { columnsOf, curve, START, trade } from '../metrics/samples.ts';

/** Monday 2024-01-29 to Saturday 2024-02-03, which spans two months and one week. */
const OFFSET = 28;
const FROM = START + OFFSET * DAY_MS;
const DAILY = dailyEquity(curve([1100, 1100, 1050, 1050, 945, 945], DAY_MS, FROM), 1000, FROM);
const TRADES = [
  trade(100, OFFSET),
  trade(-50, OFFSET + 2.5),
  trade(20, OFFSET + 4.9),
  trade(-125, OFFSET + 4.99),
  trade(0, OFFSET + 4),
];

const periods = buildPeriods(columnsOf(TRADES), DAILY, 1000);

describe('buildPeriods', () => {
  it('month rows count trades by closing day with the return of the equity', () => {
    expect(periods.month.map((row) => [row.key, row.total_trades, row.total_profit])).toEqual([
      ['2024-01', 2, 50],
      ['2024-02', 3, -105],
    ]);
    expect(periods.month[0]!.return_pct).toBeCloseTo(5, 12);
    expect(periods.month[1]!.return_pct).toBeCloseTo(-10, 12);
    expect(periods.month[1]).toMatchObject({
      total_profit_pct: -10.5,
      winning_trades: 1,
      losing_trades: 1,
      draws: 1,
      profit_factor: 20 / 125,
    });
    expect(periods.month[1]!.win_rate).toBeCloseTo(100 / 3, 12);
    expect(periods.month[0]).toMatchObject({ win_rate: 50, profit_factor: 2 });
  });

  it('day rows include days without trades', () => {
    expect(periods.day.map((row) => [row.key, row.total_trades])).toEqual([
      ['2024-01-29', 1],
      ['2024-01-30', 0],
      ['2024-01-31', 1],
      ['2024-02-01', 0],
      ['2024-02-02', 3],
      ['2024-02-03', 0],
    ]);
    expect(periods.day[1]).toMatchObject({ return_pct: 0, win_rate: null, profit_factor: null });
  });

  it('week rows are named by their Monday and year rows by number', () => {
    expect(periods.week.map((row) => row.key)).toEqual(['2024-01-29']);
    expect(periods.year.map((row) => [row.key, row.total_profit])).toEqual([['2024', -55]]);
    expect(periods.year[0]!.return_pct).toBeCloseTo(-5.5, 12);
  });

  it('weekday rows start with Monday', () => {
    const wholeWeek = dailyEquity(curve(Array(9).fill(1), DAY_MS, FROM + 2 * DAY_MS), 1, FROM + 2 * DAY_MS);
    expect(buildPeriods(columnsOf([]), wholeWeek, 1).weekday.map((row) => row.key)).toEqual([
      'Monday',
      'Tuesday',
      'Wednesday',
      'Thursday',
      'Friday',
      'Saturday',
      'Sunday',
    ]);
    expect(periods.weekday.map((row) => [row.key, row.total_trades]).slice(3)).toEqual([
      ['Thursday', 0],
      ['Friday', 3],
      ['Saturday', 0],
    ]);
  });
});

describe('buildEquityData', () => {
  it('equity data aligns dates, equity and drawdown, with monthly returns', () => {
    expect(buildEquityData(1000, DAILY)).toEqual({
      dates: ['2024-01-29', '2024-01-30', '2024-01-31', '2024-02-01', '2024-02-02', '2024-02-03'],
      equity: [1100, 1100, 1050, 1050, 945, 945],
      drawdown: [
        0,
        0,
        Number((-50 / 11).toPrecision(12)),
        Number((-50 / 11).toPrecision(12)),
        Number((-155 / 11).toPrecision(12)),
        Number((-155 / 11).toPrecision(12)),
      ],
      monthly_returns: { '2024-01': 5, '2024-02': -10 },
    });
  });

  it('equity data measures drawdown from the wallet', () => {
    const data = buildEquityData(1000, dailyEquity(curve([900]), 1000, START));
    expect(data).toEqual({
      dates: ['2024-01-01'],
      equity: [900],
      drawdown: [-10],
      monthly_returns: { '2024-01': -10 },
    });
  });

  it('monthly returns continue across a year boundary', () => {
    const from = Date.UTC(2023, 11, 31);
    const data = buildEquityData(100, dailyEquity(curve([110, 121], DAY_MS, from), 100, from));
    expect(data.monthly_returns).toEqual({ '2023-12': 10, '2024-01': 10 });
  });
});
