import { type CanvasHTMLAttributes, useEffect, useRef, useState } from 'react';
import { type Tokens, useTokens } from '../ui/tokens.ts';

export interface Area {
  readonly width: number;
  readonly height: number;
}

/**
 * A canvas that fills its box and is drawn again for another size, theme or drawing, at most once per frame.
 *
 * @param draw must be stable: another function draws again
 */
export function Canvas(
  props: {
    readonly draw: (context: CanvasRenderingContext2D, area: Area, tokens: Tokens) => void;
    readonly minWidth?: number;
  } & Omit<CanvasHTMLAttributes<HTMLCanvasElement>, 'width' | 'height'>,
) {
  const { draw, minWidth = 0, ...rest } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const tokens = useTokens();
  const [{ width, height }, setArea] = useState<Area>({ width: 0, height: 0 });
  useEffect(() => {
    const box = canvas.current!.parentElement!;
    const measure = () => setArea({ width: Math.max(minWidth, box.clientWidth), height: box.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, [minWidth]);
  useEffect(() => {
    if (width === 0 || height === 0) return;
    const frame = requestAnimationFrame(() => {
      const element = canvas.current!;
      const ratio = devicePixelRatio;
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
      const context = element.getContext('2d')!;
      context.scale(ratio, ratio);
      draw(context, { width, height }, tokens);
    });
    return () => cancelAnimationFrame(frame);
  }, [draw, width, height, tokens]);
  return <canvas ref={canvas} {...rest} className={`own-canvas ${rest.className ?? ''}`} />;
}

/** Text with a halo of the ground, so that lines pass behind it. */
export function haloText(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  tokens: Tokens,
): void {
  context.strokeStyle = tokens.surface;
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

/** The text, cut to a width in pixels. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return `${text.slice(0, length)}…`;
}
