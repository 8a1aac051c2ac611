import type { Bar, Market, Rules, Signals } from './types.ts';

/** The scenarios of test/engine/simulator/worked-scenarios.ts for the reference implementation, row by row. */
export interface Golden {
  name: string;
  market: Market;
  rules: Rules;
  /** Expected trade: reason, entry and exit candle, prices, ratio. null: no trade. Several: in order. */
  expected: { reason: string; entered: number; left: number; exit: number; entry?: number; ratio?: number }[];
}

type Row = readonly [number, number, number, number];

const HOUR = 3_600_000;
const START = Date.UTC(2024, 0, 1);
const FIRST: Row = [100, 101, 99, 100];

export const PLAIN: Rules = {
  timeframeMinutes: 60,
  detailMinutes: undefined,
  wallet: 1000,
  stake: 100,
  tradableBalanceRatio: 0.99,
  maxOpenTrades: 10,
  fee: 0,
  slippage: 0,
  leverage: 1,
  canShort: true,
  maintenanceRate: 0.005,
  liquidationBuffer: 0.05,
  stoploss: 0.1,
  trailing: undefined,
  roi: [],
  useExitSignal: true,
  exitProfitOnly: false,
  exitProfitOffset: 0,
  ignoreRoiIfEntrySignal: false,
  hasCustomStop: false,
};

const NONE: Signals = { enterLong: false, exitLong: false, enterShort: false, exitShort: false };

const barOf = ([open, high, low, close]: Row, row: number): Bar => ({
  time: START + row * HOUR,
  open,
  high,
  low,
  close,
});

function signalsOf(words: Readonly<Record<number, string>>, row: number): Signals {
  const said = (words[row] ?? '').split(' ');
  return {
    ...NONE,
    enterLong: said.includes('L'),
    enterShort: said.includes('S'),
    exitLong: said.includes('XL'),
  };
}

/** Candles 0 and 1 are 100/101/99/100, and signal `L` is on row 0 unless given. */
function golden(
  name: string,
  rules: Partial<Rules>,
  later: Readonly<Record<number, Row>>,
  words: Readonly<Record<number, string>>,
  ...expected: Golden['expected']
): Golden {
  const rows: Record<number, Row> = { 0: FIRST, 1: FIRST, ...later };
  const bars = Object.entries(rows).map(([row, prices]) => barOf(prices, Number(row)));
  const signals = bars.map((_, row) => signalsOf({ 0: 'L', ...words }, row));
  const market: Market = { pair: 'A/USDT:USDT', bars, signals, funding: [], detail: [] };
  return { name, market, rules: { ...PLAIN, ...rules }, expected };
}

const after = (left: number, price: number): Record<number, Row> => ({
  [left + 1]: [price, price, price, price],
});

const ROW_G8: Row = [100, 100.5, 99, 100.5];
const ROW_G9: Row = [99.5, 100, 99, 99.2];
const OFFSET = { positive: 0.01, offset: 0.03, onlyOffset: true };
const CANDLES_G14: Record<number, Row> = {
  2: [103.5, 104, 103, 103.5],
  3: [103.5, 106, 102, 105],
  ...after(3, 105),
};

const stop = (left: number, exit: number) => ({ reason: 'stop_loss', entered: 1, left, exit });
const roi = (left: number, exit: number) => ({ reason: 'roi', entered: 1, left, exit });
const moved = (left: number, exit: number) => ({
  reason: 'trailing_stop_loss',
  entered: 1,
  left,
  exit,
});
const signal = (left: number, exit: number) => ({ reason: 'exit_signal', entered: 1, left, exit });

