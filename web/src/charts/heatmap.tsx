import { decimal } from '../ui/format.ts';
import './charts.css';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Seven levels of colour by an attribute, not by a style. The number is in the cell; the colour only helps. */
function level(value: number, largest: number): number {
  return Math.sign(value) * Math.min(3, Math.ceil((Math.abs(value) / largest) * 3));
}

/**
 * Returns by month, a row for each year.
 *
 * @param months `YYYY-MM` -> percent
 * @param years `YYYY` -> percent
 */
export function MonthlyHeatmap(props: {
  readonly months: ReadonlyMap<string, number>;
  readonly years: ReadonlyMap<string, number>;
}) {
  const { months, years } = props;
  const largest = Math.max(...[...months.values()].map(Math.abs), 1e-9);
  const largestYear = Math.max(...[...years.values()].map(Math.abs), 1e-9);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="scroll pad" tabIndex={0} aria-label="Monthly returns">
      <table className="heat">
        <caption className="sr">
          Returns in percent: equity at the end of the month over that of the month before
        </caption>
        <thead>
          <tr>
            <th scope="col">Year</th>
            {MONTHS.map((month) => (
              <th key={month} scope="col">
                {month}
              </th>
            ))}
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          {[...years].map(([year, total]) => (
            <tr key={year}>
              <th scope="row">{year}</th>
              {MONTHS.map((month, index) => (
                <Cell
                  key={month}
                  value={months.get(`${year}-${String(index + 1).padStart(2, '0')}`)}
                  largest={largest}
                />
              ))}
              <Cell value={total} largest={largestYear} isTotal />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell(props: {
  readonly value: number | undefined;
  readonly largest: number;
  readonly isTotal?: boolean;
}) {
  const { value, largest, isTotal = false } = props;
  if (value === undefined) return <td />;
  return (
    <td data-level={level(value, largest)} className={isTotal ? 'total' : undefined}>
      {value > 0 && '+'}
      {decimal(value, 1)}
    </td>
  );
}
