import { describe, expect, it } from 'vitest';
import { closedBy, type InformativeCandles, informativeSeries } from '#engine/analysis/informative.ts';
import { runBacktest } from '#engine/backtest.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { definitionProblems } from '#engine/definitions/validate-definition.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import type { CallbackContext, SeriesInfo, StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, SAMPLE_STRATEGY, STARTUP, STEP, sampleInput, sha256 } from './backtest-sample.ts';
import { MINUTE, START, walk } from './run/candles.ts';

const HOUR = 60 * MINUTE;
const BTC = 'BTC/USDT:USDT';
const SOL = 'SOL/USDT:USDT';
/** Hours of SOL: the startup candles, one that is open at the start, and three days. */
const HOURS = STARTUP + 1 + 72;

function hourly(pair: string, key: string, candles = walk(HOURS, HOUR, 9, START - (STARTUP + 1) * HOUR)) {
  return { key, pair, timeframe: '1h', source: '1h', candles } satisfies InformativeCandles;
}

/** Enters only while SOL's hourly close is above its mean. */
const FILTERED: StrategyDefinition = {
  ...SAMPLE_STRATEGY,
  informative: [{ pair: 'SOL/{stake}', timeframe: '1h' }],
  indicators: (candles, params, info) => ({
    ...SAMPLE_STRATEGY.indicators(candles, params, info),
    close: candles.close,
  }),
  signals: (candles, columns, params, informative, info) => {
    const { close, mean } = informative['SOL/{stake} 1h']!;
    const signals = SAMPLE_STRATEGY.signals(candles, columns, params, informative, info);
    return {
      ...signals,
      enterLong: signals.enterLong!.map((set, row) => set & Number(close![row]! > mean![row]!)),
    };
  },
};

function inputOf(strategy: StrategyDefinition, informative: readonly InformativeCandles[]) {
  const input = sampleInput();
  return { ...input, strategy, pairs: input.pairs.map((data) => ({ ...data, informative })) };
}

const run = (strategy: StrategyDefinition, informative: readonly InformativeCandles[]) =>
  runBacktest(inputOf(strategy, informative), { digest: sha256 });

