import { otherRunNote, withNote } from '#contract/values/undefined-metrics.ts';
import { NO_VALUE, shortPair, signed, value } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Universe = NonNullable<ReportData['universe']>;
type Member = Universe['members'][number];
type LeftOut = NonNullable<Universe['left_out']>[number];
type Choice = Universe['survivorship'][number];
type Figure = keyof NonNullable<Choice['figures']>;

const day = (time: string) => time.slice(0, 10);
const timesOf = ({ intervals }: Member) =>
  intervals.map(({ from, to }) => `${day(from)} to ${day(to)}`).join(', ');

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  { key: 'pair', title: 'Pair', width: 110, cell: ({ pair }) => shortPair(pair) },
  { key: 'days', title: 'Days in', width: 80, isNumber: true, cell: (row) => value(row.days_in, 'days') },
  {
    key: 'ends',
    title: 'Candles end',
    width: 180,
    cell: ({ ends }) => (ends === null ? NO_VALUE : <Time at={ends} />),
  },
  {
    key: 'in',
    title: 'In (UTC)',
    width: 420,
    cell: (row) => <span title={timesOf(row)}>{timesOf(row)}</span>,
  },
];

const LEFT_OUT_COLUMNS: readonly Column<LeftOut>[] = [
  { key: 'pair', title: 'Left out', width: 110, cell: ({ pair }) => shortPair(pair) },
  { key: 'missing', title: 'Missing or corrupt', width: 420, cell: ({ missing }) => missing },
];

const CHOICES: Readonly<Record<Choice['choice'], string>> = {
  survivors: 'Pairs that survived',
  final_ranking: 'Largest at the end',
};
const FIGURES: readonly (readonly [Figure, string, 'percent' | 'ratio' | 'count'])[] = [
  ['total_profit_pct', 'Profit, %', 'percent'],
  ['cagr_pct', 'CAGR, %', 'percent'],
  ['sharpe_ratio', 'Sharpe', 'ratio'],
  ['max_drawdown_pct', 'Drawdown, %', 'percent'],
  ['total_trades', 'Trades', 'count'],
];

const CHOICE_COLUMNS: readonly Column<Choice>[] = [
  { key: 'choice', title: 'Another choice', width: 160, cell: ({ choice }) => CHOICES[choice] },
  {
    key: 'pairs',
    title: 'Pairs',
    width: 60,
    isNumber: true,
    cell: ({ pairs }) => value(pairs.length, 'count'),
  },
  ...FIGURES.flatMap(([name, title, unit]): Column<Choice>[] => [
    {
      key: name,
      title,
      width: 104,
      isNumber: true,
      cell: ({ figures }) => {
        const number = figures?.[name] ?? null;
        const text = number === null ? null : value(number, unit);
        return withNote(name, text, figures && otherRunNote(figures, name), NO_VALUE);
      },
    },
    {
      key: `${name}-added`,
      title: 'added',
      width: 104,
      isNumber: true,
      cell: ({ added }) => signed(added?.[name] ?? null, unit),
    },
  ]),
];

/** Which pairs were in when, and what survivorship would have added. */
export function UniversePanel({ universe }: { readonly universe: Universe }) {
  const { members, candidates, rebalances, short_rebalances: short, survivorship, left_out } = universe;
  const { delisted_trades: delisted } = universe;
  return (
    <Panel
      title={`Universe, ${value(members.length, 'count')} of ${value(candidates, 'count')} pairs were in`}
    >
      <p className="pad">
        {value(rebalances, 'count')} choices, each from candles of the days before it.
        {short > 0 && ` ${value(short, 'count')} of them found fewer pairs than asked for.`}
        {delisted !== undefined && ` Trades closed by a delisting: ${value(delisted, 'count')}.`}
      </p>
      <div className="report-bounded">
        <VirtualTable
          rows={members}
          columns={MEMBER_COLUMNS}
          idOf={({ pair }) => pair}
          label="Pairs that were in"
        />
      </div>
      {left_out && (
        <div className="report-bounded">
          <VirtualTable
            rows={left_out}
            columns={LEFT_OUT_COLUMNS}
            idOf={({ pair }) => pair}
            label="Candidates that could not be chosen"
          />
        </div>
      )}
      <p className="pad">
        What a choice that knows the end would have shown, and added to this result: survivorship bias.
      </p>
      <div className="report-bounded">
        <VirtualTable
          rows={survivorship}
          columns={CHOICE_COLUMNS}
          idOf={({ choice }) => choice}
          label="What survivorship would have added"
        />
      </div>
    </Panel>
  );
}
