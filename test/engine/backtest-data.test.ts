import { describe, expect, it } from 'vitest';
import { BacktestReport } from '#contract/backtests/report.ts';
import { type BacktestInput, runBacktest } from '#engine/backtest.ts';
import { sliceCandles } from '#engine/candles.ts';
import { historyStart, type PairData } from '#engine/run/history.ts';
import { simulationSettings } from '#engine/run/simulation-settings.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import type { BacktestError } from '#engine/strategy-errors.ts';
import { CONFIG, ROWS, SAMPLE_STRATEGY, STARTUP, STEP, sampleInput, sha256 } from './backtest-sample.ts';
import { MINUTE, START, walk, without } from './run/candles.ts';

const run = (input: BacktestInput) => runBacktest(input, { digest: sha256 });

describe('incomplete data', () => {
  it('backtest fills gaps, counts them and warns about them', () => {
    const input = sampleInput();
    const [btc, eth] = input.pairs;
    const gaps = Array.from({ length: 20 }, (_, i) => 100 + i);
    const { report } = run({
      ...input,
      pairs: [{ ...btc!, candles: without(btc!.candles, gaps) }, eth!],
    });
    expect(report.data[0]).toMatchObject({ candles: ROWS, filled_candles: 20 });
    expect(report.data[0]!.filled_pct).toBeCloseTo(2000 / (ROWS + STARTUP), 9);
    expect(report.warnings.join()).toContain('20 candles of BTC/USDT:USDT (2.26 %) were missing');
  });

  it('candles of closed times are no warning; others are named by their reason', () => {
    const input = sampleInput();
    const [btc, eth] = input.pairs;
    const gaps = Array.from({ length: 20 }, (_, i) => 100 + i);
    const candles = without(btc!.candles, gaps);
    const open = btc!.candles.timestamp[100]!;
    const runWith = (missing: PairData['missing']) => {
      const { report } = run({ ...input, pairs: [{ ...btc!, candles, missing: missing! }, eth!] });
      const warnings = report.warnings.filter((each) => each.includes('filled flat'));
      return { filled: report.data[0]!.filled, warnings };
    };
    expect(runWith({ damage: [], no_trades: [] })).toEqual({
      filled: { closed: 20, no_trades: 0, damage: 0 },
      warnings: [],
    });
    const both = runWith({ damage: [[open, 9]], no_trades: [[open + 9 * STEP, 6]] });
    expect(both.filled).toEqual({ closed: 5, no_trades: 6, damage: 9 });
    expect(both.warnings).toEqual([
      '15 candles of BTC/USDT:USDT (1.70 %) were missing and were filled flat at the previous close: 9 lost, 6 without trades. So were 5 of closed times.',
    ]);
    // A run ends before the last gap.
    const later = runWith({ damage: [[Number.MAX_SAFE_INTEGER - STEP, 1]], no_trades: [] });
    expect(later.filled).toEqual({ closed: 20, no_trades: 0, damage: 0 });
  });

  it('pair with too little history starts after its startup candles and is warned about', () => {
    const input = sampleInput();
    const [btc, eth] = input.pairs;
    const late = sliceCandles(eth!.candles, STARTUP + 100, ROWS + STARTUP);
    const { report, trades } = run({ ...input, pairs: [btc!, { ...eth!, candles: late }] });
    const first = START + (100 + STARTUP) * STEP;
    expect(report.data[1]).toMatchObject({
      first: new Date(first).toISOString(),
      candles: ROWS - 100 - STARTUP,
      startup_candles: STARTUP,
    });
    expect(report.warnings).toContain(
      `ETH/USDT:USDT is traded from ${new Date(first).toISOString()}: its data does not cover the ${STARTUP} startup candles before ${new Date(START).toISOString()}.`,
    );
    const without = run({
      ...input,
      strategy: { ...SAMPLE_STRATEGY, startupCandles: () => 0 },
      pairs: [btc!, { ...eth!, candles: late }],
    });
    expect(without.report.warnings).toContain(
      `ETH/USDT:USDT is traded from ${new Date(START + 100 * STEP).toISOString()}: it has no earlier candles.`,
    );
    for (const trade of trades) if (trade.pair === eth!.pair) expect(trade.openedAt).toBeGreaterThan(first);
  });

  it('backtest starts later when every pair lacks startup history', () => {
    const input = sampleInput();
    const pairs = input.pairs.map((data) => ({
      ...data,
      candles: sliceCandles(data.candles, STARTUP, ROWS + STARTUP),
    }));
    const { report } = run({ ...input, pairs });
    expect(report.settings.first_candle).toBe(new Date(START + STARTUP * STEP).toISOString());
  });

  it('backtest warns when data ends before the range', () => {
    const input = sampleInput();
    const pairs = input.pairs.map((data) => ({ ...data, candles: sliceCandles(data.candles, 0, 400) }));
    expect(run({ ...input, pairs }).report.warnings[0]).toMatch(/ends with the candle at .* before the end/);
  });

  it('backtest warns that an inverse contract is simulated as a linear one', () => {
    const input = sampleInput();
    const [btc, eth] = input.pairs;
    const pairs = ['BTC/USD:BTC', 'ETH/BTC:BTC'];
    const { report } = run({
      ...input,
      config: { ...input.config, pairs },
      pairs: [
        { ...btc!, pair: 'BTC/USD:BTC' },
        { ...eth!, pair: 'ETH/BTC:BTC' },
      ],
    });
    expect(report.warnings.filter((warning) => warning.includes('inverse'))).toEqual([
      'BTC/USD:BTC is an inverse contract, settled in BTC. It is simulated as a linear one: stake, fees, profits and liquidation are in USD.',
    ]);
  });

  it('pair without candles is left out with a warning', () => {
    const input = sampleInput();
    const [btc, eth] = input.pairs;
    const { report } = run({ ...input, pairs: [btc!, { ...eth!, candles: walk(0, STEP) }] });
    expect(report.data.map((data) => data.pair)).toEqual([btc!.pair]);
    expect(report.warnings[0]).toMatch(/^Pair excluded: ETH\/USDT:USDT has no 5m candles/);
  });

  it('backtest rejects too few candles and states how many it needs', () => {
    const input = sampleInput();
    const few = input.pairs.map((data) => ({ ...data, candles: sliceCandles(data.candles, 0, STARTUP + 2) }));
    expect(kindOf(() => run({ ...input, pairs: few }))).toBe('insufficient_data');
    expect(() => run({ ...input, pairs: few })).toThrow(
      'BTC/USDT:USDT has 22 5m candles up to 2024-01-04T00:00:00.000Z. The strategy needs 20 before its first signal and at least 3 to trade from',
    );
    expect(kindOf(() => run({ ...input, pairs: [] }))).toBe('insufficient_data');
  });

  it('backtest rejects an invalid candle with its pair and time', () => {
    const input = sampleInput();
    input.pairs[1]!.candles.high[30] = 0.5;
    expect(kindOf(() => run(input))).toBe('invalid_candles');
    expect(() => run(input)).toThrow(/ETH\/USDT:USDT: the candle at 2024-01-01T00:50:00.000Z/);
  });
});