describe('informative pairs', () => {
  it('signals read the closed candles of another pair, and know their own pair', () => {
    const series = hourly(SOL, 'SOL/{stake} 1h');
    const infos = new Set<string>();
    const seen = (info: SeriesInfo) => infos.add(`${info.pair} ${info.timeframe}`);
    const strategy: StrategyDefinition = {
      ...FILTERED,
      indicators: (candles, params, info) => {
        seen(info);
        return FILTERED.indicators(candles, params, info);
      },
      signals: (candles, columns, params, informative, info) => {
        infos.add(`signals ${info.pair} ${info.timeframe}`);
        const close = informative['SOL/{stake} 1h']!.close!;
        for (const minutes of [0, 50, 55, 60, 110, 115]) {
          const row = candles.timestamp.indexOf(START + minutes * MINUTE);
          // The candle of an hour closes when the 5m candle of its 55th minute does.
          const hour = Math.floor((minutes + 5) / 60) - 1;
          expect(close[row]).toBe(series.candles.close[STARTUP + 1 + hour]);
        }
        return FILTERED.signals(candles, columns, params, informative, info);
      },
    };
    const { report } = run(strategy, [series]);
    expect([...infos].sort()).toEqual([
      `${BTC} 5m`,
      'ETH/USDT:USDT 5m',
      `${SOL} 1h`,
      `signals ${BTC} 5m`,
      'signals ETH/USDT:USDT 5m',
    ]);
    expect(report.settings.startup_candles).toBe(STARTUP);
    expect(report.informative).toEqual([
      {
        pair: SOL,
        timeframe: '1h',
        origin: 'stored',
        source_timeframe: '1h',
        candles: HOURS,
        filled_candles: 0,
        read_by: CONFIG.pairs,
        first: '2023-12-31T03:00:00.000Z',
        last: '2024-01-03T23:00:00.000Z',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(report.metrics.closed_trades.total_trades).toBeGreaterThan(0);
  });

  it('callbacks read closed candles of another pair, and the loop reads them of all pairs', () => {
    const series = hourly(SOL, 'SOL/{stake} 1h');
    const HOURLY = 'SOL/{stake} 1h';
    const seen = new Map<string, number>();
    let loops = 0;
    const strategy: StrategyDefinition = {
      ...FILTERED,
      callbacks: {
        loopStart: ({ pairs }) => {
          const [first, ...others] = pairs.map(
            ({ informative, index }) => informative[HOURLY]!.close![index - 1],
          );
          for (const other of others) expect(other).toBe(first);
          loops++;
        },
        confirmEntry: ({ informative, index, time, pair }) => {
          const close = informative[HOURLY]!.close![index - 1]!;
          // The newest hour that has closed when the candle before this one does.
          const hour = Math.floor((time - START) / HOUR) - 1;
          expect(close).toBe(series.candles.close[STARTUP + 1 + hour]);
          seen.set(pair, close);
          return true;
        },
      },
    };
    const { trades } = run(strategy, [series]);
    expect(trades).toEqual(run(FILTERED, [series]).trades);
    expect([seen.size, loops > 100]).toEqual([2, true]);
    const without = {
      ...SAMPLE_STRATEGY,
      callbacks: {
        confirmEntry: (context: CallbackContext) => {
          expect(context.informative).toEqual({});
          return true;
        },
      },
    };
    expect(
      runBacktest({ ...sampleInput(), strategy: without }, { digest: sha256 }).trades.length,
    ).toBeGreaterThan(0);
  });

  it('columns of another pair are computed once per run, those of each pair for itself', () => {
    const calls: string[] = [];
    const counting: StrategyDefinition = {
      ...FILTERED,
      indicators: (candles, params, info) => {
        calls.push(`${info.pair} ${info.timeframe}`);
        return FILTERED.indicators(candles, params, info);
      },
    };
    const { trades } = run(counting, [hourly(SOL, 'SOL/{stake} 1h')]);
    expect(calls.sort()).toEqual([`${BTC} 5m`, 'ETH/USDT:USDT 5m', `${SOL} 1h`]);
    expect(trades).toEqual(run(FILTERED, [hourly(SOL, 'SOL/{stake} 1h')]).trades);
    calls.length = 0;
    const input = inputOf(counting, []);
    // Candles of their own, and equal ones: each pair reads those that it was given.
    const pairs = input.pairs.map((data, index) => ({
      ...data,
      informative: [
        hourly(SOL, 'SOL/{stake} 1h', walk(HOURS, HOUR, 9 + index, START - (STARTUP + 1) * HOUR)),
      ],
    }));
    const { report } = runBacktest({ ...input, pairs }, { digest: sha256 });
    expect(calls.filter((call) => call === `${SOL} 1h`)).toHaveLength(2);
    expect(report.informative).toHaveLength(2);
  });

  it('digest of a pair covers the informative candles that the run reads, and no others', () => {
    const series = hourly(SOL, 'SOL/{stake} 1h');
    const { report, trades } = run(FILTERED, [series]);
    const earlier = walk(HOURS + 50, HOUR, 9, START - (STARTUP + 51) * HOUR);
    for (const name of Object.keys(earlier) as (keyof Candles)[]) earlier[name].set(series.candles[name], 50);
    const same = run(FILTERED, [{ ...series, candles: earlier }]);
    expect(same.report.provenance).toEqual(report.provenance);
    expect(same.trades).toEqual(trades);
    const later = walk(HOURS + 50, HOUR, 9, START - (STARTUP + 1) * HOUR);
    for (const name of Object.keys(later) as (keyof Candles)[]) later[name].set(series.candles[name]);
    expect(run(FILTERED, [{ ...series, candles: later }]).report.provenance).toEqual(report.provenance);
    const volume = series.candles.volume.slice();
    volume[0]!++;
    const other = run(FILTERED, [{ ...series, candles: { ...series.candles, volume } }]);
    expect(other.report.provenance.data_digest).not.toBe(report.provenance.data_digest);
  });

  it('pairs begin later when informative candles lack startup history, and end with a warning', () => {
    const series = hourly(SOL, 'SOL/{stake} 1h');
    const late = { ...series, candles: sliceCandles(series.candles, 10, HOURS - 5) };
    const { report } = run(FILTERED, [late]);
    expect(report.settings.first_candle).toBe(new Date(START + 9 * HOUR).toISOString());
    expect(report.warnings).toContain(
      `${BTC} is traded from ${report.data[0]!.first}: the 1h candles of ${SOL} do not cover the ${STARTUP} startup candles before ${new Date(START).toISOString()}.`,
    );
    expect(report.warnings.join('\n')).toContain(
      `The 1h candles of ${SOL} end with the candle at 2024-01-03T18:00:00.000Z: later rows of ${BTC} repeat its values.`,
    );
  });

  it('pair without enough informative candles is left out, with that reason', () => {
    const series = hourly(SOL, 'SOL/{stake} 1h');
    const few = { ...series, candles: sliceCandles(series.candles, 0, 5) };
    expect(() => run(FILTERED, [few])).toThrow(
      `${BTC} cannot be traded: the run has 5 1h candles of ${SOL}. The strategy needs ${STARTUP} of them`,
    );
  });

  it('series that is declared in two ways is reported once', () => {
    const twice = [
      { pair: 'SOL/{stake}', timeframe: '1h' },
      { pair: SOL, timeframe: '1h' },
    ] as const;
    const strategy = { ...FILTERED, informative: twice };
    const { report } = run(strategy, [hourly(SOL, 'SOL/{stake} 1h'), hourly(SOL, `${SOL} 1h`)]);
    expect(report.informative!.map(({ read_by }) => read_by)).toEqual([CONFIG.pairs]);
  });

  it('spot pairs read the spot pairs of the declared perpetuals, by the declared keys', () => {
    const informative = ['BTC/{stake}', BTC].map((pair) => ({ pair, timeframe: '1d' as const }));
    const seriesOf = (pair: string) =>
      informativeSeries({ informative }, pair).map((each) => [each.key, each.pair]);
    expect(seriesOf('ETH/USDT')).toEqual([
      ['BTC/{stake} 1d', 'BTC/USDT'],
      [`${BTC} 1d`, 'BTC/USDT'],
    ]);
    expect(seriesOf('ETH/USDC:USDC').map(([, pair]) => pair)).toEqual(['BTC/USDC:USDC', BTC]);
  });

  it('pairs of another quote are read in their currency', () => {
    const pair = 'ETH/BTC:BTC';
    const strategy: StrategyDefinition = {
      ...FILTERED,
      informative: [{ pair, timeframe: '1h' }],
      signals: ({ close }, _columns, _params, informative) => {
        const ratio = informative[`${pair} 1h`]!.close!;
        return { enterLong: Uint8Array.from(close, (_, row) => (ratio[row]! > 0 ? 1 : 0)) };
      },
    };
    const { report } = run(strategy, [hourly(pair, `${pair} 1h`)]);
    expect(report.informative).toMatchObject([{ pair, timeframe: '1h', read_by: CONFIG.pairs }]);
    // A spot run reads the spot pair by the same key.
    expect(informativeSeries(strategy, 'ETH/USDT')).toMatchObject([{ key: `${pair} 1h`, pair: 'ETH/BTC' }]);
  });

  it('permutations are not tested: the informative candles would keep the patterns of the real ones', () => {
    const input = inputOf(FILTERED, [hourly(SOL, 'SOL/{stake} 1h')]);
    const config = { ...input.config, robustness: { permutations: 19 } };
    const { report } = runBacktest({ ...input, config }, { digest: sha256 });
    expect(report.robustness!.permutations).toMatchObject({
      p_value: null,
      reason: 'Candles of the informative series cannot be permuted with those of the run.',
    });
  });

  it('backtest fails when candles of an informative pair are missing', () => {
    expect(() => run(FILTERED, [])).toThrow(`reads 1h candles of ${SOL}, which are not given`);
  });

  it('strategy that writes into informative candles fails', () => {
    const strategy: StrategyDefinition = {
      ...FILTERED,
      indicators: (candles, params, info) => {
        if (info.pair === SOL) candles.close[0] = 1;
        return FILTERED.indicators(candles, params, info);
      },
    };
    expect(() => run(strategy, [hourly(SOL, 'SOL/{stake} 1h')])).toThrow('wrote into its candles');
  });
});

describe('given candles of an informative timeframe', () => {
  const HOURLY: StrategyDefinition = {
    ...SAMPLE_STRATEGY,
    informativeTimeframes: ['1h'],
    signals: (candles, columns, params, informative, info) => {
      const { mean } = informative['1h']!;
      const signals = SAMPLE_STRATEGY.signals(candles, columns, params, informative, info);
      const enterLong = signals.enterLong!.map((set, row) => set & Number(candles.close[row]! > mean![row]!));
      return { ...signals, enterLong };
    },
  };

  it('given candles need no startup candles of the run, and give the trades of candles computed from the run', () => {
    const length = (STARTUP + 1) * 12 + (3 * 24 * 60) / 5;
    const pairs = CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(length, STEP, i, START - (STARTUP + 1) * HOUR),
    }));
    const computed = runBacktest({ ...sampleInput(), strategy: HOURLY, pairs }, { digest: sha256 });
    expect(computed.report.settings.startup_candles).toBe((STARTUP + 1) * 12);
    expect(computed.report.informative).toBeUndefined();
    const given = pairs.map((data) => ({
      ...data,
      candles: sliceCandles(data.candles, (STARTUP + 1) * 12 - STARTUP, length),
      informative: [hourly(data.pair, '1h', resampleCandles(data.candles, STEP, HOUR))],
    }));
    const stored = runBacktest({ ...sampleInput(), strategy: HOURLY, pairs: given }, { digest: sha256 });
    expect(stored.report.settings.startup_candles).toBe(STARTUP);
    expect(stored.report.informative).toHaveLength(2);
    expect(stored.trades.length).toBeGreaterThan(0);
    expect(stored.trades).toEqual(computed.trades);
  });
});

