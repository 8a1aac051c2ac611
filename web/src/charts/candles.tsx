import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type LogicalRange,
  type UTCTimestamp,
} from 'lightweight-charts';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { decimal, price, utcTime } from '../ui/format.ts';
import { type Tokens, useTokens } from '../ui/tokens.ts';
import { ChartFrame } from './chart-frame.tsx';
import { type ChartTrade, TradeLayer } from './trade-layer.ts';

/** Columns of candles, ascending; times in Unix seconds. */
export interface Bars {
  readonly times: readonly number[];
  readonly open: readonly number[];
  readonly high: readonly number[];
  readonly low: readonly number[];
  readonly close: readonly number[];
  readonly volume: readonly number[];
}

export interface CandlesProps {
  readonly title: string;
  /** Key figures in words. */
  readonly summary: string;
  readonly bars: Bars;
  /** Seconds of a candle. */
  readonly step: number;
  /** Ascending by `opened_at`. */
  readonly trades: readonly ChartTrade[];
  readonly selected: ChartTrade | undefined;
  readonly actions?: ReactNode;
  readonly legend?: ReactNode;
  /** The view comes near an end of the loaded candles. */
  readonly onEdge: (edge: 'before' | 'after') => void;
}

/** Candles left of which, or right of which, more are loaded. */
const EDGE = 200;
/** Candles in view at first. */
const FIRST_VIEW = 160;

interface Made {
  readonly chart: IChartApi;
  readonly series: ISeriesApi<'Candlestick'>;
  readonly volume: ISeriesApi<'Histogram'>;
  readonly layer: TradeLayer;
}

/** Candles of a pair with its trades. Arrow keys move the view, + and - zoom, Escape returns to the trade, T shows the numbers. */
export function CandleChart(props: CandlesProps) {
  const { bars, step } = props;
  const made = useRef<Made>(undefined);
  const tokens = useTokens();
  /** False if the key changes nothing. */
  const press = (key: string) => {
    const scale = made.current?.chart.timeScale();
    const range = scale?.getVisibleLogicalRange();
    const change = range && viewChange(key, range, bars.times.length);
    if (change) scale!.setVisibleLogicalRange(change);
    return Boolean(change);
  };
  const reset = () => {
    if (made.current && bars.times.length > 0) showTrade(made.current, props.selected, bars.times, step);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || target.role !== 'img') return;
    if (key === 'Escape') reset();
    else if (!press(key)) return;
    event.preventDefault();
  };
  const table = useMemo(
    () => ({
      titles: ['Open time (UTC)', 'Open', 'High', 'Low', 'Close', 'Volume'],
      rows: bars.times.length,
      cell: (row: number, column: number) => {
        if (column === 0) return utcTime(bars.times[row]! * 1_000);
        if (column === 5) return decimal(bars.volume[row]!, 2);
        return price([bars.open, bars.high, bars.low, bars.close][column - 1]![row]);
      },
    }),
    [bars],
  );
  return (
    <ChartFrame
      title={props.title}
      summary={props.summary}
      size="large"
      table={table}
      onKeyDown={onKeyDown}
      actions={props.actions}
      zoom={{ in: () => press('+'), out: () => press('-'), all: reset }}
      legend={props.legend}
    >
      {/* A chart keeps its colours: another theme makes it again, with its candles and its view. */}
      <Candles {...props} made={made} tokens={tokens} key={`${step} ${tokens.bg}`} />
    </ChartFrame>
  );
}

/** Candles of space at the right of the last one. */
const RIGHT_SPACE = 4;

/** Range after a key: a tenth of the view to either side, half or twice of it. The last candle stays at the right edge. */
function viewChange(key: string, { from, to }: LogicalRange, count: number): LogicalRange | undefined {
  const span = to - from;
  const moves: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-0.1, -0.1],
    ArrowRight: [0.1, 0.1],
    '+': [0.25, -0.25],
    '-': [-0.5, 0.5],
  };
  const move = moves[key];
  if (!move) return undefined;
  const beyond = Math.max(0, to + span * move[1] - (count + RIGHT_SPACE));
  return { from: from + span * move[0] - beyond, to: to + span * move[1] - beyond } as LogicalRange;
}

