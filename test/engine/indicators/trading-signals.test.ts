import {
  ADX,
  ATR,
  BollingerBands,
  CCI,
  DEMA,
  DonchianChannels,
  EMA,
  getZScore,
  HMA,
  LinearRegression,
  MACD,
  MFI,
  MOM,
  OBV,
  RMA,
  ROC,
  RSI,
  SMA,
  StochasticOscillator,
  SuperTrend,
  TEMA,
  TradingSignal,
  WilliamsR,
  WMA,
} from 'trading-signals';
import { describe, expect, it } from 'vitest';
import {
  adx,
  atr,
  bollinger,
  cci,
  dema,
  donchian,
  ema,
  hma,
  linearRegressionSlope,
  macd,
  mfi,
  momentum,
  obv,
  rateOfChange,
  rma,
  rsi,
  sma,
  stochastic,
  supertrend,
  tema,
  williamsR,
  wma,
  zScore,
} from '#engine/indicators/index.ts';
import { marketCandles } from './market.ts';

const LENGTH = 3_000;
/** Rows after which averages with different starts agree to all digits: (27 / 28)^1500 < 1e-23. */
const SETTLED = 1_500;

const candles = marketCandles(5, LENGTH);
const rows = Array.from({ length: LENGTH }, (_, row) => ({
  open: candles.open[row]!,
  high: candles.high[row]!,
  low: candles.low[row]!,
  close: candles.close[row]!,
  volume: candles.volume[row]!,
}));
const { close } = candles;

function byClose<T>(oracle: { add(value: number): T | null }): (T | null)[] {
  return [...close].map((value) => oracle.add(value));
}

function byCandle<T>(oracle: { add(candle: (typeof rows)[number]): T | null }): (T | null)[] {
  return rows.map((row) => oracle.add(row));
}

/** Expects agreement within 1e-12 of the column's largest value in every row from `from` with an oracle result. */
function expectSame<T>(
  actual: Float64Array,
  oracle: (T | null)[],
  pick: (result: T) => number,
  from = 0,
): void {
  let compared = 0;
  const scale = Math.max(...actual.filter(Number.isFinite).map(Math.abs));
  for (const [row, result] of oracle.entries()) {
    if (row < from || result === null) continue;
    expect(Math.abs(actual[row]! - pick(result))).toBeLessThanOrEqual(1e-12 * scale);
    compared++;
  }
  expect(compared).toBeGreaterThan(LENGTH - from - 100);
}

const itself = (value: number) => value;

describe('trading-signals library', () => {
  it('single-column indicators equal trading-signals from the first row', () => {
    expectSame(sma(close, 20), byClose(new SMA(20)), itself);
    expectSame(wma(close, 20), byClose(new WMA(20)), itself);
    expectSame(hma(close, 20), byClose(new HMA(20)), itself);
    expectSame(rsi(close, 14), byClose(new RSI(14)), itself);
    expectSame(momentum(close, 10), byClose(new MOM(10)), itself);
    expectSame(rateOfChange(close, 10), byClose(new ROC(10)), (value) => 100 * value);
    expectSame(linearRegressionSlope(close, 20), byClose(new LinearRegression(20)), ({ slope }) => slope);
    expectSame(cci(candles, 20), byCandle(new CCI(20)), itself);
    expectSame(mfi(candles, 14), byCandle(new MFI(14)), itself);
    expectSame(williamsR(candles, 14), byCandle(new WilliamsR(14)), itself);
    expectSame(
      zScore(close, 20),
      [...close].map((_, row) => (row < 19 ? null : getZScore([...close.subarray(row - 19, row + 1)]))),
      itself,
    );
  });

  it('multi-column indicators equal trading-signals', () => {
    const bands = bollinger(close, 20, 2);
    const oracleBands = byClose(new BollingerBands(20, 2));
    const channel = donchian(candles, 20);
    const oracleChannel = byCandle(new DonchianChannels(20));
    for (const name of ['upper', 'middle', 'lower'] as const) {
      expectSame(bands[name], oracleBands, (result) => result[name]);
      expectSame(channel[name], oracleChannel, (result) => result[name]);
    }
    const { k, d } = stochastic(candles, 14, 3, 5);
    const oracleStochastic = byCandle(
      new StochasticOscillator({ kPeriod: 14, kSlowingPeriod: 3, dPeriod: 5 }),
    );
    expectSame(k, oracleStochastic, ({ stochK }) => stochK);
    expectSame(d, oracleStochastic, ({ stochD }) => stochD);
  });

  it('averages equal trading-signals once their different starts have decayed', () => {
    expectSame(ema(close, 20), byClose(new EMA(20)), itself, SETTLED);
    expectSame(rma(close, 14), byClose(new RMA(14)), itself, SETTLED);
    expectSame(dema(close, 20), byClose(new DEMA(20)), itself, SETTLED);
    expectSame(tema(close, 20), byClose(new TEMA(20)), itself, SETTLED);
    expectSame(atr(candles, 14), byCandle(new ATR(14)), itself, SETTLED);
    expectSame(adx(candles, 14).adx, byCandle(new ADX(14)), itself, SETTLED);
    const lines = macd(close, 12, 26, 9);
    const oracleLines = byClose(new MACD(new EMA(12), new EMA(26), new EMA(9)));
    for (const name of ['macd', 'signal', 'histogram'] as const) {
      expectSame(lines[name], oracleLines, (result) => result[name], SETTLED);
    }
    const { line, direction } = supertrend(candles, 10, 3);
    const oracleTrend = byCandle(new SuperTrend({ interval: 10, multiplier: 3 }));
    expectSame(line, oracleTrend, (result) => result.supertrend, SETTLED);
    expectSame(direction, oracleTrend, ({ trend }) => (trend === TradingSignal.BULLISH ? 1 : -1), SETTLED);
  });

  it('obv equals trading-signals except for its starting level', () => {
    const ours = obv(candles);
    const first = candles.volume[0]!;
    expectSame(
      ours.map((value) => value - first),
      byCandle(new OBV(2)),
      itself,
    );
  });
});
