import { Link } from '@tanstack/react-router';
import { Age } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { VERSION_COLUMNS } from '../../ui/version-columns.tsx';
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
  ...VERSION_COLUMNS,
  {
    key: 'promoted',
    title: 'Promoted',
    isNumber: true,
    cell: ({ promoted_at, updated_at }) => <Age at={promoted_at ?? updated_at} />,
  },
];

/** Versions in Production with the metrics of their backtests. */
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
