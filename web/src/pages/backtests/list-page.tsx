import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Columns3, GitCompareArrows, Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { isAnyMoving } from '../../api/jobs.ts';
import { useCall } from '../../api/queries.ts';
import { ColumnsDialog, useShownColumns } from '../../ui/columns.tsx';
import {
  FilterSelect,
  JobCount,
  PageLinks,
  SearchBox,
  StatusFilter,
  StrategyFilter,
} from '../../ui/job-list.tsx';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { COMPARED, idsOf, idsText } from '../../ui/run-ids.ts';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Order, Table } from '../../ui/table.tsx';
import { COLUMN_KEYS, COLUMNS, DEFAULT_COLUMNS, SORTS, tableColumns } from './columns.tsx';
import { ListContext, type RowDialog } from './context.ts';
import type { ListQuery, Page, Row, Sort } from './data.ts';
import { RowDialogs } from './dialogs.tsx';
import type { ListSearch } from './search.ts';
import './backtests.css';

/** Backtests on a page of the list. */
const PAGE_SIZE = 50;

function filtersOf({ q, strategy, status, experiment, pinned }: ListSearch): ListQuery {
  return {
    q,
    strategy,
    status,
    experiment_name: experiment,
    ...(pinned ? { pinned } : {}),
  };
}

/** Order of the list: newest first unless the URL names another one that the service knows. */
function orderOf({ sort, order }: ListSearch): Order & { readonly key: Sort } {
  const key = SORTS.find((each) => each === sort) ?? 'created_at';
  return { key, isDescending: order !== 'asc' };
}

function queryOf(search: ListSearch): ListQuery {
  const { key, isDescending } = orderOf(search);
  const isDefault = key === 'created_at' && isDescending;
  return {
    ...filtersOf(search),
    limit: PAGE_SIZE,
    cursor: search.cursor,
    ...(isDefault ? {} : { sort: key, sort_order: isDescending ? 'desc' : 'asc' }),
  };
}

/**
 * Backtests: found, looked at, noted and picked for a comparison.
 * Long because it is the markup of the page: filters, table and bar of the picked ones.
 */
export function BacktestsPage() {
  const search = useSearch({ from: '/backtests' });
  const navigate = useNavigate({ from: '/backtests' });
  const [shown, setShown] = useShownColumns('backtests', COLUMN_KEYS, DEFAULT_COLUMNS);
  const [dialog, setDialog] = useState<RowDialog | 'columns'>();
  const list = useCall(
    'listBacktests',
    { query: queryOf(search) },
    { isMoving: isAnyMoving, keepPrevious: true },
  );
  const change = (next: Partial<ListSearch>, isSamePage = false) =>
    void navigate({
      search: ({ cursor, ...before }) => ({ ...before, ...(isSamePage ? { cursor } : {}), ...next }),
      replace: true,
      resetScroll: false,
    });
  const picked = idsOf(search.picked);
  const state = {
    picked,
    onPick: (id: string) => {
      const next = picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id];
      change({ picked: idsText(next) }, true);
    },
    onDialog: setDialog,
  };
  return (
    <ListContext value={state}>
      <PageHead
        title="Backtests"
        actions={
          <>
            <PickedActions picked={picked} onClear={() => change({ picked: undefined }, true)} />
            <Link to="/backtests/new" className="btn primary">
              <Plus aria-hidden="true" /> New backtest
            </Link>
          </>
        }
      >
        <JobCount operation="listBacktests" filters={filtersOf(search)} noun="backtest" />
      </PageHead>
      <Panel
        title="Runs"
        actions={<Tools search={search} onChange={change} onColumns={() => setDialog('columns')} />}
      >
        <Loaded query={list} skeleton={<Skeleton rows={14} />}>
          {(page) =>
            page.items.length === 0 ? (
              <NoRows search={search} />
            ) : (
              <Rows
                page={page}
                shown={shown}
                search={search}
                onOrder={({ key, isDescending }) =>
                  change({ sort: key, order: isDescending ? 'desc' : 'asc' })
                }
                onCursor={(cursor) => void navigate({ search: (before) => ({ ...before, cursor }) })}
              />
            )
          }
        </Loaded>
      </Panel>
      {dialog === 'columns' ? (
        <ColumnsDialog
          columns={COLUMNS}
          shown={shown}
          onChange={setShown}
          onClose={() => setDialog(undefined)}
        />
      ) : (
        dialog && <RowDialogs dialog={dialog} onClose={() => setDialog(undefined)} />
      )}
    </ListContext>
  );
}

