import { useMemo } from 'react';
import { ChartFrame } from '../../charts/chart-frame.tsx';
import { Plane } from '../../charts/plane.tsx';
import { type Scale, scaleOf } from '../../charts/scale.ts';
import { contourOf, type Placed } from './landscape.ts';
import type { Objective } from './objective.ts';
import { valueText } from './trials.ts';

interface PlaneProps {
  readonly placed: readonly Placed[];
  readonly objective: Objective;
  readonly selected: number | undefined;
  readonly onPick: (trial: number) => void;
}

/** Numbers of complete trials over some parameters, best first. */
function tableOf(placed: readonly Placed[], axes: readonly Scale[], objective: Objective) {
  const rows = [...placed].reverse();
  return {
    titles: ['Trial', ...axes.map(({ label }) => label), objective.label],
    rows: rows.length,
    cell: (index: number, column: number) => {
      const { row, value } = rows[index]!;
      if (column === 0) return String(row.number);
      return column > axes.length ? objective.withUnit(value) : valueText(row.at[axes[column - 1]!.name]);
    },
  };
}

/** Value of each complete trial over one parameter. */
export function Slice({ placed, objective, selected, onPick, x }: PlaneProps & { readonly x: Scale }) {
  const y = useMemo(
    () =>
      scaleOf(
        'value',
        objective.label,
        placed.map(({ value }) => value),
      ),
    [placed, objective],
  );
  const points = useMemo(
    () =>
      placed.map(({ row, value, rank }) => ({
        id: row.number,
        x: x.position(row.at[x.name]!),
        y: y.position(value),
        rank,
      })),
    [placed, x, y],
  );
  const table = useMemo(() => tableOf(placed, [x], objective), [placed, x, objective]);
  const best = placed.at(-1)!;
  return (
    <ChartFrame
      title={`${objective.label} by ${x.label}`}
      summary={`${placed.length} complete trials; the best has ${x.label} ${valueText(best.row.at[x.name])}`}
      size="large"
      table={table}
      legend={<span>Each point is a complete trial, the best large. Click one to see it.</span>}
    >
      <div className="own-box">
        <Plane {...{ x, y, points, selected, onPick }} />
      </div>
    </ChartFrame>
  );
}

/** Where good trials are over two parameters. */
export function Contour({
  placed,
  objective,
  selected,
  onPick,
  x,
  y,
}: PlaneProps & { readonly x: Scale; readonly y: Scale }) {
  const cells = useMemo(() => contourOf(placed, x, y), [placed, x, y]);
  const points = useMemo(
    () =>
      placed.map(({ row, rank }) => ({
        id: row.number,
        x: x.position(row.at[x.name]!),
        y: y.position(row.at[y.name]!),
        rank,
      })),
    [placed, x, y],
  );
  const table = useMemo(() => tableOf(placed, [x, y], objective), [placed, x, y, objective]);
  const { row } = placed.at(-1)!;
  return (
    <ChartFrame
      title={`${objective.label} over ${x.label} and ${y.label}`}
      summary={`${placed.length} complete trials; the best at ${valueText(row.at[x.name])} and ${valueText(row.at[y.name])}`}
      size="large"
      table={table}
      legend={
        <span>
          The stronger the ground, the better the trials nearby, by rank; empty: nothing was tried. The best
          is large.
        </span>
      }
    >
      <div className="own-box">
        <Plane {...{ x, y, points, cells, selected, onPick }} />
      </div>
    </ChartFrame>
  );
}
