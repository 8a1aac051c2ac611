import { describe, expect, it } from 'vitest';
import type { Candles } from '#engine/candles.ts';
import { corwinSchultz } from '#engine/slippage/corwin-schultz.ts';
import { EdgeSums } from '#engine/slippage/edge.ts';

/** The first rows of ohlc.csv, the test data of bidask (github.com/eguidotti/bidask): open, high, low, close. */
const ROWS = [
  [1.00240075994025, 1.00935878365403, 0.976061138469904, 0.976061138469904],
  [0.929743096395543, 0.929774737723069, 0.928919694164385, 0.929774737723069],
  [0.943911414384193, 0.968140794511406, 0.943911414384193, 0.968140794511406],
  [0.977605378856722, 0.977605378856722, 0.977605378856722, 0.977605378856722],
  [0.961535370407048, 0.99982474278851, 0.961535370407048, 0.986215329667607],
  [0.982409003083975, 0.992213437101346, 0.982409003083975, 0.992213437101346],
  [1.03435413274433, 1.03435413274433, 1.03435413274433, 1.03435413274433],
  [1.0201424300403, 1.04025465277235, 1.0201424300403, 1.03219266262805],
  [1.03650094499406, 1.03650094499406, 1.03650094499406, 1.03650094499406],
  [1.05368509087896, 1.05368509087896, 1.02605242183949, 1.02798086837104],
  [1.00218302044534, 1.00218302044534, 0.971007036097251, 0.971007036097251],
  [0.965229150083089, 0.986919824597985, 0.960789989010352, 0.986919824597985],
  [0.99637331887178, 0.997269924548232, 0.99637331887178, 0.997269924548232],
  [1.01358787832514, 1.01358787832514, 0.982537626549428, 1.00009937289103],
  [0.998150122759666, 0.999934250321341, 0.993842242614331, 0.999934250321341],
  [1.0142379290421, 1.0142379290421, 1.01012166454071, 1.01012166454071],
  [1.0067082291236, 1.02984012256127, 1.0067082291236, 1.02984012256127],
  [1.02059282899116, 1.05319788268071, 1.02059282899116, 1.04567338747729],
  [1.03721633024094, 1.03721633024094, 1.03721633024094, 1.03721633024094],
  [1.01617855925263, 1.01819462881682, 0.984957178127716, 0.984957178127716],
  [0.981212679254233, 0.981212679254233, 0.949547092260944, 0.949547092260944],
  [0.955210953425667, 0.964222179781459, 0.925105653431635, 0.952795094700087],
  [0.957251497866054, 0.957251497866054, 0.940440508961676, 0.942092880129743],
  [0.938454436999247, 0.954089915238011, 0.938454436999247, 0.943487229765232],
  [0.933753321892242, 0.949763044016905, 0.924387662915462, 0.949763044016905],
  [0.920896875686027, 0.920896875686027, 0.920896875686027, 0.920896875686027],
  [0.944250922260918, 0.944250922260918, 0.938647548726603, 0.938901224017296],
  [0.927659933674719, 0.978306255118819, 0.927659933674719, 0.971938437857808],
  [0.972280598268526, 0.972280598268526, 0.966590899159819, 0.966590899159819],
  [0.969634256689763, 0.980578513915697, 0.969634256689763, 0.980578513915697],
];

const column = (index: number) => Float64Array.from(ROWS, (row) => row[index]!);
const CANDLES: Candles = {
  timestamp: Float64Array.from(ROWS, (_, row) => row),
  open: column(0),
  high: column(1),
  low: column(2),
  close: column(3),
  volume: new Float64Array(ROWS.length),
};

function sumsOf(from: number, to: number): EdgeSums {
  const sums = new EdgeSums();
  sums.addRows(CANDLES, from + 1, to);
  return sums;
}

describe('EDGE', () => {
  // The first value is published in the tests of the package bidask; the others are those of bidask 2.1.0 for these rows.
  it.each([
    [0, 10, -0.016889917516422],
    [0, 30, -0.009014849165536557],
    [10, 30, 0.011878733822185586],
    [20, 30, 0.018686383775951877],
    [5, 20, -0.012608064046621965],
  ])('the signed estimate of rows %i to %i equals the reference implementation', (from, to, expected) => {
    const { squaredSpread, spread } = sumsOf(from, to);
    expect(Math.sign(squaredSpread) * Math.sqrt(Math.abs(squaredSpread))).toBeCloseTo(expected, 13);
    expect(spread).toBeCloseTo(Math.max(0, expected), 13);
  });

  it('sums of days are the sums of their candles', () => {
    const sums = new EdgeSums();
    sums.addRows(CANDLES, 1, 12);
    const rest = new EdgeSums();
    rest.addRows(CANDLES, 12, 30);
    sums.add(rest);
    expect(sums.squaredSpread).toBeCloseTo(sumsOf(0, 30).squaredSpread, 14);
  });

  it('two candles have no estimate, three have one', () => {
    expect(sumsOf(0, 2).squaredSpread).toBeNaN();
    expect(sumsOf(0, 3).squaredSpread).not.toBeNaN();
  });

  it('candles without a move have no estimate', () => {
    // The NaN case of the same test.
    const flat = (values: readonly number[]) => Float64Array.from(values);
    const sums = new EdgeSums();
    sums.addRows(
      {
        ...CANDLES,
        open: flat([18.21, 17.61, 17.61]),
        high: flat([18.21, 17.61, 17.61]),
        low: flat([17.61, 17.61, 17.61]),
        close: flat([17.61, 17.61, 17.61]),
      },
      1,
      3,
    );
    expect(sums.spread).toBeNaN();
  });
});

describe('Corwin-Schultz', () => {
  it.each([
    // Two days of one range: all of it is spread, 2 (101 - 99) / (101 + 99).
    [101, 99, 101, 99, 0.02],
    // The formula of the paper, in 40 decimal digits.
    [102, 100, 101.5, 99.5, 0.00786964506799471],
    // -0.3299 before negative estimates become 0.
    [110, 100, 130, 120, 0],
  ])('the spread of highs and lows %d/%d and %d/%d is %d', (high1, low1, high2, low2, expected) => {
    expect(corwinSchultz(high1, low1, high2, low2)).toBeCloseTo(expected, 13);
  });
});
