import { ArrowLeft, ArrowRight, X } from 'lucide-react';
import { useCallback, useEffect, useMemo } from 'react';
import { formatCount } from '#contract/values/format-count.ts';
import { SelectField } from '../../forms/choices.tsx';
import { decimal, signed, value } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, ErrorState, Skeleton } from '../../ui/states.tsx';
import { type Order, sortRows, VirtualTable } from '../../ui/table.tsx';
import { present } from '../../ui/url.ts';
import { CandlesPanel } from './candles-panel.tsx';
import type { Job, ReportData } from './data.ts';
import { DistributionChart } from './distribution-chart.tsx';
import { orderOf, orderText, type ReportSearch, type SearchChange, useReportSearch } from './search.ts';
import { TRADE_COLUMNS } from './trade-columns.tsx';
import { filterTrades, groupsOf, type TradeRow, useTrades } from './trades.ts';

const idOf = ({ id }: TradeRow) => id;
const FIRST_ORDER: Order = { key: 'id', isDescending: false };

/** Candles, distribution and table of the trades: one selection, kept in the URL. Long because its three panels share one selection. */
export function TradesSection(props: {
  readonly job: Job;
  readonly report: ReportData;
  readonly currency: string;
}) {
  const { job, report, currency } = props;
  const [search, change] = useReportSearch();
  const total = report.metrics.closed_trades.total_trades;
  const { rows, error, retry } = useTrades(job.job_id, total);
  const { pair, side, reason, tag, sort } = search;
  const filtered = useMemo(
    () => rows && filterTrades(rows, present({ pair, side, reason, tag }), report.tables),
    [rows, pair, side, reason, tag, report],
  );
  const order = useMemo(() => orderOf(sort) ?? FIRST_ORDER, [sort]);
  const sorted = useMemo(() => filtered && sortRows(filtered, TRADE_COLUMNS, order), [filtered, order]);
  const selected = search.trade === undefined ? undefined : rows?.[search.trade - 1];
  const step = useTradeSteps(sorted, search.trade, change);
  const onPick = useCallback(({ id, pair: of }: TradeRow) => change({ trade: id, chart: of }), [change]);
  const onOrder = useCallback((next: Order) => change({ sort: orderText(next) }), [change]);
  if (total === 0) {
    return (
      <Panel title="Trades">
        <Empty title="This backtest made no trade">{noTradeText(report)}</Empty>
      </Panel>
    );
  }
  if (error) {
    return (
      <Panel title="Trades">
        <ErrorState error={error} onRetry={retry} />
      </Panel>
    );
  }
  return (
    <>
      <div className="report-beside">
        <CandlesPanel
          job={job}
          report={report}
          trades={rows}
          selected={selected}
          actions={<StepButtons step={step} selected={selected} />}
        />
        <Panel
          title={`Trades${currency && `, ${currency}`}`}
          actions={
            <span className="muted" role="status">
              {sorted ? countText(sorted, total, currency) : 'Loading'}
            </span>
          }
        >
          <Filters report={report} search={search} change={change} />
          {sorted ? (
            <div className="report-trades">
              {sorted.length > 0 ? (
                <VirtualTable
                  rows={sorted}
                  columns={TRADE_COLUMNS}
                  idOf={idOf}
                  label="List of trades"
                  order={order}
                  onOrder={onOrder}
                  isSorted
                  selected={search.trade}
                  onPick={onPick}
                />
              ) : (
                <Empty title="No trade matches the filters">Clear them, or choose others.</Empty>
              )}
            </div>
          ) : (
            <Skeleton rows={12} className="report-trades" />
          )}
        </Panel>
      </div>
      <section className="panel" aria-label="Distribution of the results">
        {filtered?.length ? (
          <DistributionChart rows={filtered} />
        ) : filtered ? (
          <div className="report-skeleton-medium">
            <Empty title="No results to show" />
          </div>
        ) : (
          <Skeleton rows={7} className="report-skeleton-medium" />
        )}
      </section>
    </>
  );
}

