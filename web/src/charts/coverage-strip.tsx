import type { StoredSeries } from '../api/coverage.ts';
import { shortSymbol } from '../ui/format.ts';
import { type CoverState, cellOf, monthsOf, monthText, rowText } from './coverage.ts';
import './coverage.css';

/**
 * Months of some series in a line each, under a range of dates. A month is complete, partly stored, empty or corrupt; the months of
 * the chosen range are underlined.
 *
 * @param series of one timeframe, in the order of the lines
 * @param start first chosen day, `YYYY-MM-DD`
 * @param end day after the last chosen one
 */
export function CoverageStrip(props: {
  readonly series: readonly StoredSeries[];
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}) {
  const { series, start, end } = props;
  const months = monthsOf(series);
  const isChosen = (month: string) =>
    (start === undefined || month >= start.slice(0, 7)) &&
    (end === undefined || `${month}-01` < end.slice(0, 10));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="cover-strip" tabIndex={0} aria-label="Stored candles by month">
      {series.map((each) => {
        const byMonth = new Map(each.months.map((month) => [month.month, month]));
        return (
          <div key={`${each.symbol} ${each.timeframe}`} className="cover-line">
            <span>
              {shortSymbol(each.symbol)} <span className="faint">{each.timeframe}</span>
            </span>
            <ol aria-label={`${each.symbol} ${each.timeframe}, ${rowText(each, months)}`}>
              {months.map((month) => {
                const stored = byMonth.get(month);
                return (
                  <li key={month} data-chosen={isChosen(month)}>
                    <CoverMark state={cellOf(stored).state} words={monthText(stored, month)} />
                  </li>
                );
              })}
            </ol>
          </div>
        );
      })}
    </section>
  );
}

/** State of a month: one element, since a map has thousands. */
function CoverMark({ state, words }: { readonly state: CoverState; readonly words: string }) {
  return <span className="cover" data-state={state} role="img" aria-label={words} title={words} />;
}
