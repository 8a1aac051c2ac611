import { Link } from '@tanstack/react-router';
import { formatCount } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import type { ResponseOf } from '../../api/client.ts';
import { decimal, shortSymbol, sizeText, utcTime } from '../../ui/format.ts';
import { CopyButton, Panel } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Report = NonNullable<ResponseOf<'getImport'>['report']>;
type Series = Report['series'][number];
type Kind = Report['recognized'][number];
type Rejected = Report['rejected'][number];
type Note = Report['notes'][number];
type Row = Report['previews'][number]['rows'][number];

/** Series whose first rows are open. */
const OPEN_PREVIEWS = 1;

const KIND_COLUMNS: readonly Column<Kind>[] = [
  {
    key: 'recognizer',
    title: 'Recognized',
    cell: ({ recognizer }) => recognizer || <span className="muted">not recognized</span>,
  },
  {
    key: 'content',
    title: 'Content',
    cell: ({ content, market }) => [content, market].filter(Boolean).join(', '),
  },
  {
    key: 'symbols',
    title: 'Symbols',
    cell: ({ symbols, symbol_count }) => listNames(symbols, { count: symbol_count }),
  },
  { key: 'timeframes', title: 'Timeframes', cell: ({ timeframes }) => timeframes.join(', ') },
  { key: 'format', title: 'Format', isWideOnly: true, cell: ({ format }) => format },
  { key: 'files', title: 'Files', isNumber: true, cell: ({ files }) => decimal(files, 0) },
  { key: 'bytes', title: 'Size', isNumber: true, isWideOnly: true, cell: ({ bytes }) => sizeText(bytes) },
];

const nameOf = ({ symbol, series }: Series) => `${shortSymbol(symbol)} ${series}`;

/** The series, and the way to it once it is stored. */
function SeriesName({ series }: { readonly series: Series }) {
  const { exchange, symbol, series: timeframe, stored } = series;
  const isStored = stored !== null && timeframe !== 'funding';
  return (
    <>
      {isStored ? (
        <Link to="/data" search={{ exchange, series: `${symbol} ${timeframe}` }}>
          {nameOf(series)}
        </Link>
      ) : (
        nameOf(series)
      )}{' '}
      <span className="muted">{exchange}</span>
    </>
  );
}

const SERIES: Column<Series> = {
  key: 'series',
  title: 'Series',
  cell: (series) => <SeriesName series={series} />,
};
const ROWS: Column<Series> = {
  key: 'rows',
  title: 'Rows',
  isNumber: true,
  cell: ({ rows }) => decimal(rows, 0),
};
const RANGE: Column<Series> = {
  key: 'range',
  title: 'First and last (UTC)',
  cell: ({ first, last }) => (
    <>
      <span className="import-time">{utcTime(first)}</span> to{' '}
      <span className="import-time">{utcTime(last)}</span>
    </>
  ),
};
const count = (
  key: 'files' | 'stored' | 'gaps' | 'missing' | 'duplicates',
  title: string,
): Column<Series> => ({
  key,
  title,
  isNumber: true,
  isWideOnly: key === 'files' || key === 'duplicates',
  cell: (series) => {
    const value = series[key];
    return value === null ? '–' : decimal(value, 0);
  },
});

const READ_COLUMNS = [SERIES, count('files', 'Files'), ROWS, RANGE, count('duplicates', 'Duplicates')];
const STORED_COLUMNS = [
  SERIES,
  count('files', 'Files'),
  ROWS,
  count('stored', 'Stored'),
  RANGE,
  count('gaps', 'Gaps'),
  count('missing', 'Missing'),
  count('duplicates', 'Duplicates'),
];

const REJECTED_COLUMNS: readonly Column<Rejected>[] = [
  {
    key: 'outcome',
    title: 'Result',
    cell: ({ outcome }) => (
      <span className="badge" data-tone={outcome === 'failed' ? 'down' : undefined}>
        {outcome}
      </span>
    ),
  },
  { key: 'reason', title: 'Reason', cell: ({ reason }) => reason },
  {
    key: 'names',
    title: 'Files',
    cell: ({ names, files }) => listNames(names, { count: files }),
  },
  { key: 'bytes', title: 'Size', isNumber: true, isWideOnly: true, cell: ({ bytes }) => sizeText(bytes) },
];

