import './strategies.css';
import limits from 'virtual:limits';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { FilterSelect, PageLinks, SearchBox } from '../../ui/job-list.tsx';
import { Age, PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ALL_VERSION_COLUMNS } from '../../ui/version-columns.tsx';
import { type CatalogSearch, SORTS, STAGES } from './search.ts';
import { StageBadge } from './stage-badge.tsx';

type Row = ResponseOf<'listCatalog'>['items'][number];

/** Rows of one page of the catalog. */
const LIMIT = 50;

const ALL_COLUMNS: readonly Column<Row>[] = [
  {
    key: 'name',
    title: 'Strategy',
    cell: ({ model_name, version }) => (
      <Link to="/strategies/$name/versions/$version" params={{ name: model_name, version }}>
        {model_name} <span className="muted">v{version}</span>
      </Link>
    ),
  },
  { key: 'stage', title: 'Stage', cell: ({ stage }) => <StageBadge stage={stage} /> },
  ...ALL_VERSION_COLUMNS,
  {
    key: 'market',
    title: 'Market',
    cell: ({ timeframe, pairs }) => (
      <span title={pairs.join(', ')}>
        {timeframe} · {pairs.length === 1 ? pairs[0] : `${pairs.length} pairs`}
      </span>
    ),
  },
  {
    key: 'challenge',
    title: 'Challenge',
    cell: ({ active_challenge_id: id }) =>
      id && (
        <Link to="/challenges/$id" params={{ id }}>
          active
        </Link>
      ),
  },
  { key: 'updated', title: 'Changed', cell: ({ updated_at }) => <Age at={updated_at} /> },
];

const COLUMNS = ALL_COLUMNS.map((column) =>
  // The service sorts: the function only makes the column sortable.
  SORTS.some((each) => each === column.key) ? { ...column, sort: () => 0 } : column,
);

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

/** Fields of the URL to change; undefined removes one. Other filters and orders are another list: it starts at its first page. */
type Change = { readonly [K in keyof CatalogSearch]?: CatalogSearch[K] | undefined };

function useCatalogSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changes: Change) =>
    void navigate({
      search: ({ cursor: _, ...before }) => ({ ...before, ...changes }) as CatalogSearch,
      replace: true,
      resetScroll: false,
    });
  return { search, change };
}

function CatalogFilters() {
  const { search, change } = useCatalogSearch();
  return (
    <div className="pad catalog-filters">
      <SearchBox
        label="Name, description, tag or pair"
        placeholder="Name, tag or pair"
        value={search.search}
        onChange={(value) => change({ search: value })}
      />
      <FilterSelect
        label="Stage"
        all="Every stage"
        values={STAGES}
        value={search.stage}
        onChange={(value) => change({ stage: value })}
      />
      <SearchBox
        label="Exchange"
        placeholder="Exchange"
        value={search.exchange}
        onChange={(value) => change({ exchange: value })}
      />
      <FilterSelect
        label="Timeframe"
        all="All timeframes"
        values={limits.timeframes}
        value={search.timeframe}
        onChange={(value) => change({ timeframe: value })}
      />
      <SearchBox
        label="Sharpe ratio, at least"
        placeholder="Sharpe from"
        value={search.min_sharpe}
        onChange={(value) => change({ min_sharpe: value })}
      />
      <SearchBox
        label="Drawdown in percent, at most"
        placeholder="Drawdown % to"
        value={search.max_drawdown}
        onChange={(value) => change({ max_drawdown: value })}
      />
    </div>
  );
}

function Catalog() {
  const { search, change } = useCatalogSearch();
  const { cursor, ...filters } = search;
  const { sort_field = 'name', sort_order, ...narrowing } = filters;
  const query = useCall('listCatalog', { query: { ...search, limit: LIMIT } }, { keepPrevious: true });
  return (
    <Loaded query={query} skeleton={<Skeleton rows={5} />}>
      {(page) => (
        <>
          {page.items.length > 0 ? (
            <div className="list">
              <Table
                label="Versions in the catalog"
                rows={page.items}
                columns={COLUMNS}
                idOf={({ model_name, version }) => `${model_name} ${version}`}
                order={{ key: sort_field, isDescending: sort_order === 'desc' }}
                isSorted
                onOrder={({ key, isDescending }) =>
                  change({
                    sort_field: SORTS.find((each) => each === key),
                    sort_order: isDescending ? 'desc' : 'asc',
                  })
                }
              />
            </div>
          ) : Object.keys(narrowing).length > 0 ? (
            <Empty title="No version passes these filters">Change or clear them.</Empty>
          ) : (
            <Empty title="No version is in Production or Staging">
              Register a backtest, open its strategy and stage the version.
            </Empty>
          )}
          <PageLinks page={page} cursor={cursor} onCursor={(next) => change({ ...filters, cursor: next })} />
        </>
      )}
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