export const GOLDEN: Golden[] = [
  golden(
    'G1',
    { fee: 0.001 },
    { 2: [101, 103, 100, 102], 3: [102, 104, 101, 103], 4: [1, 1, 1, 1] },
    { 2: 'XL' },
    { ...signal(3, 102), ratio: 0.01796204 },
  ),
  golden(
    'G2',
    { stoploss: 0.02, fee: 0.001 },
    { 2: [100, 101, 97, 98], ...after(2, 98) },
    {},
    { ...stop(2, 98), ratio: -0.02195804 },
  ),
  golden('G3', { stoploss: 0.02 }, { 2: [96, 97, 95, 96], ...after(2, 96) }, {}, stop(2, 96)),
  golden('G4', { stoploss: 0.02 }, { 2: [96, 98.5, 95, 98], ...after(2, 98) }, {}, stop(2, 98)),
  golden(
    'G5',
    { stoploss: 0.02, roi: [[0, 0.03]] },
    { 2: [100, 104, 97, 103], ...after(2, 103) },
    {},
    stop(2, 98),
  ),
  golden(
    'G6',
    { fee: 0.001, roi: [[0, 0.03]] },
    { 2: [100, 104, 99.5, 103], ...after(2, 103) },
    {},
    { ...roi(2, 103.206206), ratio: 0.03 },
  ),
  golden(
    'G7',
    { roi: [[0, 0.1], [120, 0.01]] }, // biome-ignore format: a table
    { 2: [100, 103, 99, 103], 3: [104, 105, 103, 104], ...after(3, 104) },
    {},
    roi(3, 104),
  ),
  golden(
    'G8',
    { roi: [[0, 0.1], [90, 0.01]] }, // biome-ignore format: a table
    { 2: ROW_G8, 3: [104, 105, 103, 104], ...after(3, 104) },
    {},
    roi(3, 103),
  ),
  golden(
    'G9',
    { roi: [[0, 0.1], [120, -1]] }, // biome-ignore format: a table
    { 2: ROW_G8, 3: ROW_G9, ...after(3, 99.2) },
    {},
    roi(3, 99.5),
  ),
  golden(
    'G10',
    { roi: [[0, 0.1], [100, -1]] }, // biome-ignore format: a table
    { 2: ROW_G8, 3: ROW_G9, ...after(3, 99.2) },
    {},
    roi(3, 99),
  ),
  golden(
    'G11',
    { stoploss: 0.02 },
    { 2: [100, 101, 99, 100], 3: [100.5, 101, 95, 96], ...after(3, 96) },
    { 2: 'XL' },
    signal(3, 100.5),
  ),
  golden('G12', { stoploss: 0.02 }, { 2: [100, 101, 97, 100], ...after(2, 100) }, { 2: 'XL' }, stop(2, 98)),
  golden(
    'G13',
    { stoploss: 0.05, trailing: { positive: undefined, offset: 0, onlyOffset: false } },
    { 2: [104, 110, 103, 105], ...after(2, 105) },
    {},
    moved(2, 104.5),
  ),
  golden('G14', { trailing: OFFSET }, CANDLES_G14, {}, moved(3, 102.96)),
  golden('G15', { trailing: OFFSET }, { ...CANDLES_G14, 1: [100, 106, 99, 105] }, {}, moved(1, 102)),
  golden(
    'G16',
    { trailing: { positive: 0.01, offset: 0, onlyOffset: false } },
    { 1: [100, 106, 98, 105], ...after(1, 105) },
    {},
    moved(1, 99),
  ),
  golden(
    'G17',
    { leverage: 3, stoploss: 0.09 },
    { 2: [100, 103.5, 99, 103], ...after(2, 103) },
    { 0: 'S' },
    { ...stop(2, 103), ratio: -0.09 },
  ),
  golden(
    'G18',
    { leverage: 3, roi: [[0, 0.06]] },
    { 2: [100, 100.5, 97, 97.5], ...after(2, 97.5) },
    { 0: 'S' },
    { ...roi(2, 98), ratio: 0.06 },
  ),
  golden('G19', {}, after(1, 100), { 0: 'L XL' }),
  golden('G20', {}, after(1, 100), { 0: 'L S' }),
  golden('G21', {}, after(1, 100), { 0: '', 1: 'L' }),
  golden(
    'G22',
    {},
    { 2: [101, 102, 100, 101], 3: [102, 105, 101, 104] },
    {},
    { reason: 'force_exit', entered: 1, left: 3, exit: 102 },
  ),
  golden(
    'G23',
    { stoploss: 0.02 },
    { 2: [100, 101, 97, 98], 3: [98, 99, 97.5, 98], 4: [98, 99, 97.5, 98] },
    { 1: 'L', 2: 'L' },
    stop(2, 98),
    { reason: 'force_exit', entered: 3, left: 4, entry: 98, exit: 98 },
  ),
  golden('G24', { stoploss: 0.02 }, { 1: [100, 101, 97, 100], ...after(1, 100) }, {}, stop(1, 98)),
];
