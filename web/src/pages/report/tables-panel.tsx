import { useCallback, useMemo } from 'react';
import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { MIN_TRADES_WITHOUT_LOSSES, noProfitFactor } from '#contract/values/undefined-metrics.ts';
import { shortPair, signed, tone, value, withUnit } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, type Order, Table } from '../../ui/table.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { oneOf } from '../../ui/url.ts';
import type { ReportData } from './data.ts';
import { orderOf, orderText, TABLES, type TableName, useReportSearch } from './search.ts';
import { groupsOf } from './trades.ts';

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

/** Tables whose rows filter the trades; a second click removes the filter. */
const FILTERS = ['pair', 'tag', 'reason', 'side'] as const;

type NumberKey<T> = { [K in keyof T & string]: T[K] extends number | null ? K : never }[keyof T & string];

function number<T>(key: NumberKey<T>, title: string, unit: MetricUnit): Column<T> {
  const of = (row: T) => row[key] as number | null;
  return {
    key,
    title,
    isNumber: true,
    sort: of,
    cell: (row) => (unit === 'minutes' ? withUnit(of(row), unit) : value(of(row), unit)),
  };
}

/** A number whose sign says whether it is a gain. */
function gain<T>(key: NumberKey<T>, title: string, unit: MetricUnit): Column<T> {
  const of = (row: T) => row[key] as number | null;
  return { ...number(key, title, unit), cell: (row) => signed(of(row), unit), tone: (row) => tone(of(row)) };
}

type Factor = Pick<Row, 'profit_factor' | 'total_trades' | 'winning_trades'>;

/** A profit factor. Without losses it is infinite in the order of the rows, from enough trades on. */
function profitFactor<T extends Factor>(): Column<T> {
  return {
    ...number<Factor>('profit_factor', 'Profit factor', 'ratio'),
    sort: ({ profit_factor, total_trades, winning_trades }) =>
      profit_factor === null && winning_trades > 0 && total_trades >= MIN_TRADES_WITHOUT_LOSSES
        ? Number.POSITIVE_INFINITY
        : profit_factor,
    cell: (row) => noProfitFactor(row) ?? value(row.profit_factor, 'ratio'),
  };
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}

const GROUP_COLUMNS: readonly Column<Row>[] = [
  number('total_trades', 'Trades', 'count'),
  gain('total_profit', 'Profit', 'quote'),
  gain('total_profit_pct', 'Profit, %', 'percent'),
  gain('profit_mean_pct', 'Mean, %', 'percent'),
  gain('profit_median_pct', 'Median, %', 'percent'),
  number('win_rate', 'Wins, %', 'percent'),
  profitFactor(),
  gain('best_trade_pct', 'Best, %', 'percent'),
  gain('worst_trade_pct', 'Worst, %', 'percent'),
  number('closed_trade_max_drawdown_pct', 'Drawdown, %', 'percent'),
  number('avg_duration_minutes', 'Duration', 'minutes'),
];

const PERIOD_COLUMNS: readonly Column<Period>[] = [
  gain('return_pct', 'Return, %', 'percent'),
  gain('total_profit', 'Closed profit', 'quote'),
  number('total_trades', 'Trades', 'count'),
  number('winning_trades', 'Wins', 'count'),
  number('draws', 'Draws', 'count'),
  number('losing_trades', 'Losses', 'count'),
  number('win_rate', 'Wins, %', 'percent'),
  profitFactor(),
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
}) {
  const { rows, table, order, onOrder } = props;
  const [search, change] = useReportSearch();
  const groups = useMemo(() => groupsOf(rows), [rows]);
  const total = rows.at(-1);
  const field = oneOf(FILTERS, table);
  const selected = field && search[field];
  const onPick = useCallback(
    ({ key }: Row) => field && change({ [field]: key === selected ? undefined : key }),
    [field, selected, change],
  );
  return (
    <Table
      rows={groups}
      columns={withKey(GROUP_COLUMNS, table)}
      idOf={keyOf}
      label={`Trades by ${TITLES[table].toLowerCase()}`}
      order={order}
      onOrder={onOrder}
      {...(total && groups.length > 1 ? { total } : {})}
      selected={selected}
      {...(field ? { onPick } : {})}
    />
  );
}