describe('look-ahead certificate', () => {
  const certify = (strategy: StrategyDefinition, informative: InformativeCandles[]) => {
    const { config, pairs } = inputOf(strategy, informative);
    return certifyLookAhead({ load: async () => strategy, config, pairs }, { cuts: 4, histories: 24 });
  };
  /** Reads the next candle on informative candles only. */
  const leaking = (strategy: StrategyDefinition): StrategyDefinition => ({
    ...strategy,
    indicators: (candles, params, info) => {
      const columns = FILTERED.indicators(candles, params, info);
      if (info.timeframe === '5m') return columns;
      return { ...columns, close: candles.close.map((_, row) => candles.close[row + 1] ?? 0) };
    },
  });

  it('certification passes a strategy that reads another pair', async () => {
    const { findings } = await certify(FILTERED, [hourly(SOL, 'SOL/{stake} 1h')]);
    expect(findings).toEqual([]);
  });

  it('certification finds a leak through an informative pair', async () => {
    const { findings } = await certify(leaking(FILTERED), [hourly(SOL, 'SOL/{stake} 1h')]);
    expect(findings.map(({ kind, column }) => `${kind} ${column}`)).toContain(
      'look_ahead informative.SOL/{stake} 1h.close',
    );
  });

  it('certification finds a leak through given candles of an informative timeframe', async () => {
    const strategy = leaking({ ...SAMPLE_STRATEGY, informativeTimeframes: ['1h'] });
    const { findings } = await certify(strategy, [hourly(BTC, '1h')]);
    expect(findings.map(({ kind, column }) => `${kind} ${column}`)).toContain(
      'look_ahead informative.1h.close',
    );
  });

  it('closedBy keeps the candles that close at the given time', () => {
    const series = hourly(SOL, 'x');
    const first = series.candles.timestamp[0]!;
    expect(closedBy([series], first + HOUR)[0]!.candles.timestamp).toHaveLength(1);
    expect(closedBy([series], first + HOUR - 1)[0]!.candles.timestamp).toHaveLength(0);
  });
});

describe('definition of informative pairs', () => {
  it.each([
    [{ pair: 'BTC', timeframe: '1h' }, 'informative[0] has the pair BTC: write BASE/QUOTE:SETTLE'],
    [{ pair: BTC, timeframe: '1m' }, 'informative[0] has the timeframe 1m, which is not 5m or longer'],
    [{ pair: BTC, timeframe: '7h' }, 'informative[0] has the timeframe 7h, which is not 5m or longer'],
    [{ pair: BTC, timeframe: '1h', ffill: true }, 'informative[0] has ffill, which is not known'],
    ['BTC', 'informative[0] must be an object with pair and timeframe'],
  ])('definition rejects %j', (informative, problem) => {
    const [first] = definitionProblems({ ...SAMPLE_STRATEGY, informative: [informative] });
    expect(first).toContain(problem);
  });

  it('definition rejects a series that is named twice, and accepts its own timeframe', () => {
    const series = { pair: 'BTC/{stake}', timeframe: '5m' };
    expect(definitionProblems({ ...SAMPLE_STRATEGY, informative: [series] })).toEqual([]);
    expect(definitionProblems({ ...SAMPLE_STRATEGY, informative: [series, series] })).toEqual([
      'informative[1] is there twice',
    ]);
  });
});