describe('failing strategy', () => {
  const failing = (overrides: Partial<typeof SAMPLE_STRATEGY>) =>
    sampleInput({ strategy: { ...SAMPLE_STRATEGY, ...overrides } });

  it('strategy error states the pair, the function and the source line', () => {
    const input = failing({
      signals: () => {
        throw new Error('no such column');
      },
    });
    expect(kindOf(() => run(input))).toBe('strategy');
    expect(() => run(input)).toThrow(
      /^Strategy sample failed on BTC\/USDT:USDT: signals\(\) threw: no such column \(backtest-data\.test\.ts:\d+\)$/,
    );
  });

  it.each([
    ['a string', 'no such column', 'no such column'],
    ['undefined', undefined, 'it threw undefined'],
    ['an object without a prototype', Object.create(null), 'it threw object'],
    ['an error without a message', new RangeError(), 'RangeError'],
  ])('strategy error describes a thrown value: %s', (_, thrown, text) => {
    const input = failing({
      indicators: () => {
        throw thrown;
      },
    });
    expect(kindOf(() => run(input))).toBe('strategy');
    expect(() => run(input)).toThrow(`Strategy sample failed on BTC/USDT:USDT: indicators() threw: ${text}`);
  });

  it('strategy error states the informative timeframe', () => {
    const input = failing({
      informativeTimeframes: ['1h'],
      indicators: (candles, ...rest) => {
        if (candles.timestamp.length < 200) throw new Error('too few');
        return SAMPLE_STRATEGY.indicators(candles, ...rest);
      },
    });
    expect(() => run(input)).toThrow('indicators() on 1h threw: too few');
  });

  it.each([
    ['NaN', () => Number.NaN, 'returned NaN'],
    ['a fraction', () => 20.5, 'returned 20.5'],
    ['too many', () => 1e12, 'returned 1000000000000'],
    [
      'an error',
      () => {
        throw new Error('none');
      },
      'threw "none (backtest-data.test.ts:',
    ],
  ])('backtest rejects startupCandles() that returns or throws %s', (_, startupCandles, text) => {
    const input = failing({ startupCandles });
    expect(kindOf(() => run(input))).toBe('strategy');
    expect(() => run(input)).toThrow(`Strategy sample: startupCandles() ${text}`);
  });

  it('backtest rejects signal columns of another length', () => {
    const input = failing({ signals: () => ({ enterLong: new Uint8Array(3) }) });
    expect(() => run(input)).toThrow(/sample failed on BTC.*"enterLong" must be a Uint8Array of 884/);
  });

  it('callback error states the callback, the pair and the candle', () => {
    const input = failing({
      callbacks: {
        customExit: ({ time }) => {
          if (time >= Date.parse('2024-01-02T12:00:00Z')) throw new Error('bad callback');
          return null;
        },
      },
    });
    expect(kindOf(() => run(input))).toBe('strategy');
    expect(() => run(input)).toThrow(
      /^Strategy sample failed during the simulation: customExit threw for (BTC|ETH)\/USDT:USDT in the candle of 2024-01-02T12:\d\d:00\.000Z: bad callback \(backtest-data\.test\.ts:\d+\)$/,
    );
  });

  it('callbacks can call each other through `this`', () => {
    const callbacks: StrategyCallbacks = {
      confirmEntry() {
        return this.confirmExit!({} as never, {} as never, 0, '');
      },
      confirmExit: () => true,
    };
    expect(run(failing({ callbacks })).trades).toEqual(run(failing({})).trades);
  });
});

