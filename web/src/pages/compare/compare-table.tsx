import { Star } from 'lucide-react';
import { Figure, FoundMark } from '../../ui/parts.tsx';
import { type CompareCell, type CompareGroup, isDifferent } from './rows.ts';
import { RunMark } from './run-mark.tsx';
import type { Run } from './runs.ts';

/** Rows of metrics or settings with a column for each run. Long because it is the markup of one table: head, groups, rows and cells. */
export function CompareTable(props: {
  readonly label: string;
  readonly runs: readonly Run[];
  /** Id of the baseline. */
  readonly base: string;
  readonly groups: readonly CompareGroup[];
  readonly onlyDifferent: boolean;
  /** Numbers are aligned at the right. */
  readonly isNumber?: boolean;
}) {
  const { label, runs, base, groups, onlyDifferent, isNumber = false } = props;
  const shown = groups.map(({ title, rows }) => ({
    title,
    rows: onlyDifferent ? rows.filter(isDifferent) : rows,
  }));
  const all = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const hidden = all - shown.reduce((sum, { rows }) => sum + rows.length, 0);
  return (
    <>
      {hidden < all && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <section className="scroll" tabIndex={0} aria-label={label}>
          <table className="grid compare-grid" data-numbers={isNumber}>
            <colgroup>
              <col className="compare-label" />
              {runs.map(({ id }) => (
                <col key={id} width={150} />
              ))}
            </colgroup>
            <thead>
              <tr>
                <th scope="col">{label}</th>
                {runs.map((run) => (
                  <th
                    key={run.id}
                    scope="col"
                    className={isNumber ? 'num' : undefined}
                    title={run.job.strategy}
                  >
                    <RunMark run={run} /> {run.job.strategy} <FoundMark state={run.job.look_ahead?.state} />
                    {run.id === base && <span className="compare-base">baseline</span>}
                  </th>
                ))}
              </tr>
            </thead>
            {shown.map(
              ({ title, rows }) =>
                rows.length > 0 && (
                  <tbody key={title}>
                    {title !== '' && (
                      <tr>
                        <th scope="rowgroup" colSpan={runs.length + 1} className="compare-group">
                          {title}
                        </th>
                      </tr>
                    )}
                    {rows.map(({ key, label: name, title: help, cells }) => (
                      <tr key={key}>
                        <th scope="row" title={help}>
                          {name}
                        </th>
                        {cells.map((cell, index) => (
                          <Cell key={runs[index]!.id} cell={cell} isNumber={isNumber} />
                        ))}
                      </tr>
                    ))}
                  </tbody>
                ),
            )}
          </table>
        </section>
      )}
      {hidden > 0 && (
        <p className="pad muted">
          {hidden === all
            ? 'All rows are equal.'
            : hidden === 1
              ? '1 row is equal.'
              : `${hidden} rows are equal.`}
        </p>
      )}
    </>
  );
}

function Cell({ cell, isNumber }: { readonly cell: CompareCell; readonly isNumber: boolean }) {
  const { text, delta, isBest, isFound, differs } = cell;
  return (
    <td className={isNumber ? 'num' : undefined} data-differs={differs} data-best={isBest}>
      {!isNumber && differs && (
        <span className="compare-differs">
          <span aria-hidden="true">≠</span>
          <span className="sr">differs from the baseline: </span>
        </span>
      )}
      {isBest && <Star role="img" aria-label="best" />}
      <Figure state={isFound ? 'found' : null}>{text}</Figure>
      {delta !== undefined && (
        <span className="compare-delta">
          <span className="sr">to the baseline </span>
          {delta}
        </span>
      )}
    </td>
  );
}
