import type {
  AutoscaleInfo,
  IPrimitivePaneRenderer,
  IPrimitivePaneView,
  ISeriesPrimitive,
  Logical,
  SeriesAttachedParameter,
  Time,
} from 'lightweight-charts';
import type { Tokens } from '../ui/tokens.ts';
import { CHART_FONT } from './plot.tsx';

/** A trade as the candles show it. Times in Unix seconds. */
export interface ChartTrade {
  readonly id: number;
  readonly side: 'long' | 'short';
  readonly opened_at: number;
  readonly closed_at: number;
  readonly entry_price: number;
  readonly exit_price: number;
  readonly initial_stop_price: number;
  readonly stop_price: number;
  readonly profit: number;
  readonly exit_reason: string;
  /** All of them, of a trade with more than one entry and one exit. */
  readonly orders?:
    | readonly { readonly side: 'entry' | 'exit'; readonly filled_at: string; readonly price: number }[]
    | null;
}

export interface LayerState {
  /** Ascending by `opened_at`. */
  readonly trades: readonly ChartTrade[];
  readonly selected: number | undefined;
  /** Open times of the loaded candles, ascending. */
  readonly times: readonly number[];
  /** Seconds of a candle. */
  readonly step: number;
}

type Target = Parameters<IPrimitivePaneRenderer['draw']>[0];
/** Pixels of a candle below which trades are strokes without shapes. */
const FAR_SPACING = 1.2;

/** Position of a trade on the canvas. */
interface Place {
  readonly trade: ChartTrade;
  readonly x1: number;
  readonly x2: number;
  readonly y1: number;
  readonly y2: number;
}

interface Pen {
  readonly c: CanvasRenderingContext2D;
  readonly rx: number;
  readonly ry: number;
}

/** Draws the trades in view. The library's markers are laid out for every frame: 10,000 of them take a second. */
export class TradeLayer implements ISeriesPrimitive<Time> {
  #at: SeriesAttachedParameter<Time> | undefined;
  #state: LayerState = { trades: [], selected: undefined, times: [], step: 1 };
  #longest = 0;
  readonly #tokens: Tokens;
  readonly #views: readonly IPrimitivePaneView[];

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
    this.#views = [
      { zOrder: () => 'top', renderer: () => ({ draw: (target: Target) => this.#draw(target) }) },
    ];
  }

  attached(at: SeriesAttachedParameter<Time>): void {
    this.#at = at;
  }

  detached(): void {
    this.#at = undefined;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views;
  }

  set(state: LayerState): void {
    if (state.trades !== this.#state.trades) {
      this.#longest = state.trades.reduce((most, t) => Math.max(most, t.closed_at - t.opened_at), 0);
    }
    this.#state = state;
    this.#at?.requestUpdate();
  }

  /** The stop of the selected trade belongs to the picture. */
  autoscaleInfo(): AutoscaleInfo | null {
    const trade = this.#selected();
    if (!trade) return null;
    const prices = [trade.entry_price, trade.exit_price, trade.initial_stop_price, trade.stop_price];
    const shown = prices.filter((price) => price > 0);
    return { priceRange: { minValue: Math.min(...shown), maxValue: Math.max(...shown) } };
  }

  #selected(): ChartTrade | undefined {
    const { trades, selected } = this.#state;
    return selected === undefined ? undefined : trades.find(({ id }) => id === selected);
  }

  #draw(target: Target): void {
    const { chart } = this.#at!;
    const range = chart.timeScale().getVisibleRange();
    if (!range || this.#state.times.length === 0) return;
    const spacing = chart.timeScale().options().barSpacing;
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the library, not a hook
    target.useBitmapCoordinateSpace(
      ({ context: c, horizontalPixelRatio: rx, verticalPixelRatio: ry, bitmapSize }) => {
        const pen = { c, rx, ry };
        const places = this.#places(range.from as number, range.to as number);
        if (spacing < FAR_SPACING) this.#strokes(pen, places);
        else for (const place of places) this.#shape(pen, place, spacing, false);
        const selected = this.#selected();
        const place = selected && this.#place(selected);
        if (place) this.#highlight(pen, place, spacing, bitmapSize.width);
      },
    );
  }

  /** Trades that are open in a range of time. */
  *#places(from: number, to: number): Generator<Place> {
    const { trades, selected } = this.#state;
    for (let index = firstFrom(trades, from - this.#longest); index < trades.length; index += 1) {
      const trade = trades[index]!;
      if (trade.opened_at > to) return;
      if (trade.closed_at < from || trade.id === selected) continue;
      const place = this.#place(trade);
      if (place) yield place;
    }
  }

