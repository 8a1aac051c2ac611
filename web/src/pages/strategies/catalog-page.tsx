import './strategies.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { SelectField } from '../../forms/choices.tsx';
import { NumberField, TextField } from '../../forms/inputs.tsx';
import { signed, tone, value } from '../../ui/format.ts';
import { Age, PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, type Order, Table } from '../../ui/table.tsx';
import type { CatalogSearch } from './search.ts';
import { StageBadge } from './stage-badge.tsx';

type Row = ResponseOf<'listCatalog'>['items'][number];

/** Rows of one page of the catalog. */
const LIMIT = 100;

const COLUMNS: readonly Column<Row>[] = [
  {
    key: 'name',
    title: 'Strategy',
    sort: ({ name }) => name,
    cell: ({ model_name, version }) => (
      <Link to="/strategies/$name/versions/$version" params={{ name: model_name, version }}>
        {model_name} <span className="muted">v{version}</span>
      </Link>
    ),
  },
  { key: 'stage', title: 'Stage', cell: ({ stage }) => <StageBadge stage={stage} /> },
  {
    key: 'profit',
    title: 'Profit %',
    isNumber: true,
    tone: ({ metrics }) => tone(metrics.total_profit_pct),
    cell: ({ metrics }) => signed(metrics.total_profit_pct, 'percent'),
  },
  {
    key: 'drawdown',
    title: 'Drawdown %',
    isNumber: true,
    sort: ({ metrics }) => metrics.max_drawdown_pct,
    cell: ({ metrics }) => value(metrics.max_drawdown_pct, 'percent'),
  },
  {
    key: 'sharpe',
    title: 'Sharpe',
    isNumber: true,
    sort: ({ metrics }) => metrics.sharpe_ratio,
    cell: ({ metrics }) => value(metrics.sharpe_ratio, 'ratio'),
  },
  {
    key: 'factor',
    title: 'Profit factor',
    isNumber: true,
    cell: ({ metrics }) => value(metrics.profit_factor, 'ratio'),
  },
  {
    key: 'trades',
    title: 'Trades',
    isNumber: true,
    cell: ({ metrics }) => value(metrics.total_trades, 'count'),
  },
  {
    key: 'market',
    title: 'Market',
    cell: ({ exchange, timeframe, pairs }) => (
      <span title={pairs.join(', ')}>
        {exchange} · {timeframe} · {pairs.length === 1 ? pairs[0] : `${pairs.length} pairs`}
      </span>
    ),
  },
  {
    key: 'challenge',
    title: 'Challenge',
    cell: ({ active_challenge_id }) => active_challenge_id && <code>{active_challenge_id}</code>,
  },
  { key: 'updated', title: 'Changed', cell: ({ updated_at }) => <Age at={updated_at} /> },
];

/** Versions in Production and Staging, with the filters and orders of the API; and the strategies that have none. */
export function CatalogPage() {
  return (
    <>
      <PageHead title="Strategies" />
      <Panel title="Catalog">
        <CatalogFilters />
        <Catalog />
      </Panel>
      <Panel title="Strategy configurations">
        <Configurations />
      </Panel>
    </>
  );
}

const route = getRouteApi('/strategies');

function useCatalogSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changes: Partial<CatalogSearch>) =>
    navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  return { search, change };
}

function CatalogFilters() {
  const { search, change } = useCatalogSearch();
  const number = (text: unknown) => (text === undefined ? undefined : Number(text));
  const textOf = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return (
    <div className="fields pad catalog-filters">
      <TextField
        label="Search"
        path="search"
        placeholder="Name, description, tag or pair"
        value={search.search}
        onChange={(value) => change({ search: value })}
      />
      <SelectField
        label="Stage"
        path="stage"
        placeholder="Production and Staging"
        options={[{ value: 'Production' }, { value: 'Staging' }]}
        value={search.stage}
        onChange={(value) => change({ stage: value })}
      />
      <TextField
        label="Exchange"
        path="exchange"
        placeholder="All"
        value={search.exchange}
        onChange={(value) => change({ exchange: value })}
      />
      <TextField
        label="Timeframe"
        path="timeframe"
        placeholder="All"
        value={search.timeframe}
        onChange={(value) => change({ timeframe: value })}
      />
      <NumberField
        label="Sharpe ratio at least"
        path="min_sharpe"
        value={number(search.min_sharpe)}
        onChange={(value) => change({ min_sharpe: textOf(value) })}
      />
      <NumberField
        label="Drawdown at most, %"
        path="max_drawdown"
        value={number(search.max_drawdown)}
        onChange={(value) => change({ max_drawdown: textOf(value) })}
      />
    </div>
  );
}

function Catalog() {
  const { search, change } = useCatalogSearch();
  const query = useCall('listCatalog', { query: { ...search, limit: LIMIT } }, { keepPrevious: true });
  const order: Order = { key: search.sort_field ?? 'name', isDescending: search.sort_order === 'desc' };
  return (
    <Loaded query={query} skeleton={<Skeleton rows={5} />}>
      {({ items, total }) =>
        items.length === 0 ? (
          <Empty title="No version passes these filters">
            A version appears here when it is staged: open its strategy, then stage it.
          </Empty>
        ) : (
          <>
            <Table
              label="Versions in the catalog"
              rows={items}
              columns={COLUMNS}
              idOf={({ model_name, version }) => `${model_name} ${version}`}
              order={order}
              isSorted
              onOrder={({ key, isDescending }) =>
                change({
                  sort_field: key as CatalogSearch['sort_field'],
                  sort_order: isDescending ? 'desc' : 'asc',
                })
              }
            />
            {total > items.length && (
              <p className="muted pad">
                {items.length} of {total} versions: narrow the filters to see the others.
              </p>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Configurations() {
  const query = useCall('listStrategies', {});
  return (
    <Loaded query={query} skeleton={<Skeleton rows={6} />}>
      {({ items, broken }) => (
        <>
          {broken.map(({ file, line, error }) => (
            <p key={file} className="notice" data-tone="down">
              <code>{line === null ? file : `${file}:${line}`}</code> cannot be used: {error}
            </p>
          ))}
          <ul className="configurations">
            {items.map(({ strategy, description }) => (
              <li key={strategy}>
                <Link to="/strategies/$name" params={{ name: strategy }}>
                  {strategy}
                </Link>
                <span className="muted">{description}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}
