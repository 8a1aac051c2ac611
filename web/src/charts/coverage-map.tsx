import { useVirtualizer } from '@tanstack/react-virtual';
import { CircleCheck, ClockAlert } from 'lucide-react';
import { memo, useLayoutEffect, useMemo, useRef } from 'react';
import type { StoredSeries } from '../api/coverage.ts';
import { shortSymbol } from '../ui/format.ts';
import { Age } from '../ui/parts.tsx';
import {
  type CoverCell,
  type CoverState,
  cellOf,
  closedAt,
  isStale,
  monthsOf,
  monthText,
  rowText,
  type StoredMonth,
} from './coverage.ts';
import './coverage.css';

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Pixels; of the CSS. */
const ROW_HEIGHT = 28;
/** Pixels of the columns: with fixed widths, rows that come into view do not lay out the whole table. */
const WIDTHS = { series: 150, last: 116, month: 28 } as const;
/** Columns before the months. */
const FACTS = 2;

/** Id of a series in the map. */
export const idOfSeries = ({ symbol, timeframe }: Pick<StoredSeries, 'symbol' | 'timeframe'>) =>
  `${symbol} ${timeframe}`;

/**
 * Coverage of series by month: a row each, the newest months in view. Only rows in view are in the document.
 * Long because it is the markup of one grid: axis, rows and their cells.
 *
 * @param isTable each month is a cell with its numbers for assistive technology; else the months of a row are one picture
 * @param now time for the freshness, ms
 */