describe('backtest without trades', () => {
  it.each<[string, Partial<typeof SAMPLE_STRATEGY>, Partial<typeof CONFIG>, RegExp]>([
    ['no signal', { signals: () => ({}) }, {}, /produced no entry signal/],
    [
      'a stake above the wallet',
      {},
      { stake_amount: 995 },
      /stake of 995 exceeds the tradable balance of 990/,
    ],
    [
      'a stake above the tradable share of the wallet',
      {},
      { stake_amount: 995, tradable_balance_ratio: 0.57 },
      /tradable balance of 570 \(57 % of the wallet\)/,
    ],
    [
      'colliding signals',
      {
        signals: ({ close }) => ({
          enterLong: new Uint8Array(close.length).fill(1),
          exitLong: new Uint8Array(close.length).fill(1),
        }),
      },
      {},
      /: 1,728 entry signals led to none\./,
    ],
  ])('backtest without trades warns about the cause: %s', (_, strategy, config, text) => {
    const { result, report, equity } = run(
      sampleInput({
        strategy: { ...SAMPLE_STRATEGY, ...strategy },
        config: { ...CONFIG, ...config },
      }),
    );
    expect(result).toMatchObject({ total_trades: 0, sharpe_ratio: 0, profit_factor: 0 });
    expect(report.warnings.join()).toMatch(text);
    expect(equity.equity).toEqual([1000, 1000, 1000]);
    BacktestReport.parse(JSON.parse(JSON.stringify(report)));
  });

  it.each([
    ['the capital', { available_capital: 100, stake_amount: 90 }, (profit: number) => 100 + profit],
    [
      'the tradable share',
      { tradable_balance_ratio: 0.1, stake_amount: 95 },
      (profit: number) => (1000 + profit) / 10,
    ],
  ])('money that runs out is what may be traded, not the balance: %s', (_, settings, leftOf) => {
    // A loss of a fifth of the first stake leaves too little for another one.
    const { report } = run(sampleInput({ config: { ...CONFIG, ...settings, leverage: 1, fee: 0.4 } }));
    const { total_profit, final_balance } = report.metrics.account;
    expect(final_balance).toBeGreaterThan(900);
    const [, left] = /money to trade ran out on 2024-01-01: ([\d.]+) were left of it/.exec(
      report.warnings.join(),
    )!;
    expect(Number(left)).toBeCloseTo(leftOf(total_profit), 6);
  });

  it('a warning about one signal is in the singular', () => {
    let pairs = 0;
    const { report } = run(
      sampleInput({
        strategy: {
          ...SAMPLE_STRATEGY,
          signals: ({ close }) => {
            const once = new Uint8Array(close.length);
            if (pairs++ === 0) once[close.length - 100] = 1;
            return { enterLong: once, exitLong: once };
          },
        },
      }),
    );
    expect(report.warnings.join()).toContain('No trades: 1 entry signal led to none.');
  });

  it('backtest warns about short signals when canShort is false', () => {
    const { report } = run(sampleInput({ strategy: { ...SAMPLE_STRATEGY, canShort: false } }));
    expect(report.warnings.join()).toMatch(/\d+ short signals were ignored/);
  });
});

