import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { isAnyMoving } from '../../api/jobs.ts';
import { useCall } from '../../api/queries.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import {
  Exchange,
  JobCount,
  LookAheadWord,
  PageLinks,
  SearchBox,
  StatusFilter,
  StrategyFilter,
} from '../../ui/job-list.tsx';
import { Age, Figure, PageHead, Panel, Progress, Status } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { objectiveOf } from './objective.ts';
import type { ListSearch } from './search.ts';
import './hyperopt.css';

type Page = ResponseOf<'listHyperopts'>;
type Row = Page['items'][number];

const objectiveOfRow = ({ objective_metric, direction }: Row) => objectiveOf(objective_metric, direction);

const COLUMNS: readonly Column<Row>[] = [
  { key: 'created', title: 'Submitted', cell: ({ created_at }) => <Age at={created_at} /> },
  {
    key: 'name',
    title: 'Job',
    cell: (row) => (
      <span className="job-name">
        <Status status={row.status} />
        <Link to="/hyperopt/$id" params={{ id: row.job_id }}>
          {row.experiment_name ?? row.strategy}
        </Link>
        {row.experiment_name && <span className="muted wide-only">{row.strategy}</span>}
      </span>
    ),
  },
  {
    key: 'best_value',
    title: 'Best',
    isNumber: true,
    sort: ({ best_value }) => best_value,
    cell: (row) => <Figure state={row.look_ahead}>{objectiveOfRow(row).withUnit(row.best_value)}</Figure>,
  },
  { key: 'objective', title: 'Objective', cell: (row) => objectiveOfRow(row).label },
  {
    key: 'progress',
    title: 'Trials',
    isNumber: true,
    sort: ({ progress }) => progress,
    cell: (row) => (
      <span className="trials-done">
        {row.current_trial} of {row.total_trials}
        <Progress
          value={row.progress / 100}
          label={`${row.current_trial} of ${row.total_trials} trials finished`}
        />
      </span>
    ),
  },
  {
    key: 'sparkline',
    title: 'Best so far',
    cell: (row) => (
      <Sparkline
        values={row.sparkline}
        tone="none"
        summary={`Best so far from ${objectiveOfRow(row).format(row.sparkline?.[0])} to ${objectiveOfRow(row).format(row.best_value)}`}
      />
    ),
  },
  {
    key: 'market',
    title: 'Market',
    cell: ({ pairs, timeframe }) =>
      `${pairs[0]?.split(':')[0] ?? ''}${pairs.length > 1 ? ` +${pairs.length - 1}` : ''} · ${timeframe}`,
  },
  { key: 'exchange', title: 'Exchange', cell: ({ exchange }) => <Exchange name={exchange} /> },
  {
    key: 'look_ahead',
    title: 'Look-ahead',
    cell: ({ look_ahead }) => <LookAheadWord state={look_ahead} />,
  },
];

/** Hyperopt jobs, newest first. Long because it is the markup of the page: filters, table and page links. */
export function HyperoptListPage() {
  const search = useSearch({ from: '/hyperopt' });
  const navigate = useNavigate({ from: '/hyperopt' });
  const { q, strategy, status, sort, order, cursor } = search;
  const query = useCall(
    'listHyperopts',
    {
      query: {
        limit: 50,
        q,
        strategy,
        status,
        sort,
        cursor,
        ...(sort ? { sort_order: order ?? 'desc' } : {}),
      },
    },
    { isMoving: isAnyMoving, keepPrevious: true },
  );
  const isFiltered = Boolean(q ?? strategy ?? status);
  /** Other filters are another list: it starts at its first page. */
  const change = (next: Partial<ListSearch>) =>
    void navigate({ search: ({ cursor: _, ...before }) => ({ ...before, ...next }), replace: true });
  return (
    <>
      <PageHead
        title="Hyperopt"
        actions={
          <Link to="/hyperopt/new" className="btn primary">
            <Plus aria-hidden="true" /> New search
          </Link>
        }
      >
        <JobCount operation="listHyperopts" filters={{ q, strategy, status }} noun="job" />
      </PageHead>
      <Panel title="Jobs" actions={<Filters search={search} onChange={change} />}>
        <Loaded query={query} skeleton={<Skeleton rows={10} />}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty title={isFiltered ? 'No job passes these filters' : 'No hyperopt job yet'}>
                {isFiltered ? (
                  <button
                    type="button"
                    className="btn"
                    onClick={() => void navigate({ search: {}, replace: true })}
                  >
                    Clear the filters
                  </button>
                ) : (
                  <Link to="/hyperopt/new" className="btn">
                    Search the parameters of a strategy
                  </Link>
                )}
              </Empty>
            ) : (
              <>
                <div className="list">
                  <Table
                    rows={page.items}
                    columns={COLUMNS}
                    idOf={({ job_id }) => job_id}
                    label="Hyperopt jobs"
                    isSorted
                    order={sort && { key: sort, isDescending: order !== 'asc' }}
                    onOrder={({ key, isDescending }) =>
                      change({
                        sort: key as NonNullable<ListSearch['sort']>,
                        order: isDescending ? 'desc' : 'asc',
                      })
                    }
                  />
                </div>
                <PageLinks
                  page={page}
                  cursor={cursor}
                  onCursor={(next) => void navigate({ search: (before) => ({ ...before, cursor: next }) })}
                />
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Filters(props: {
  readonly search: ListSearch;
  readonly onChange: (next: Partial<ListSearch>) => void;
}) {
  const { search, onChange } = props;
  return (
    <div className="filters">
      <SearchBox
        label="Search jobs"
        placeholder="Search"
        value={search.q}
        onChange={(q) => onChange({ q })}
      />
      <StrategyFilter value={search.strategy} onChange={(strategy) => onChange({ strategy })} />
      <StatusFilter value={search.status} onChange={(status) => onChange({ status })} />
    </div>
  );
}