export function CoverageMap(props: {
  readonly series: readonly StoredSeries[];
  readonly isTable: boolean;
  readonly onTable: () => void;
  readonly selected: string | undefined;
  readonly onSelect: (series: StoredSeries) => void;
  readonly now: number;
}) {
  const { series, isTable, onTable, selected, onSelect, now } = props;
  const box = useRef<HTMLElement>(null);
  const months = useMemo(() => monthsOf(series), [series]);
  const virtual = useVirtualizer({
    count: series.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const [newest, hasRows] = [months.at(-1), items.length > 0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new month scrolls to itself, once there are rows to be as wide
  useLayoutEffect(() => {
    if (box.current) box.current.scrollLeft = box.current.scrollWidth;
  }, [newest, hasRows]);
  const spacer = (height: number) =>
    height > 0 && (
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without tabIndex takes no focus
      <tr aria-hidden="true">
        <td colSpan={months.length + FACTS} height={height} />
      </tr>
    );
  return (
    <section
      ref={box}
      className="cover-map"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label="Coverage by month"
      onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
        if (key.toLowerCase() === 't' && !ctrlKey && !metaKey && !altKey) onTable();
      }}
    >
      <table
        className="cover-grid"
        aria-rowcount={series.length + 2}
        width={WIDTHS.series + WIDTHS.last + WIDTHS.month * months.length}
      >
        <caption className="sr">
          Stored candles of each series by month. T shows each month with its numbers.
        </caption>
        <colgroup>
          <col width={WIDTHS.series} />
          <col width={WIDTHS.last} />
          {months.map((month) => (
            <col key={month} width={WIDTHS.month} />
          ))}
        </colgroup>
        <MapHead months={months} />
        <tbody>
          {spacer(items[0]?.start ?? 0)}
          {items.map(({ index }) => {
            const each = series[index]!;
            return (
              <MapRow
                key={idOfSeries(each)}
                index={index}
                isTable={isTable}
                series={each}
                months={months}
                isSelected={idOfSeries(each) === selected}
                isStale={isStale(each, now)}
                onSelect={onSelect}
              />
            );
          })}
          {spacer(virtual.getTotalSize() - (items.at(-1)?.end ?? 0))}
        </tbody>
      </table>
    </section>
  );
}

function MapHead({ months }: { readonly months: readonly string[] }) {
  const years = Map.groupBy(months, (month) => month.slice(0, 4));
  return (
    <thead>
      <tr>
        <th scope="col" className="series" rowSpan={2}>
          Series
        </th>
        <th scope="col" rowSpan={2}>
          Last candle
        </th>
        {[...years].map(([year, ofYear]) => (
          <th key={year} scope="colgroup" colSpan={ofYear.length}>
            {year}
          </th>
        ))}
      </tr>
      <tr>
        {months.map((month) => (
          <th key={month} scope="col" abbr={month}>
            {NAMES[Number(month.slice(5)) - 1]}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const MapRow = memo(function MapRow(props: {
  readonly index: number;
  readonly isTable: boolean;
  readonly series: StoredSeries;
  readonly months: readonly string[];
  readonly isSelected: boolean;
  readonly isStale: boolean;
  readonly onSelect: (series: StoredSeries) => void;
}) {
  const { index, isTable, series, months, isSelected, onSelect } = props;
  const stored = useMemo(() => {
    const byMonth = new Map(series.months.map((month) => [month.month, month]));
    return months.map((month) => byMonth.get(month));
  }, [series, months]);
  const wordsOf = (place: number) => monthText(stored[place], months[place]!);
  return (
    <tr aria-rowindex={index + 3} data-selected={isSelected}>
      <th scope="row" className="series">
        <button type="button" aria-pressed={isSelected} onClick={() => onSelect(series)}>
          {shortSymbol(series.symbol)}
        </button>{' '}
        <span className="faint">{series.timeframe}</span>
      </th>
      <td className="fact">
        <span className="cover-fresh">
          <Freshness isStale={props.isStale} />
          <Age at={closedAt(series)} />
        </span>
      </td>
      {isTable ? (
        stored.map((month, place) => {
          const { state, text } = cellOf(month);
          const words = wordsOf(place);
          return (
            <td key={months[place]} className="cover" data-state={state} aria-label={words} title={words}>
              {text}
            </td>
          );
        })
      ) : (
        <td
          className="cover-months"
          colSpan={months.length}
          onPointerMove={({ currentTarget, nativeEvent: { offsetX } }) => {
            currentTarget.title = wordsOf(Math.min(months.length - 1, Math.floor(offsetX / WIDTHS.month)));
          }}
        >
          <Months stored={stored} text={rowText(series, months)} />
        </td>
      )}
    </tr>
  );
});

const STATES = ['full', 'sparse', 'part', 'none', 'corrupt'] as const;

/**
 * Months of a series as a picture, a path for each state: rows of sixty cells that come into view take longer to lay out and paint
 * than a frame has, and so does a canvas for each row.
 */
function Months(props: { readonly stored: readonly (StoredMonth | undefined)[]; readonly text: string }) {
  const cells = props.stored.map(cellOf);
  return (
    <svg
      role="img"
      aria-label={props.text}
      className="cover-picture"
      width={cells.length * WIDTHS.month}
      height={ROW_HEIGHT}
    >
      {STATES.map((state) => {
        const path = pathOf(cells, state);
        return path && <path key={state} data-state={state} d={path} />;
      })}
      {cells.map(
        ({ state, text }, place) =>
          text && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
            <text key={place} data-state={state} x={(place + 0.5) * WIDTHS.month} y={ROW_HEIGHT / 2 + 4}>
              {text}
            </text>
          ),
      )}
    </svg>
  );
}

function pathOf(cells: readonly CoverCell[], wanted: CoverState): string {
  const [width, height] = [WIDTHS.month - 5, ROW_HEIGHT - 5];
  return cells
    .map(({ state }, place) =>
      state === wanted ? `M${place * WIDTHS.month + 2.5} 2.5h${width}v${height}h-${width}z` : '',
    )
    .join('');
}

function Freshness({ isStale: stale }: { readonly isStale: boolean }) {
  const Icon = stale ? ClockAlert : CircleCheck;
  return (
    <>
      <Icon className={stale ? 'warn' : 'up'} aria-hidden="true" />
      <span className="sr">{stale ? 'stale, ' : 'fresh, '}</span>
    </>
  );
}

const LEGEND: readonly (readonly [CoverState, string, string])[] = [
  ['full', '', 'complete'],
  ['sparse', '97', 'percent: begins, ends or did not trade'],
  ['part', '97', 'percent: candles were lost'],
  ['none', '–', 'no candle'],
  ['corrupt', '!', 'corrupt'],
];

export function CoverageLegend() {
  return (
    <div className="cover-legend">
      {LEGEND.map(([state, text, words]) => (
        <span key={state}>
          <span className="cover" data-state={state} aria-hidden="true">
            {text}
          </span>
          {words}
        </span>
      ))}
      <span className="cover-fresh">
        <CircleCheck className="up" aria-hidden="true" /> fresh
      </span>
      <span className="cover-fresh">
        <ClockAlert className="warn" aria-hidden="true" /> stale: the last candle closed over a day ago
      </span>
    </div>
  );
}
