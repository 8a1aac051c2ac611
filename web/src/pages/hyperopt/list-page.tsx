import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { Age, PageHead, Panel, Progress, Status } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { objectiveOf } from './objective.ts';
import { type ListSearch, STATUSES } from './search.ts';
import './hyperopt.css';

type Page = ResponseOf<'listHyperopts'>;
type Row = Page['items'][number];

const objectiveOfRow = ({ objective_metric, direction }: Row) => objectiveOf(objective_metric, direction);

const COLUMNS: readonly Column<Row>[] = [
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
    sort: ({ best_value }) => best_value ?? Number.NEGATIVE_INFINITY,
    cell: (row) => objectiveOfRow(row).withUnit(row.best_value),
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
  { key: 'created', title: 'Created', isNumber: true, cell: ({ created_at }) => <Age at={created_at} /> },
];

const isMoving = ({ items }: Page) =>
  items.some(({ status }) => status === 'pending' || status === 'running');

/** Hyperopt jobs, newest first. */
export function HyperoptListPage() {
  const search = useSearch({ from: '/hyperopt' });
  const navigate = useNavigate({ from: '/hyperopt' });
  const { q, strategy, status, sort, order, cursor } = search;
  const query = useCall(
    'listHyperopts',
    {
      query: {
        limit: 50,
        ...{ q, strategy, status, sort, cursor },
        ...(sort ? { sort_order: order ?? 'desc' } : {}),
      },
    },
    { isMoving, keepPrevious: true },
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
      />
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
                <Pages page={page} hasCursor={cursor !== undefined} />
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Pages({ page, hasCursor }: { readonly page: Page; readonly hasCursor: boolean }) {
  const { searched, next_cursor } = page;
  const isPartial = searched && !searched.complete;
  if (!isPartial && !next_cursor && !hasCursor) return null;
  return (
    <footer className="row pad">
      {hasCursor && (
        <Link
          from="/hyperopt"
          to="/hyperopt"
          search={({ cursor: _, ...before }) => before}
          className="btn small"
        >
          First page
        </Link>
      )}
      {next_cursor && (
        <Link
          from="/hyperopt"
          to="/hyperopt"
          search={(before) => ({ ...before, cursor: next_cursor })}
          className="btn small"
        >
          Next page
        </Link>
      )}
      {isPartial && <span className="muted">Search and order cover the newest {searched.jobs} jobs.</span>}
    </footer>
  );
}

/** Milliseconds without a key after which a typed filter applies. */
const TYPING_PAUSE = 300;

function Filters(props: {
  readonly search: ListSearch;
  readonly onChange: (next: Partial<ListSearch>) => void;
}) {
  const { search, onChange } = props;
  const strategies = useCall('listStrategies', {});
  const names = strategies.data?.items.map(({ strategy }) => strategy) ?? [];
  const shown = search.strategy && !names.includes(search.strategy) ? [search.strategy, ...names] : names;
  return (
    <div className="filters">
      <SearchBox key={search.q ? 'set' : 'empty'} value={search.q} onChange={(q) => onChange({ q })} />
      <select
        aria-label="Strategy"
        value={search.strategy ?? ''}
        onChange={({ target }) => onChange({ strategy: target.value || undefined })}
      >
        <option value="">All strategies</option>
        {shown.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Status"
        value={search.status ?? ''}
        onChange={({ target }) => onChange({ status: (target.value || undefined) as ListSearch['status'] })}
      >
        <option value="">Every status</option>
        {STATUSES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </div>
  );
}

function SearchBox(props: {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const { value, onChange } = props;
  const [typed, setTyped] = useState(value ?? '');
  useEffect(() => {
    if (typed.trim() === (value ?? '')) return;
    const timer = setTimeout(() => onChange(typed.trim() || undefined), TYPING_PAUSE);
    return () => clearTimeout(timer);
  });
  return (
    <input
      type="search"
      placeholder="Search"
      aria-label="Search jobs"
      maxLength={200}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}