  #place(trade: ChartTrade): Place | undefined {
    const { series } = this.#at!;
    const x1 = this.#x(trade.opened_at);
    const x2 = this.#x(trade.closed_at);
    const y1 = series.priceToCoordinate(trade.orders?.[0]?.price ?? trade.entry_price);
    const y2 = series.priceToCoordinate(trade.exit_price);
    return x1 === null || x2 === null || y1 === null || y2 === null ? undefined : { trade, x1, x2, y1, y2 };
  }

  /** Pixel of a time. Times outside of the loaded candles have one too, so that slopes stay true. */
  #x(time: number): number | null {
    const { times, step } = this.#state;
    const scale = this.#at!.chart.timeScale();
    const first = times[0]!;
    const last = times[times.length - 1]!;
    if (time < first) return scale.logicalToCoordinate(((time - first) / step) as Logical);
    if (time > last) return scale.logicalToCoordinate((times.length - 1 + (time - last) / step) as Logical);
    const index = scale.timeToIndex(time as Time, true);
    return index === null ? null : scale.logicalToCoordinate(index as unknown as Logical);
  }

  /** Far out: two paths, at most one stroke per pixel column and colour. */
  #strokes({ c, rx, ry }: Pen, places: Iterable<Place>): void {
    const paths = { won: new Path2D(), lost: new Path2D() };
    const columns = { won: -1, lost: -1 };
    for (const { trade, x1, x2, y1, y2 } of places) {
      const kind = trade.profit >= 0 ? 'won' : 'lost';
      const column = Math.round(x2 * rx);
      if (column === columns[kind]) continue;
      columns[kind] = column;
      paths[kind].moveTo(x1 * rx, y1 * ry);
      paths[kind].lineTo(Math.max(x2 * rx, x1 * rx + 1), y2 * ry);
    }
    c.globalAlpha = 0.8;
    c.lineWidth = rx;
    c.strokeStyle = this.#tokens.down;
    c.stroke(paths.lost);
    c.strokeStyle = this.#tokens.up;
    c.stroke(paths.won);
    c.globalAlpha = 1;
  }

  /** Held line from entry to exit, triangles in the direction of the side at entries, and dots at exits. */
  #shape({ c, rx, ry }: Pen, { trade, x1, x2, y1, y2 }: Place, spacing: number, isSelected: boolean): void {
    const tokens = this.#tokens;
    const result = trade.profit >= 0 ? tokens.up : tokens.down;
    c.strokeStyle = result;
    c.lineWidth = (isSelected ? 2.5 : 1.2) * rx;
    c.globalAlpha = isSelected || this.#state.selected === undefined ? 1 : 0.6;
    line(c, x1 * rx, y1 * ry, x2 * rx, y2 * ry);
    const size = Math.min(7, 3 + spacing / 3) * rx;
    const down = trade.side === 'long' ? 1 : -1;
    c.strokeStyle = tokens.surface;
    c.lineWidth = rx;
    const entryColor = trade.side === 'long' ? tokens['series-1'] : tokens['series-3'];
    c.fillStyle = entryColor;
    triangle(c, x1 * rx, y1 * ry, size, down);
    for (const { x, y, side } of this.#adjustments(trade)) {
      c.fillStyle = side === 'entry' ? entryColor : result;
      if (side === 'entry') triangle(c, x * rx, y * ry, size * 0.7, down);
      else dot(c, x * rx, y * ry, size * 0.5);
    }
    c.fillStyle = result;
    dot(c, x2 * rx, y2 * ry, size * 0.72);
    c.globalAlpha = 1;
  }

  /** Additions and partial exits on the canvas. */
  *#adjustments({ orders }: ChartTrade): Generator<{ x: number; y: number; side: 'entry' | 'exit' }> {
    for (const { side, filled_at, price } of orders?.slice(1, -1) ?? []) {
      const x = this.#x(Date.parse(filled_at) / 1_000);
      const y = this.#at!.series.priceToCoordinate(price);
      if (x !== null && y !== null) yield { x, y, side };
    }
  }

  /** The selected trade with its first and last stop, and the reason of the exit. */
  #highlight(pen: Pen, place: Place, spacing: number, width: number): void {
    const { c, rx, ry } = pen;
    const { trade, x1, x2, y2 } = place;
    const { series } = this.#at!;
    const tokens = this.#tokens;
    const stops = [
      [trade.stop_price, tokens.warn],
      [trade.initial_stop_price, tokens.faint],
    ] as const;
    for (const [price, color] of stops) {
      const y = price > 0 ? series.priceToCoordinate(price) : null;
      if (y === null) continue;
      c.strokeStyle = color;
      c.lineWidth = 1.5 * rx;
      c.setLineDash([5 * rx, 4 * rx]);
      line(c, x1 * rx, y * ry, Math.max(x2, x1 + 24) * rx, y * ry);
      c.setLineDash([]);
    }
    this.#shape(pen, place, Math.max(spacing, 6), true);
    c.save();
    c.scale(rx, ry);
    c.font = CHART_FONT;
    const space = c.measureText(trade.exit_reason).width + 12;
    const isLeft = (x2 + space) * rx > width;
    c.textAlign = isLeft ? 'right' : 'left';
    c.strokeStyle = tokens.surface;
    c.lineWidth = 4;
    c.lineJoin = 'round';
    c.strokeText(trade.exit_reason, x2 + (isLeft ? -10 : 10), y2 - 6);
    c.fillStyle = tokens.text;
    c.fillText(trade.exit_reason, x2 + (isLeft ? -10 : 10), y2 - 6);
    c.restore();
  }
}

/** Triangle with its tip at a point; `down` is 1 with the tip on top, -1 with the tip below. */
function triangle(c: CanvasRenderingContext2D, x: number, y: number, size: number, down: number): void {
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x - size, y + down * size * 1.6);
  c.lineTo(x + size, y + down * size * 1.6);
  c.closePath();
  c.fill();
  c.stroke();
}

function dot(c: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.fill();
  c.stroke();
}

function line(c: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  c.stroke();
}

/** Index of the first trade that opened at a time or later. */
function firstFrom(trades: readonly ChartTrade[], time: number): number {
  let low = 0;
  let high = trades.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (trades[middle]!.opened_at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
