import { useCallback, useMemo } from 'react';
import { signed, tone, value, withUnit } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, type Order, Table } from '../../ui/table.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { type ReportData, shortPair } from './data.ts';
import { orderOf, orderText, type SearchChange, TABLES, type TableName, useReportSearch } from './search.ts';

type Row = ReportData['tables']['per_pair'][number];
type Period = ReportData['periods']['month'][number];

const TITLES: Readonly<Record<TableName, string>> = {
  pair: 'Pair',
  tag: 'Enter tag',
  reason: 'Exit reason',
  'tag-reason': 'Tag and reason',
  side: 'Side',
  month: 'Month',
  weekday: 'Weekday',
  year: 'Year',
};
const TAB_ITEMS = TABLES.map((key) => ({ key, title: TITLES[key] }));

const GROUPS = {
  pair: 'per_pair',
  tag: 'per_enter_tag',
  reason: 'per_exit_reason',
  'tag-reason': 'per_enter_tag_and_exit_reason',
  side: 'per_side',
} as const;

/** Filter of the trades that a row of a table sets. */
const FILTERS: Readonly<Partial<Record<TableName, (key: string) => SearchChange>>> = {
  pair: (pair) => ({ pair }),
  tag: (tag) => ({ tag }),
  reason: (reason) => ({ reason }),
  side: (side) => ({ side: side as 'long' | 'short' }),
};

function number<T>(
  key: string,
  title: string,
  of: (row: T) => number | null,
  text: (number: number | null) => string,
  isGain = false,
): Column<T> {
  return {
    key,
    title,
    isNumber: true,
    sort: (row) => of(row) ?? Number.NEGATIVE_INFINITY,
    cell: (row) => text(of(row)),
    ...(isGain ? { tone: (row: T) => tone(of(row)) } : {}),
  };
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}

const GROUP_COLUMNS: readonly Column<Row>[] = [
  number(
    'trades',
    'Trades',
    (row) => row.total_trades,
    (n) => value(n, 'count'),
  ),
  number(
    'profit',
    'Profit',
    (row) => row.total_profit,
    (n) => signed(n, 'quote'),
    true,
  ),
  number(
    'profit_pct',
    'Profit, %',
    (row) => row.total_profit_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'mean',
    'Mean, %',
    (row) => row.profit_mean_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'median',
    'Median, %',
    (row) => row.profit_median_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'wins',
    'Wins, %',
    (row) => row.win_rate,
    (n) => value(n, 'percent'),
  ),
  number(
    'factor',
    'Profit factor',
    (row) => row.profit_factor,
    (n) => value(n, 'ratio'),
  ),
  number(
    'best',
    'Best, %',
    (row) => row.best_trade_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'worst',
    'Worst, %',
    (row) => row.worst_trade_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'drawdown',
    'Drawdown, %',
    (row) => row.closed_trade_max_drawdown_pct,
    (n) => value(n, 'percent'),
  ),
  number(
    'duration',
    'Duration',
    (row) => row.avg_duration_minutes,
    (n) => withUnit(n, 'minutes'),
  ),
];

const PERIOD_COLUMNS: readonly Column<Period>[] = [
  number(
    'return',
    'Return, %',
    (row) => row.return_pct,
    (n) => signed(n, 'percent'),
    true,
  ),
  number(
    'profit',
    'Closed profit',
    (row) => row.total_profit,
    (n) => signed(n, 'quote'),
    true,
  ),
  number(
    'trades',
    'Trades',
    (row) => row.total_trades,
    (n) => value(n, 'count'),
  ),
  number(
    'won',
    'Wins',
    (row) => row.winning_trades,
    (n) => value(n, 'count'),
  ),
  number(
    'draws',
    'Draws',
    (row) => row.draws,
    (n) => value(n, 'count'),
  ),
  number(
    'lost',
    'Losses',
    (row) => row.losing_trades,
    (n) => value(n, 'count'),
  ),
  number(
    'wins',
    'Wins, %',
    (row) => row.win_rate,
    (n) => value(n, 'percent'),
  ),
  number(
    'factor',
    'Profit factor',
    (row) => row.profit_factor,
    (n) => value(n, 'ratio'),
  ),
];

/** Trades by pair, tag, reason, side and time. A row of a group filters the trades. */
export function TablesPanel({
  report,
  currency,
}: {
  readonly report: ReportData;
  readonly currency: string;
}) {
  const [{ table = 'pair', by }, change] = useReportSearch();
  const order = useMemo(() => orderOf(by), [by]);
  const onOrder = useCallback((next: Order) => change({ by: orderText(next) }), [change]);
  const onTab = useCallback((key: TableName) => change({ table: key, by: undefined }), [change]);
  return (
    <Panel title={`Trades by group${currency && `, ${currency}`}`}>
      <Tabs items={TAB_ITEMS} selected={table} onSelect={onTab} label="Groups" />
      <TabPanel selected={table} className="report-table">
        {table in GROUPS ? (
          <Groups
            rows={report.tables[GROUPS[table as keyof typeof GROUPS]]}
            table={table}
            order={order}
            onOrder={onOrder}
            change={change}
          />
        ) : (
          <Table
            rows={report.periods[table as 'month' | 'weekday' | 'year']}
            columns={withKey(PERIOD_COLUMNS, table)}
            idOf={keyOf}
            label={`Trades by ${TITLES[table].toLowerCase()}`}
            order={order}
            onOrder={onOrder}
          />
        )}
      </TabPanel>
    </Panel>
  );
}

const withKeys = new Map<string, readonly Column<never>[]>();

/** Columns with the group in front; stable per table, so that rows are not drawn again. */
function withKey<T extends { readonly key: string }>(
  columns: readonly Column<T>[],
  table: TableName,
): readonly Column<T>[] {
  const known = withKeys.get(table) as readonly Column<T>[] | undefined;
  const cell = ({ key }: T) => (table === 'pair' ? shortPair(key) : key);
  const made = known ?? [{ key: 'key', title: TITLES[table], sort: keyOf, cell }, ...columns];
  withKeys.set(table, made as readonly Column<never>[]);
  return made;
}

function Groups(props: {
  readonly rows: readonly Row[];
  readonly table: TableName;
  readonly order: Order | undefined;
  readonly onOrder: (order: Order) => void;
  readonly change: (change: SearchChange) => void;
}) {
  const { rows, table, order, onOrder, change } = props;
  const groups = useMemo(() => rows.filter(({ key }) => key !== 'TOTAL'), [rows]);
  const total = rows.find(({ key }) => key === 'TOTAL');
  const filter = FILTERS[table];
  const onPick = useCallback(({ key }: Row) => filter && change(filter(key)), [filter, change]);
  return (
    <Table
      rows={groups}
      columns={withKey(GROUP_COLUMNS, table)}
      idOf={keyOf}
      label={`Trades by ${TITLES[table].toLowerCase()}`}
      order={order}
      onOrder={onOrder}
      {...(total && groups.length > 1 ? { total } : {})}
      {...(filter ? { onPick } : {})}
    />
  );
}