function Candles(
  props: CandlesProps & { readonly made: { current: Made | undefined }; readonly tokens: Tokens },
) {
  const { made, tokens, bars, trades, selected, step } = props;
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<readonly number[]>([]);
  const onEdge = useRef(props.onEdge);
  onEdge.current = props.onEdge;
  useEffect(() => {
    const element = makeChart(box.current!, tokens);
    made.current = element;
    shown.current = [];
    const scale = element.chart.timeScale();
    scale.subscribeVisibleLogicalRangeChange((range) => {
      const count = shown.current.length;
      if (!range || count === 0) return;
      if (range.from < EDGE) onEdge.current('before');
      if (range.to > count - EDGE) onEdge.current('after');
    });
    return () => {
      made.current = undefined;
      element.chart.remove();
    };
  }, [made, tokens]);
  useEffect(() => {
    showBars(made.current!, bars, shown.current);
    shown.current = bars.times;
  }, [made, bars]);
  useEffect(() => {
    made.current!.layer.set({ trades, selected: selected?.id, times: bars.times, step });
  }, [made, trades, selected, bars, step]);
  const isEmpty = bars.times.length === 0;
  // More candles must not move the view: only another trade does.
  useEffect(() => {
    if (!isEmpty) showTrade(made.current!, selected, shown.current, step);
  }, [made, selected, step, isEmpty]);
  return <div ref={box} className="chart-candles" />;
}

function makeChart(element: HTMLElement, t: Tokens): Made {
  const chart = createChart(element, {
    autoSize: true,
    layout: {
      // The logo brings a <style> element, which the page's policy refuses. The page itself shows the notice.
      attributionLogo: false,
      background: { type: ColorType.Solid, color: t.surface },
      textColor: t.muted,
      fontFamily: "'Inter Variable', system-ui, sans-serif",
      fontSize: 11,
    },
    grid: { vertLines: { color: t.grid }, horzLines: { color: t.grid } },
    crosshair: {
      mode: CrosshairMode.Normal,
      vertLine: { color: t.faint, labelBackgroundColor: t['line-strong'] },
      horzLine: { color: t.faint, labelBackgroundColor: t['line-strong'] },
    },
    rightPriceScale: { borderColor: t.line },
    timeScale: {
      borderColor: t.line,
      timeVisible: true,
      secondsVisible: false,
      // 100,000 candles fit into 500 pixels.
      minBarSpacing: 0.005,
      rightOffset: RIGHT_SPACE,
      // 100,000 candles in view: 17 ms a frame instead of 367.
      enableConflation: true,
      precomputeConflationOnInit: false,
    },
    localization: { locale: 'en-GB' },
  });
  const series = chart.addSeries(CandlestickSeries, {
    upColor: `${t.up}b0`,
    downColor: `${t.down}b0`,
    wickUpColor: t.up,
    wickDownColor: t.down,
    borderVisible: false,
    priceLineVisible: false,
    // The last loaded candle is nothing special.
    lastValueVisible: false,
    priceFormat: { type: 'custom', formatter: price, minMove: 1e-8 },
  });
  const volume = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume',
    priceFormat: { type: 'volume' },
    lastValueVisible: false,
    priceLineVisible: false,
    color: `${t.faint}55`,
  });
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.86, bottom: 0 } });
  series.priceScale().applyOptions({ scaleMargins: { top: 0.06, bottom: 0.16 } });
  const layer = new TradeLayer(t);
  series.attachPrimitive(layer);
  return { chart, series, volume, layer };
}

/** Shows candles. The view stays on the same times when candles come in front of those shown. */
function showBars({ chart, series, volume }: Made, bars: Bars, before: readonly number[]): void {
  const { times, open, high, low, close } = bars;
  const scale = chart.timeScale();
  const range = scale.getVisibleLogicalRange();
  const moved = before.length > 0 ? times.indexOf(before[0]!) : -1;
  // The crosshair asks both series for the candle under it, and throws while one of them lacks it.
  chart.clearCrosshairPosition();
  series.setData(
    times.map((time, row) => ({
      time: time as UTCTimestamp,
      open: open[row]!,
      high: high[row]!,
      low: low[row]!,
      close: close[row]!,
    })),
  );
  volume.setData(times.map((time, row) => ({ time: time as UTCTimestamp, value: bars.volume[row]! })));
  if (range && moved >= 0) {
    scale.setVisibleLogicalRange({ from: range.from + moved, to: range.to + moved });
  }
}

/** Brings a trade into view with what came before and after it; without one the last candles. */
function showTrade(
  { chart }: Made,
  trade: ChartTrade | undefined,
  times: readonly number[],
  step: number,
): void {
  const last = times.length - 1;
  let from = last - FIRST_VIEW;
  let to = last + RIGHT_SPACE;
  if (trade) {
    const held = (trade.closed_at - trade.opened_at) / step;
    const space = Math.max(60, held * 0.7);
    const at = (trade.opened_at - times[0]!) / step;
    const isLoaded = trade.opened_at >= times[0]! && trade.opened_at <= times[last]!;
    const index = isLoaded ? times.findIndex((time) => time >= trade.opened_at) : at;
    from = index - space;
    to = index + held + space;
  }
  chart.timeScale().setVisibleLogicalRange({ from, to });
}
