import { type PointerEvent, useCallback, useMemo, useRef } from 'react';
import type { Tokens } from '../ui/tokens.ts';
import { type Area, Canvas, fitted, haloText } from './canvas.tsx';
import { CHART_FONT } from './plot.tsx';
import type { Scale } from './scale.ts';
import './canvas.css';

/** One line through all axes. */
export interface ParallelLine {
  readonly id: number;
  /** Share of each axis, 0 to 1. */
  readonly at: readonly number[];
  /** 0 for the worst, 1 for the best; null without a value. */
  readonly rank: number | null;
}

/** Range kept on an axis by its name, in shares of the axis. */
export type KeptRanges = Readonly<Record<string, readonly [from: number, to: number]>>;

const PAD = { top: 34, bottom: 18, left: 56, right: 56 };
/** Below this width axes and numbers would overlap: the box scrolls. */
const PARALLEL_MIN_WIDTH = 760;

export function passes(line: ParallelLine, axes: readonly Scale[], kept: KeptRanges): boolean {
  return axes.every(({ name }, index) => {
    const range = kept[name];
    const at = line.at[index]!;
    return !range || (at >= range[0] - 1e-9 && at <= range[1] + 1e-9);
  });
}

const xOf = (index: number, count: number, width: number) =>
  PAD.left + (index * (width - PAD.left - PAD.right)) / Math.max(1, count - 1);

/**
 * Parallel coordinates: the better a line, the stronger. Dragging along an axis keeps the lines that pass there; a click removes it.
 * Long because it is one picture: axes, lines and the handling of a drag.
 */
export function Parallel(props: {
  readonly axes: readonly Scale[];
  readonly lines: readonly ParallelLine[];
  readonly selected: number | undefined;
  readonly kept: KeptRanges;
  readonly onKeep: (kept: KeptRanges) => void;
}) {
  const { axes, lines, selected, kept, onKeep } = props;
  const drag = useRef<{ readonly axis: number; readonly from: number } | undefined>(undefined);
  const ordered = useMemo(() => [...lines].sort((a, b) => (a.rank ?? -1) - (b.rank ?? -1)), [lines]);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, area: Area, tokens: Tokens) => {
      drawLines(context, area, tokens, { axes, ordered, kept, selected });
      drawAxes(context, area, tokens, { axes, kept });
    },
    [axes, ordered, kept, selected],
  );
  const where = (event: PointerEvent<HTMLCanvasElement>) => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - left;
    let axis = 0;
    for (let index = 1; index < axes.length; index++) {
      const distance = (each: number) => Math.abs(xOf(each, axes.length, width) - x);
      if (distance(index) < distance(axis)) axis = index;
    }
    const share = 1 - (event.clientY - top - PAD.top) / (height - PAD.top - PAD.bottom);
    return { axis, share: Math.min(1, Math.max(0, share)) };
  };
  const without = (name: string) =>
    Object.fromEntries(Object.entries(kept).filter(([each]) => each !== name));
  return (
    <div className="own-scroll">
      <Canvas
        draw={draw}
        minWidth={PARALLEL_MIN_WIDTH}
        className="draggable"
        onPointerDown={(event) => {
          const { axis, share } = where(event);
          drag.current = { axis, from: share };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const begun = drag.current;
          if (!begun) return;
          const { share } = where(event);
          if (Math.abs(share - begun.from) < 0.01) return;
          const range = [Math.min(begun.from, share), Math.max(begun.from, share)] as const;
          onKeep({ ...kept, [axes[begun.axis]!.name]: range });
        }}
        onPointerUp={(event) => {
          const begun = drag.current;
          drag.current = undefined;
          if (begun && Math.abs(where(event).share - begun.from) < 0.01) {
            onKeep(without(axes[begun.axis]!.name));
          }
        }}
        onPointerCancel={() => {
          drag.current = undefined;
        }}
      />
    </div>
  );
}

const yOf = (share: number, height: number) => PAD.top + (1 - share) * (height - PAD.top - PAD.bottom);

function drawLines(
  context: CanvasRenderingContext2D,
  { width, height }: Area,
  tokens: Tokens,
  parts: {
    readonly axes: readonly Scale[];
    readonly ordered: readonly ParallelLine[];
    readonly kept: KeptRanges;
    readonly selected: number | undefined;
  },
): void {
  const { axes, ordered, kept, selected } = parts;
  const stroke = ({ at }: ParallelLine, color: string, alpha: number, lineWidth: number) => {
    context.strokeStyle = color;
    context.globalAlpha = alpha;
    context.lineWidth = lineWidth;
    context.beginPath();
    at.forEach((share, index) => {
      const [x, y] = [xOf(index, axes.length, width), yOf(share, height)];
      if (index === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    });
    context.stroke();
  };
  const shown = ordered.filter((line) => passes(line, axes, kept));
  const isShown = new Set(shown);
  for (const line of ordered) if (!isShown.has(line)) stroke(line, tokens.faint, 0.08, 1);
  for (const line of shown) {
    const { rank } = line;
    if (rank === null) stroke(line, tokens.faint, 0.25, 1);
    else if (rank > 0.9) stroke(line, tokens.accent, 0.3 + 0.6 * rank * rank, 1.6);
    else stroke(line, rank > 0.5 ? tokens['series-1'] : tokens.muted, 0.15 + 0.5 * rank * rank, 1);
  }
  const best = shown.at(-1);
  if (best?.rank === 1) stroke(best, tokens.accent, 1, 3);
  const chosen = ordered.find(({ id }) => id === selected);
  if (chosen) stroke(chosen, tokens.text, 1, 2.5);
  context.globalAlpha = 1;
}

function drawAxes(
  context: CanvasRenderingContext2D,
  { width, height }: Area,
  tokens: Tokens,
  { axes, kept }: { readonly axes: readonly Scale[]; readonly kept: KeptRanges },
): void {
  const step = (width - PAD.left - PAD.right) / Math.max(1, axes.length - 1);
  axes.forEach((axis, index) => {
    const x = xOf(index, axes.length, width);
    context.strokeStyle = tokens['line-strong'];
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, PAD.top);
    context.lineTo(x, height - PAD.bottom);
    context.stroke();
    const range = kept[axis.name];
    if (range) {
      context.fillStyle = tokens.accent;
      context.globalAlpha = 0.35;
      context.fillRect(
        x - 6,
        yOf(range[1], height),
        12,
        Math.max(2, yOf(range[0], height) - yOf(range[1], height)),
      );
      context.globalAlpha = 1;
    }
    context.font = CHART_FONT;
    context.fillStyle = tokens.text;
    context.textAlign = 'center';
    const title = `${axis.label}${axis.kind === 'log' ? ' (log)' : ''}`;
    context.fillText(fitted(context, title, Math.min(step - 10, 2 * PAD.left - 4)), x, 16);
    context.fillStyle = tokens.muted;
    context.textAlign = 'right';
    // Labels of the categories at the first axis have the padding; others half the distance.
    const room = (index === 0 ? PAD.left : step) - 12;
    for (const { at, text } of axis.ticks) {
      haloText(context, fitted(context, text, room), x - 7, yOf(at, height) + 4, tokens);
    }
  });
}
