import { Link } from '@tanstack/react-router';
import { decimal, NO_VALUE, signed, tone } from '../../ui/format.ts';
import { Age, Figure } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Overview } from './data.ts';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

type Version = NonNullable<Overview['production']>['items'][number];

const COLUMNS: readonly Column<Version>[] = [
  {
    key: 'name',
    title: 'Strategy',
    cell: ({ model_name, version }) => (
      <Link to="/strategies/$name/versions/$version" params={{ name: model_name, version }}>
        {model_name} <span className="muted">v{version}</span>
      </Link>
    ),
  },
  {
    key: 'live-trades',
    title: 'Live trades',
    label: 'Closed trades in the running challenge',
    isNumber: true,
    cell: ({ live }) =>
      live ? (
        <Link to="/challenges/$id" params={{ id: live.challenge_id }}>
          {decimal(live.trades, 0)}
        </Link>
      ) : (
        NO_VALUE
      ),
  },
  {
    key: 'live-profit',
    title: 'Live % a trade',
    label: 'Mean profit of these trades',
    isNumber: true,
    tone: ({ live }) => tone(live?.mean_profit_pct),
    cell: ({ live }) => signed(live?.mean_profit_pct, 'percent'),
  },
  {
    key: 'backtest',
    title: 'Backtest %',
    label: 'Profit of its backtest',
    isNumber: true,
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{signed(metrics.total_profit_pct, 'percent')}</Figure>
    ),
  },
  {
    key: 'promoted',
    title: 'Since',
    isNumber: true,
    cell: ({ promoted_at, updated_at }) => <Age at={promoted_at ?? updated_at} />,
  },
];

/** Versions in Production: what their live trades earned, beside the profit of their backtests. */
export function ProductionPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel
      query={query}
      title="In Production"
      rows={5}
      parts={['production']}
      actions={
        <Link to="/strategies" search={{ stage: 'Production' }} className="btn small plain">
          All
        </Link>
      }
    >
      {({ production }) =>
        !production || production.items.length === 0 ? (
          <Empty title="Nothing is in Production">Register a backtest, stage the version, promote it.</Empty>
        ) : (
          <Table
            label="Versions in Production"
            rows={production.items}
            columns={COLUMNS}
            idOf={({ model_name }) => model_name}
          />
        )
      }
    </OverviewPanel>
  );
}
