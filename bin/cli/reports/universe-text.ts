import type { ReportUniverse } from '#contract/backtests/report-universe.ts';
import { listNames } from '#contract/values/list-names.ts';
import { otherRunNote } from '#contract/values/undefined-metrics.ts';
import { lineWidth, metricText, minute, number, percent, table, wrap } from '../output.ts';

/** Intervals of a pair that a row shows. */
const SHOWN = 3;
const CHOICES = { survivors: 'Pairs that survived', final_ranking: 'Largest at the end' } as const;

/** Which pairs were in when, and what survivorship would have added. */
export function universeText(universe: ReportUniverse): string {
  const { candidates, rebalances, short_rebalances: short, members, survivorship, left_out = [] } = universe;
  const { delisted_trades: delisted } = universe;
  const closed = delisted === undefined ? '' : `. Trades closed by a delisting: ${number(delisted, 0)}`;
  const few = short > 0 ? `, ${number(short, 0)} of them with too few pairs` : '';
  return [
    wrap(
      `Universe: ${members.length} of ${number(candidates, 0)} candidates were in, by ${number(rebalances, 0)} choices${few}${closed}`,
      lineWidth(),
    ),
    table(
      ['Pair', 'Days in', 'In (UTC)', 'Ends'],
      members.map(({ pair, days_in, intervals, ends }) => [
        pair,
        number(days_in, 0),
        intervalsText(intervals),
        ends === null ? '' : minute(ends),
      ]),
    ),
    ...(left_out.length > 0
      ? [
          table(
            ['Left out', 'Because this is missing or corrupt'],
            left_out.map(({ pair, missing }) => [pair, missing]),
          ),
        ]
      : []),
    table(
      [
        'Another choice',
        'Pairs',
        'Profit %',
        'added',
        'CAGR %',
        'added',
        'Sharpe',
        'added',
        'Trades',
        'added',
      ],
      survivorship.map(({ choice, pairs, figures, added }) => [
        CHOICES[choice],
        number(pairs.length, 0),
        percent(figures?.total_profit_pct ?? null),
        percent(added?.total_profit_pct ?? null),
        figureText(figures, 'cagr_pct', percent),
        percent(added?.cagr_pct ?? null),
        figureText(figures, 'sharpe_ratio', number),
        number(added?.sharpe_ratio ?? null),
        number(figures?.total_trades ?? null, 0),
        number(added?.total_trades ?? null, 0),
      ]),
    ),
  ].join('\n');
}

type Figures = ReportUniverse['survivorship'][number]['figures'];

function figureText(
  figures: Figures,
  name: 'cagr_pct' | 'sharpe_ratio',
  format: (value: number) => string,
): string {
  const value = figures?.[name] ?? null;
  const note = figures && otherRunNote(figures, name);
  return metricText(name, value === null ? null : format(value), note);
}

function intervalsText(intervals: ReportUniverse['members'][number]['intervals']): string {
  const shown = intervals.slice(0, SHOWN).map(({ from, to }) => `${from.slice(0, 10)} to ${to.slice(0, 10)}`);
  return listNames(shown, { count: intervals.length });
}
