import { type MouseEvent, useCallback } from 'react';
import type { Tokens } from '../ui/tokens.ts';
import { type Area, Canvas, fitted } from './canvas.tsx';
import { CHART_FONT } from './plot.tsx';
import type { Scale } from './scale.ts';
import './canvas.css';

/** A point in shares of both axes. */
export interface PlanePoint {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  /** 0 for the worst value, 1 for the best one. */
  readonly rank: number;
}

/** Colour under the points: level 0 to 1 of a cell, null where there are too few points. */
export interface PlaneCells {
  readonly columns: number;
  readonly rows: number;
  /** Row by row from the bottom. */
  readonly levels: readonly (number | null)[];
}

const PAD = { top: 12, right: 16, bottom: 40, left: 76 };
/** Shades of the cells: fewer than the eye would take for exact numbers. */
const SHADES = 8;
/** Pixels around a point within which a click means it. */
const REACH = 12;

const place = ({ x, y }: { readonly x: number; readonly y: number }, { width, height }: Area) => ({
  x: PAD.left + x * (width - PAD.left - PAD.right),
  y: PAD.top + (1 - y) * (height - PAD.top - PAD.bottom),
});

/** Points over two axes, with shaded cells under them where given. A click on a point picks it. */
export function Plane(props: {
  readonly x: Scale;
  readonly y: Scale;
  readonly points: readonly PlanePoint[];
  readonly cells?: PlaneCells;
  readonly selected: number | undefined;
  readonly onPick: (id: number) => void;
}) {
  const { x, y, points, cells, selected, onPick } = props;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, area: Area, tokens: Tokens) => {
      if (cells) drawCells(context, area, tokens, cells);
      drawAxis(context, area, tokens, x, 'x');
      drawAxis(context, area, tokens, y, 'y');
      for (const point of points) drawPoint(context, place(point, area), tokens, point, cells !== undefined);
      const chosen = points.find(({ id }) => id === selected);
      if (chosen) ring(context, place(chosen, area), tokens.text);
    },
    [x, y, points, cells, selected],
  );
  const pick = (event: MouseEvent<HTMLCanvasElement>) => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    let nearest: { readonly id: number; readonly distance: number } | undefined;
    for (const point of points) {
      const at = place(point, { width, height });
      const distance = Math.hypot(at.x - (event.clientX - left), at.y - (event.clientY - top));
      if (distance <= REACH && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
        nearest = { id: point.id, distance };
      }
    }
    if (nearest) onPick(nearest.id);
  };
  return <Canvas draw={draw} className="pickable" onClick={pick} />;
}

function drawCells(
  context: CanvasRenderingContext2D,
  area: Area,
  tokens: Tokens,
  { columns, rows, levels }: PlaneCells,
): void {
  const origin = place({ x: 0, y: 0 }, area);
  const end = place({ x: 1, y: 1 }, area);
  const [width, height] = [(end.x - origin.x) / columns, (origin.y - end.y) / rows];
  levels.forEach((level, index) => {
    if (level === null) return;
    const shade = Math.min(SHADES - 1, Math.floor(level * SHADES)) / (SHADES - 1);
    context.fillStyle = shade > 0.99 ? tokens.accent : tokens['series-1'];
    context.globalAlpha = shade > 0.99 ? 0.75 : 0.06 + 0.6 * shade;
    const column = index % columns;
    const row = Math.floor(index / columns);
    // Whole pixels: neither gaps nor doubly covered seams between cells.
    const left = Math.round(origin.x + column * width);
    const top = Math.round(origin.y - (row + 1) * height);
    const right = Math.round(origin.x + (column + 1) * width);
    context.fillRect(left, top, right - left, Math.round(origin.y - row * height) - top);
  });
  context.globalAlpha = 1;
}

function drawPoint(
  context: CanvasRenderingContext2D,
  at: { readonly x: number; readonly y: number },
  tokens: Tokens,
  { rank }: PlanePoint,
  isOverCells: boolean,
): void {
  context.beginPath();
  context.arc(at.x, at.y, rank === 1 ? 5 : isOverCells ? 2 : 3, 0, 2 * Math.PI);
  context.fillStyle = rank === 1 ? tokens.accent : isOverCells ? tokens.text : tokens['series-1'];
  context.globalAlpha = rank === 1 ? 1 : 0.35 + 0.5 * rank;
  context.fill();
  context.globalAlpha = 1;
  if (rank === 1) ring(context, at, tokens.surface);
}

function ring(
  context: CanvasRenderingContext2D,
  at: { readonly x: number; readonly y: number },
  color: string,
): void {
  context.beginPath();
  context.arc(at.x, at.y, 7, 0, 2 * Math.PI);
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
}

function drawAxis(
  context: CanvasRenderingContext2D,
  area: Area,
  tokens: Tokens,
  { label, kind, ticks }: Scale,
  side: 'x' | 'y',
): void {
  context.font = CHART_FONT;
  context.strokeStyle = tokens.grid;
  context.lineWidth = 1;
  for (const { at, text } of ticks) {
    const from = place(side === 'x' ? { x: at, y: 0 } : { x: 0, y: at }, area);
    const to = place(side === 'x' ? { x: at, y: 1 } : { x: 1, y: at }, area);
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    context.fillStyle = tokens.muted;
    context.textAlign = side === 'x' ? 'center' : 'right';
    if (side === 'x') context.fillText(fitted(context, text, 90), from.x, from.y + 15);
    else context.fillText(fitted(context, text, PAD.left - 24), from.x - 7, from.y + 4);
  }
  context.fillStyle = tokens.text;
  context.textAlign = 'center';
  const title = `${label}${kind === 'log' ? ' (log)' : ''}`;
  if (side === 'x') {
    context.fillText(title, (area.width + PAD.left - PAD.right) / 2, area.height - 6);
    return;
  }
  context.save();
  context.translate(12, (area.height - PAD.bottom + PAD.top) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(fitted(context, title, area.height - PAD.top - PAD.bottom), 0, 0);
  context.restore();
}