it('historyStart covers the startup candles of informative timeframes', () => {
  const strategy = { ...SAMPLE_STRATEGY, informativeTimeframes: ['1h'] as const };
  // The range starts half an hour into an hour that closes later.
  const start = START + 6 * STEP;
  const from = historyStart(strategy, {}, '5m', start);
  expect(from).toBe(start - (STARTUP + 1) * 12 * STEP);
  const seen: number[] = [];
  const input = sampleInput({
    strategy: {
      ...strategy,
      signals: (candles, columns, params, informative, info) => {
        const firstRow = candles.timestamp.indexOf(start);
        seen.push(informative['1h']!.mean![firstRow]!);
        return SAMPLE_STRATEGY.signals(candles, columns, params, informative, info);
      },
    },
    pairs: CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(ROWS, STEP, i, from),
    })),
    config: { ...CONFIG, date_range: { ...CONFIG.date_range, start: new Date(start).toISOString() } },
  });
  const { report } = run(input);
  expect(report.settings.first_candle).toBe('2024-01-01T00:30:00.000Z');
  expect(seen.every(Number.isFinite)).toBe(true);
});

it('strategy runs on another timeframe than its own', () => {
  const changes: boolean[] = [];
  const strategy: typeof SAMPLE_STRATEGY = {
    ...SAMPLE_STRATEGY,
    informativeTimeframes: ['1h'],
    signals: (candles, columns, params, informative, info) => {
      const { mean } = informative['1h']!;
      const quarter = candles.timestamp.indexOf(START + 45 * MINUTE);
      changes.push(...[-1, 0, 1].map((offset) => mean![quarter + offset] !== mean![quarter + offset - 1]));
      return SAMPLE_STRATEGY.signals(candles, columns, params, informative, info);
    },
  };
  const from = historyStart(strategy, {}, '15m', START);
  const pairs = CONFIG.pairs.map((pair, i) => ({ pair, candles: walk(400, 3 * STEP, i, from) }));
  const { settings } = run(sampleInput({ strategy, config: { ...CONFIG, timeframe: '15m' }, pairs })).report;
  expect(settings).toMatchObject({ timeframe: '15m', first_candle: '2024-01-01T00:00:00.000Z' });
  // The hour that opens at 00:00 is visible from the 15m candle that closes with it, the one of 00:45.
  expect(changes).toEqual([false, true, false, false, true, false]);
});

it('simulationSettings passes every setting of the configuration and the strategy', () => {
  const strategy = {
    ...SAMPLE_STRATEGY,
    useExitSignal: false,
    exitProfitOnly: true,
    exitProfitOffset: 0.01,
    ignoreRoiIfEntrySignal: true,
    unfilledTimeoutMinutes: 3,
    callbacks: {},
  };
  expect(simulationSettings(strategy, { ...CONFIG, timeframe_detail: '1m' })).toEqual({
    timeframeMs: 300_000,
    detailTimeframeMs: 60_000,
    startingBalance: 1000,
    stake: { kind: 'fixed', amount: 100 },
    tradableBalanceRatio: 0.99,
    maxOpenTrades: 2,
    fee: 0.0005,
    slippage: 0.0001,
    leverage: 2,
    canShort: true,
    stoploss: -0.02,
    trailing: { positive: 0.004, offset: 0.008, only_offset_is_reached: true },
    minimalRoi: { 0: 0.015 },
    useExitSignal: false,
    exitProfitOnly: true,
    exitProfitOffset: 0.01,
    ignoreRoiIfEntrySignal: true,
    fillModel: 'freqtrade',
    liquidation: { maintenanceMarginRate: 0.005, buffer: 0.05 },
    unfilledTimeoutMinutes: 3,
    params: {},
    callbacks: {},
  });
  const plain = simulationSettings(SAMPLE_STRATEGY, { ...CONFIG, stake_amount: 'unlimited', trailing: null });
  expect(plain).toMatchObject({
    stake: { kind: 'unlimited' },
    useExitSignal: true,
    exitProfitOnly: false,
    unfilledTimeoutMinutes: 10,
  });
  expect(plain).not.toHaveProperty('trailing');
  expect(plain).not.toHaveProperty('detailTimeframeMs');
});

function kindOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as BacktestError).kind;
  }
  return 'no error';
}
