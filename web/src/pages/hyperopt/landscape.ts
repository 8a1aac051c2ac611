import type { PlaneCells } from '../../charts/plane.tsx';
import type { Scale } from '../../charts/scale.ts';
import { scaleOf } from '../../charts/scale.ts';
import type { Objective } from './objective.ts';
import { parameterLabel, type TrialRow } from './trials.ts';

/** A complete trial on the axes of the parameters. */
export interface Placed {
  readonly row: TrialRow;
  readonly value: number;
  /** 0 for the worst, 1 for the best. */
  readonly rank: number;
}

/** Complete trials with their rank by value. */
export function placedOf(rows: readonly TrialRow[], objective: Objective): readonly Placed[] {
  const complete = rows.filter(({ value }) => value !== null);
  const sign = objective.isMaximized ? 1 : -1;
  const sorted = [...complete].sort((a, b) => sign * (a.value! - b.value!) || b.number - a.number);
  return sorted.map((row, index) => ({
    row,
    value: row.value!,
    rank: sorted.length < 2 ? 1 : index / (sorted.length - 1),
  }));
}

/** Axis of each parameter, over the values of all finished trials. */
export function axesOf(rows: readonly TrialRow[], names: readonly string[]): readonly Scale[] {
  return names.map((name) =>
    scaleOf(
      name,
      parameterLabel(name),
      rows.map(({ at }) => at[name]).filter((value) => value !== undefined),
    ),
  );
}

const GRID = 40;
/** Neighbours that a cell is interpolated from. */
const NEIGHBOURS = 8;
/** Distance in shares of the axes beyond which a trial says nothing about a cell. */
const REACH = 0.12;

/** Cells of a category axis are one a category; others are fine. */
function cellsOf({ kind, ticks }: Scale): readonly number[] {
  if (kind === 'category') return ticks.map(({ at }) => at);
  return Array.from({ length: GRID }, (_, index) => (index + 0.5) / GRID);
}

/**
 * Level of the values over two parameters: in each cell the mean rank of the nearest trials, weighted by the inverse square of their
 * distance. A cell without a trial within 12 % of the axes stays empty: nothing was tried there. Ranks, so that a few very bad
 * trials do not take all shades.
 */
export function contourOf(placed: readonly Placed[], x: Scale, y: Scale): PlaneCells {
  const points = placed.map(({ row, rank }) => ({
    x: x.position(row.at[x.name]!),
    y: y.position(row.at[y.name]!),
    rank,
  }));
  const [columns, rows] = [cellsOf(x), cellsOf(y)];
  const stretch = (scale: Scale) => (scale.kind === 'category' ? 1e3 : 1);
  const [byX, byY] = [stretch(x), stretch(y)];
  const levels = rows.flatMap((cellY) =>
    columns.map((cellX) => {
      const near = points
        .map((point) => ({
          rank: point.rank,
          distance: Math.hypot((point.x - cellX) * byX, (point.y - cellY) * byY),
        }))
        .filter(({ distance }) => distance <= REACH)
        .sort((a, b) => a.distance - b.distance)
        .slice(0, NEIGHBOURS);
      const weights = near.map(({ distance }) => 1 / (distance * distance + 1e-4));
      const sum = weights.reduce((all, weight) => all + weight, 0);
      return sum === 0 ? null : near.reduce((all, { rank }, index) => all + rank * weights[index]!, 0) / sum;
    }),
  );
  return { columns: columns.length, rows: rows.length, levels };
}