const NOTE_COLUMNS: readonly Column<Note>[] = [
  { key: 'note', title: 'Note', cell: ({ note }) => note },
  { key: 'names', title: 'Files', cell: ({ names, files }) => listNames(names, { count: files }) },
];

const VALUES = ['Open', 'High', 'Low', 'Close', 'Volume'];
const ROW_COLUMNS: readonly Column<Row>[] = [
  { key: 'time', title: 'Time (UTC)', cell: ([time]) => utcTime(time!) },
  ...VALUES.map((title, index) => ({
    key: title,
    title,
    isNumber: true,
    cell: (row: Row) => String(row[index + 1]),
  })),
];

/** What to do with the candles that were stored. */
export function NextSteps({ report }: { readonly report: Report }) {
  const { files, imported_files: good, series_count: series } = report;
  return (
    <>
      <p className="notice" data-tone={good === 0 ? 'down' : good < files ? 'warn' : 'up'} role="status">
        {formatCount(series, 'series', 'series')} of {formatCount(good, 'file')} stored.
        {good < files && ` ${formatCount(files - good, 'file')} not, for the reasons below.`}
      </p>
      {report.next.length > 0 && (
        <ul className="stack">
          {report.next.map((command) => (
            <li key={command} className="data-command">
              <span className="muted">A backtest on them</span>
              <code>{command}</code>
              <CopyButton text={command} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The tables of an import or of its preview. Long because it is their list. */
export function ImportReport({ report }: { readonly report: Report }) {
  const { series, series_count, previews, rejected, notes, recognized, dry_run } = report;
  return (
    <>
      {rejected.length > 0 && (
        <Panel title={dry_run ? 'Not to be imported' : 'Not imported'}>
          <div className="import-table">
            <Table
              rows={rejected}
              columns={REJECTED_COLUMNS}
              idOf={({ outcome, reason }) => `${outcome} ${reason}`}
              label="Files by reason"
            />
          </div>
        </Panel>
      )}
      {series.length > 0 && (
        <Panel
          title={dry_run ? 'Series in the files' : 'Series that were stored'}
          actions={
            series_count > series.length && (
              <span className="warn">
                The first {decimal(series.length, 0)} of {decimal(series_count, 0)}
              </span>
            )
          }
        >
          <div className="import-table">
            <Table
              rows={series}
              columns={dry_run ? READ_COLUMNS : STORED_COLUMNS}
              idOf={(each) => `${each.exchange} ${each.symbol} ${each.series}`}
              label="List of series"
            />
          </div>
        </Panel>
      )}
      {previews.length > 0 && (
        <Panel title="First rows, as they would be stored">
          {previews.map((each, index) => (
            <details
              key={`${each.exchange} ${each.symbol} ${each.timeframe}`}
              className="import-rows"
              open={index < OPEN_PREVIEWS}
            >
              <summary>
                {shortSymbol(each.symbol)} {each.timeframe} <span className="muted">{each.exchange}</span>
              </summary>
              <Table
                rows={each.rows}
                columns={ROW_COLUMNS}
                idOf={([time]) => time!}
                label={`First rows of ${each.symbol} ${each.timeframe}`}
              />
            </details>
          ))}
        </Panel>
      )}
      {notes.length > 0 && (
        <Panel title="Notes">
          <div className="import-table">
            <Table rows={notes} columns={NOTE_COLUMNS} idOf={({ note }) => note} label="Notes by file" />
          </div>
        </Panel>
      )}
      <Panel title="Recognized files">
        <div className="import-table">
          <Table
            rows={recognized}
            columns={KIND_COLUMNS}
            idOf={(kind) => JSON.stringify([kind.recognizer, kind.content, kind.market, kind.format])}
            label="Files by kind"
          />
        </div>
      </Panel>
    </>
  );
}