function PickedActions(props: { readonly picked: readonly string[]; readonly onClear: () => void }) {
  const { picked, onClear } = props;
  const isReady = picked.length >= COMPARED.min;
  return (
    <>
      {picked.length > 0 && (
        <button type="button" className="btn plain" onClick={onClear}>
          Clear the picks
        </button>
      )}
      {isReady ? (
        <Link to="/compare" search={{ ids: idsText(picked)! }} className="btn">
          <GitCompareArrows aria-hidden="true" /> Compare {picked.length}
        </Link>
      ) : (
        <button type="button" className="btn" aria-disabled title="Pick at least two runs">
          <GitCompareArrows aria-hidden="true" /> Compare {picked.length}
        </button>
      )}
    </>
  );
}

function Tools(props: {
  readonly search: ListSearch;
  readonly onChange: (next: Partial<ListSearch>, isSamePage?: boolean) => void;
  readonly onColumns: () => void;
}) {
  const { search, onChange } = props;
  return (
    <>
      <div className="filters">
        <SearchBox
          label="Search backtests"
          placeholder="Search"
          value={search.q}
          onChange={(q) => onChange({ q })}
        />
        <StrategyFilter value={search.strategy} onChange={(strategy) => onChange({ strategy })} />
        <StatusFilter value={search.status} onChange={(status) => onChange({ status })} />
        <ExperimentFilter value={search.experiment} onChange={(experiment) => onChange({ experiment })} />
      </div>
      <div className="row">
        <Toggle label="Pinned" isOn={search.pinned} onChange={(pinned) => onChange({ pinned })} />
        <Toggle
          label="Varying only"
          title="Hide columns that are equal in all rows"
          isOn={search.varying}
          onChange={(varying) => onChange({ varying }, true)}
        />
        <button type="button" className="btn small" onClick={props.onColumns}>
          <Columns3 aria-hidden="true" /> Columns
        </button>
      </div>
    </>
  );
}

/** Experiments of the caller; the newest first. */
function ExperimentFilter(props: {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const { data } = useCall('listExperiments', { query: { limit: 100 } });
  const names = data?.items.map(({ name }) => name) ?? [];
  return <FilterSelect label="Experiment" all="All experiments" values={names} {...props} />;
}

function Toggle(props: {
  readonly label: string;
  readonly title?: string;
  readonly isOn: true | undefined;
  readonly onChange: (isOn: true | undefined) => void;
}) {
  const { label, title, isOn, onChange } = props;
  return (
    <button
      type="button"
      className="btn small"
      title={title}
      aria-pressed={isOn === true}
      onClick={() => onChange(isOn ? undefined : true)}
    >
      {label}
    </button>
  );
}

function Rows(props: {
  readonly page: Page;
  readonly shown: readonly string[];
  readonly search: ListSearch;
  readonly onOrder: (order: Order) => void;
  readonly onCursor: (cursor: string | undefined) => void;
}) {
  const { page, shown, search } = props;
  const { items } = page;
  const onlyVarying = search.varying === true;
  const { columns, equal } = useMemo(
    () => tableColumns(shown, items, onlyVarying),
    [shown, items, onlyVarying],
  );
  return (
    <div className="list backtest-list">
      <Table
        rows={items}
        columns={columns}
        idOf={idOf}
        label="Backtests"
        isSorted
        order={orderOf(search)}
        onOrder={props.onOrder}
      />
      {equal.length > 0 && (
        <p className="pad muted">Equal in all rows: {equal.map(({ title }) => title).join(', ')}.</p>
      )}
      <PageLinks page={page} cursor={search.cursor} onCursor={props.onCursor} />
    </div>
  );
}

function idOf({ job_id }: Row): string {
  return job_id;
}

function NoRows({ search }: { readonly search: ListSearch }) {
  const isFiltered = Object.values(filtersOf(search)).some((each) => each !== undefined);
  if (search.cursor !== undefined || isFiltered) {
    return (
      <Empty title="No backtest passes these filters">
        <Link to="/backtests" search={search.picked ? { picked: search.picked } : {}} className="btn">
          Clear the filters
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No backtest yet">
      <Link to="/backtests/new" className="btn">
        Run a strategy on stored candles
      </Link>
    </Empty>
  );
}
