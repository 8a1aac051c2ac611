import type { PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import { HOUR, type PairScript, pairOf, type Row, START, settingsOf } from './market.ts';

/** Expected fields of one trade, to the last digit of the calculation by hand. */
export interface ExpectedTrade {
  readonly reason: string;
  /** Candle of the entry; its open is the entry price. Default 1. */
  readonly entryCandle?: number;
  readonly exitCandle: number;
  readonly exitPrice: number;
  readonly ratio?: number;
  readonly side?: 'long' | 'short';
}

export interface GoldenScenario {
  readonly name: string;
  readonly pair: PairInput;
  readonly settings: SimulationSettings;
  readonly trades: readonly ExpectedTrade[];
}

const FIRST: Row = [100, 101, 99, 100];
const QUIET: Row = [100, 100.5, 99, 100.5];

function scenario(
  name: string,
  { rows, ...script }: PairScript,
  settings: Partial<SimulationSettings>,
  ...trades: ExpectedTrade[]
): GoldenScenario {
  const signals = { enterLong: [0], ...script };
  return { name, pair: pairOf({ rows, ...signals }), settings: settingsOf(settings), trades };
}

/** Scenario with the usual candles 0 and 1. A flat last candle keeps the run from ending too early. */
function usual(
  name: string,
  { rows, ...script }: PairScript,
  settings: Partial<SimulationSettings>,
  ...trades: ExpectedTrade[]
): GoldenScenario {
  const last = rows.at(-1)![3];
  return scenario(
    name,
    { rows: [FIRST, FIRST, ...rows, [last, last, last, last]], ...script },
    settings,
    ...trades,
  );
}

const SHORT = { enterLong: [], enterShort: [0] };
const OFFSET_TRAILING = { trailing: { positive: 0.01, offset: 0.03, only_offset_is_reached: true } };

/**
 * Scenarios worked out by hand from the rules of docs/simulation.md. The fee is 0 unless a scenario has one: the target of G6 is
 * 100.1 * 1.03 / 0.999.
 */
export const GOLDEN: readonly GoldenScenario[] = [
  usual(
    'G1 an exit signal acts at the next open, after fees',
    {
      rows: [
        [101, 103, 100, 102],
        [102, 104, 101, 103],
      ],
      exitLong: [2],
    },
    { fee: 0.001 },
    { reason: 'exit_signal', exitCandle: 3, exitPrice: 102, ratio: 0.01796204 },
  ),
  usual(
    'G2 a stop fills at its price, fees on top',
    { rows: [[100, 101, 97, 98]] },
    { stoploss: -0.02, fee: 0.001 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 98, ratio: -0.02195804 },
  ),
  usual(
    'G3 a candle wholly below the stop fills at its open',
    { rows: [[96, 97, 95, 96]] },
    { stoploss: -0.02 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 96 },
  ),
  usual(
    'G4 a high that touches the stop again fills at the stop',
    { rows: [[96, 98.5, 95, 98]] },
    { stoploss: -0.02 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 98 },
  ),
  usual(
    'G5 the stop goes before the ROI',
    { rows: [[100, 104, 97, 103]] },
    { stoploss: -0.02, minimalRoi: { 0: 0.03 } },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 98 },
  ),
  usual(
    'G6 the ROI price yields the ratio after both fees',
    { rows: [[100, 104, 99.5, 103]] },
    { minimalRoi: { 0: 0.03 }, fee: 0.001 },
    { reason: 'roi', exitCandle: 2, exitPrice: 103.206206, ratio: 0.03 },
  ),
  usual(
    'G7 a new ROI step that the open already passes fills at the open',
    {
      rows: [
        [100, 103, 99, 103],
        [104, 105, 103, 104],
      ],
    },
    { minimalRoi: { 0: 0.1, 120: 0.01 } },
    { reason: 'roi', exitCandle: 3, exitPrice: 104 },
  ),
  usual(
    'G8 a step off the grid that the whole candle passes fills at the low',
    { rows: [QUIET, [104, 105, 103, 104]] },
    { minimalRoi: { 0: 0.1, 90: 0.01 } },
    { reason: 'roi', exitCandle: 3, exitPrice: 103 },
  ),
  usual(
    'G9 ROI -1 on the grid closes at the open',
    { rows: [QUIET, [99.5, 100, 99, 99.2]] },
    { minimalRoi: { 0: 0.1, 120: -1 } },
    { reason: 'roi', exitCandle: 3, exitPrice: 99.5 },
  ),
  usual(
    'G10 ROI -1 off the grid closes at the low',
    { rows: [QUIET, [99.5, 100, 99, 99.2]] },
    { minimalRoi: { 0: 0.1, 100: -1 } },
    { reason: 'roi', exitCandle: 3, exitPrice: 99 },
  ),
  usual(
    'G11 an exit signal beats the stop',
    { rows: [FIRST, [100.5, 101, 95, 96]], exitLong: [2] },
    { stoploss: -0.02 },
    { reason: 'exit_signal', exitCandle: 3, exitPrice: 100.5 },
  ),
  usual(
    'G12 an exit signal does not act in its own candle',
    { rows: [[100, 101, 97, 100]], exitLong: [2] },
    { stoploss: -0.02 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 98 },
  ),
  usual(
    'G13 the high lifts a trailing stop that the low then hits',
    { rows: [[104, 110, 103, 105]] },
    { stoploss: -0.05, trailing: {} },
    { reason: 'trailing_stop_loss', exitCandle: 2, exitPrice: 104.5 },
  ),
  usual(
    'G14 a low beyond the stop keeps the high from lifting it',
    {
      rows: [
        [103.5, 104, 103, 103.5],
        [103.5, 106, 102, 105],
      ],
    },
    OFFSET_TRAILING,
    { reason: 'trailing_stop_loss', exitCandle: 3, exitPrice: 102.96 },
  ),
  scenario(
    'G15 in the entry candle an offset trailing stop fills at its worst price',
    { rows: [FIRST, [100, 106, 99, 105], [105, 105, 105, 105]] },
    OFFSET_TRAILING,
    { reason: 'trailing_stop_loss', exitCandle: 1, exitPrice: 102 },
  ),
  scenario(
    'G16 in the entry candle a trailing stop without offset fills below the open',
    { rows: [FIRST, [100, 106, 98, 105], [105, 105, 105, 105]] },
    { trailing: { positive: 0.01 } },
    { reason: 'trailing_stop_loss', exitCandle: 1, exitPrice: 99 },
  ),
  usual(
    'G17 the stop of a leveraged short is a loss on the stake',
    { rows: [[100, 103.5, 99, 103]], ...SHORT },
    { leverage: 3, stoploss: -0.09 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 103, ratio: -0.09, side: 'short' },
  ),
  usual(
    'G18 the ROI of a leveraged short',
    { rows: [[100, 100.5, 97, 97.5]], ...SHORT },
    { leverage: 3, minimalRoi: { 0: 0.06 } },
    { reason: 'roi', exitCandle: 2, exitPrice: 98, ratio: 0.06, side: 'short' },
  ),
  usual('G19 entry and exit signal collide', { rows: [FIRST], exitLong: [0] }, {}),
  usual('G20 long and short signal collide', { rows: [FIRST], enterShort: [0] }, {}),
  scenario('G21 no entry in the last candle', { rows: [FIRST, FIRST, FIRST], enterLong: [1] }, {}),
  scenario(
    'G22 what is left is closed at the open of the last candle',
    { rows: [FIRST, FIRST, [101, 102, 100, 101], [102, 105, 101, 104]] },
    {},
    { reason: 'force_exit', exitCandle: 3, exitPrice: 102 },
  ),
  scenario(
    'G23 a pair that exits in a candle does not re-enter in it',
    {
      rows: [FIRST, FIRST, [100, 101, 97, 98], [98, 99, 97.5, 98], [98, 99, 97.5, 98]],
      enterLong: [0, 1, 2],
    },
    { stoploss: -0.02 },
    { reason: 'stop_loss', exitCandle: 2, exitPrice: 98 },
    { reason: 'force_exit', entryCandle: 3, exitCandle: 4, exitPrice: 98 },
  ),
  scenario(
    'G24 a stop in the entry candle',
    { rows: [FIRST, [100, 101, 97, 100], FIRST] },
    { stoploss: -0.02 },
    { reason: 'stop_loss', exitCandle: 1, exitPrice: 98 },
  ),
];

/** Trades of a run as {@link ExpectedTrade}, rounded to the digits of `expected`. */
export function observed(
  { trades }: Simulation,
  { trades: expected, pair }: GoldenScenario,
): ExpectedTrade[] {
  const candleAt = (time: number) => (time - START) / HOUR;
  return trades.map((trade, index) => {
    const { ratio, side, entryCandle } = expected[index] ?? {};
    const enteredAtOpen = trade.entryPrice === pair.candles.open[candleAt(trade.openedAt)];
    return {
      reason: enteredAtOpen ? trade.exitReason : `${trade.exitReason}, entered at ${trade.entryPrice}`,
      ...((entryCandle !== undefined || candleAt(trade.openedAt) !== 1) && {
        entryCandle: candleAt(trade.openedAt),
      }),
      exitCandle: candleAt(trade.closedAt),
      exitPrice: Math.round(trade.exitPrice * 1e6) / 1e6,
      ...(ratio !== undefined && { ratio: Number(trade.profitRatio.toFixed(8)) }),
      ...((side !== undefined || trade.side !== 'long') && { side: trade.side }),
    };
  });
}