function noTradeText({ data }: ReportData): string {
  const signals = data.reduce((sum, each) => sum + each.enter_long_signals + each.enter_short_signals, 0);
  return signals === 0
    ? 'The entry conditions were never met. Widen the range, or change the parameters of the strategy.'
    : `The strategy gave ${formatCount(signals, 'entry signal')}, and none became a trade. See the warnings, the stake, the number of open trades and “Orders” in all figures.`;
}

function countText(shown: readonly TradeRow[], total: number, currency: string): string {
  const profit = shown.reduce((sum, row) => sum + row.profit, 0);
  const count =
    shown.length === total
      ? value(total, 'count')
      : `${value(shown.length, 'count')} of ${value(total, 'count')}`;
  return `${count}, ${signed(profit, 'quote')} ${currency}`.trimEnd();
}

interface Steps {
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}

/** The trades before and after the selected one in the order of the table; keys P and N go there. */
function useTradeSteps(
  sorted: readonly TradeRow[] | undefined,
  trade: number | undefined,
  change: (change: SearchChange) => void,
): Steps {
  const steps = useMemo((): Steps => {
    const at = sorted?.findIndex(({ id }) => id === trade) ?? -1;
    const to = (index: number) => {
      const row = sorted?.[index];
      return row && (() => change({ trade: row.id, chart: row.pair }));
    };
    return { previous: at > 0 ? to(at - 1) : undefined, next: to(at + 1) };
  }, [sorted, trade, change]);
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: globalThis.KeyboardEvent) => {
      const isTyping =
        target instanceof HTMLElement && target.matches('input, select, textarea, dialog, dialog *');
      if (isTyping || ctrlKey || metaKey || altKey) return;
      if (key === 'p') steps.previous?.();
      if (key === 'n') steps.next?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [steps]);
  return steps;
}

function StepButtons({ step, selected }: { readonly step: Steps; readonly selected: TradeRow | undefined }) {
  return (
    <>
      <button
        type="button"
        className="btn small"
        aria-keyshortcuts="P"
        aria-label="Previous trade (P)"
        title="Previous trade (P)"
        disabled={!step.previous}
        onClick={step.previous}
      >
        <ArrowLeft aria-hidden="true" />
      </button>
      <span className="report-trade-number">{selected ? `#${decimal(selected.id, 0)}` : 'no trade'}</span>
      <button
        type="button"
        className="btn small"
        aria-keyshortcuts="N"
        aria-label="Next trade (N)"
        title="Next trade (N)"
        disabled={!step.next}
        onClick={step.next}
      >
        <ArrowRight aria-hidden="true" />
      </button>
    </>
  );
}

function Filters(props: {
  readonly report: ReportData;
  readonly search: ReportSearch;
  readonly change: (change: SearchChange) => void;
}) {
  const { report, search, change } = props;
  const { per_pair, per_side, per_exit_reason, per_enter_tag } = report.tables;
  const isFiltered = Boolean(search.pair || search.side || search.reason || search.tag);
  return (
    <div className="report-filters">
      <SelectField
        label="Pair"
        path="pair"
        placeholder="All"
        value={search.pair}
        options={optionsOf(per_pair)}
        onChange={(pair) => change({ pair })}
      />
      <SelectField
        label="Side"
        path="side"
        placeholder="All"
        value={search.side}
        options={optionsOf(per_side)}
        onChange={(side) => change({ side: side as ReportSearch['side'] })}
      />
      <SelectField
        label="Exit reason"
        path="exit_reason"
        placeholder="All"
        value={search.reason}
        options={optionsOf(per_exit_reason)}
        onChange={(reason) => change({ reason })}
      />
      <SelectField
        label="Enter tag"
        path="enter_tag"
        placeholder="All"
        value={search.tag}
        options={optionsOf(per_enter_tag)}
        onChange={(tag) => change({ tag })}
      />
      <button
        type="button"
        className="btn"
        disabled={!isFiltered}
        onClick={() => change({ pair: undefined, side: undefined, reason: undefined, tag: undefined })}
      >
        <X aria-hidden="true" /> Clear
      </button>
    </div>
  );
}

/** Groups of a table by name. */
function optionsOf(table: ReportData['tables']['per_pair']) {
  const keys = groupsOf(table).map(({ key }) => key);
  return keys.sort().map((value) => ({ value }));
}
