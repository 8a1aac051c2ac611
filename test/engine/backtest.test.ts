import { describe, expect, it } from 'vitest';
import { BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { EquityData } from '#contract/backtests/backtest-api.ts';
import { BacktestReport, Trade, TradesPage } from '#contract/backtests/report.ts';
import type { PeriodRow } from '#contract/backtests/report-metrics.ts';
import {
  type BacktestInput,
  type BacktestOutcome,
  runBacktest,
  runBacktestPausing,
} from '#engine/backtest.ts';
import type { Instrument } from '#engine/instrument.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, ROWS, SAMPLE_STRATEGY, STARTUP, STEP, sampleInput, sha256 } from './backtest-sample.ts';
import { START, walk } from './run/candles.ts';

const run = (input: BacktestInput = sampleInput()) => runBacktest(input, { digest: sha256 });
const bytes = ({ timing, ...outcome }: BacktestOutcome) => JSON.stringify(outcome);

describe('backtest', () => {
  const outcome = run();
  const { result, equity, report, trades } = outcome;

  it('backtest result, report, equity and trades agree on profits, counts and drawdowns', () => {
    expect(trades.length).toBeGreaterThan(30);
    expect(new Set(trades.map((trade) => trade.side))).toEqual(new Set(['long', 'short']));
    const profit = trades.reduce((sum, trade) => sum + trade.profit, 0);
    expect(result.total_profit).toBeCloseTo(profit, 8);
    expect(result.final_balance).toBeCloseTo(1000 + profit, 6);
    expect(result.total_trades).toBe(trades.length);
    expect(result.winning_trades + result.losing_trades + result.draws).toBe(trades.length);
    expect(equity.equity.at(-1)).toBeCloseTo(result.final_balance, 6);
    expect(result.max_drawdown_pct).toBe(-Math.min(...equity.drawdown));
    expect(result.max_drawdown_pct).toBe(report.drawdowns.daily[0]!.depth_pct);
    expect(report.metrics.equity.max_drawdown_candle_pct).toBe(report.drawdowns.candle!.depth_pct);
    expect(report.costs.fees.amount).toBeCloseTo(result.fees, 8);
    expect(report.costs.funding.amount).toBeCloseTo(-result.funding, 8);
    for (const table of ['per_pair', 'per_enter_tag', 'per_exit_reason', 'per_side'] as const) {
      const rows = report.tables[table];
      const parts = rows.slice(0, -1).reduce((sum, row) => sum + row.total_profit, 0);
      expect(parts).toBeCloseTo(rows.at(-1)!.total_profit, 8);
      expect(rows.at(-1)!.total_profit).toBe(result.total_profit);
    }
    for (const rows of Object.values<readonly PeriodRow[]>({ ...report.periods })) {
      expect(rows.reduce((sum, row) => sum + row.total_trades, 0)).toBe(trades.length);
    }
  });

  it('strategy that writes into candles that it kept, after they were checked, changes no result', () => {
    const kept: Float64Array[] = [];
    const writing: StrategyDefinition = {
      ...SAMPLE_STRATEGY,
      signals: (candles, ...others) => {
        for (const column of kept.splice(0)) for (let row = 30; row < column.length; row++) column[row]! *= 3;
        kept.push(candles.open, candles.high, candles.low, candles.close);
        return SAMPLE_STRATEGY.signals(candles, ...others);
      },
    };
    expect(run(sampleInput({ strategy: writing })).result).toEqual(result);
  });

  it('strategy that changes signals and tags that it returned changes no result', () => {
    const kept: { flags: Uint8Array[]; tags: unknown[] }[] = [];
    const changing: StrategyDefinition = {
      ...SAMPLE_STRATEGY,
      signals: (...given) => {
        for (const { flags, tags } of kept.splice(0)) {
          for (const column of flags) column.fill(255);
          tags.fill({ toString: () => 'changed' });
        }
        const signals = SAMPLE_STRATEGY.signals(...given);
        const { enterLong, exitShort } = signals;
        kept.push({ flags: [enterLong!, exitShort!], tags: signals.tags as unknown[] });
        return signals;
      },
    };
    const changed = run(sampleInput({ strategy: changing }));
    expect(changed.result).toEqual(result);
    expect(changed.report.tables.per_enter_tag.map(({ key }) => key)).toEqual(
      report.tables.per_enter_tag.map(({ key }) => key),
    );
  });

  it('equity has one value per UTC day of the range', () => {
    expect(equity.dates).toEqual(['2024-01-01', '2024-01-02', '2024-01-03']);
    expect(equity.monthly_returns['2024-01']).toBeCloseTo(result.total_profit_pct, 6);
    expect(report.periods.month[0]!.return_pct).toBe(equity.monthly_returns['2024-01']);
  });

  it('report describes data, settings and startup candles', () => {
    expect(outcome.candles).toBe(2 * ROWS);
    expect(report.data[0]).toMatchObject({
      pair: 'BTC/USDT:USDT',
      candles: ROWS,
      first: '2024-01-01T00:00:00.000Z',
      last: '2024-01-03T23:55:00.000Z',
      startup_candles: STARTUP,
      filled_candles: 0,
      funding_events: 9,
    });
    expect(report.settings).toMatchObject({
      first_candle: '2024-01-01T00:00:00.000Z',
      last_candle: '2024-01-03T23:55:00.000Z',
      startup_candles: STARTUP,
      can_short: true,
    });
    expect(report.warnings.filter((warning) => !warning.includes('fill model'))).toEqual([]);
  });

  it('backtest output matches the contract schemas exactly', () => {
    const result_ = BacktestResult.strict().parse(result);
    expect(result_).toEqual(result);
    expect(EquityData.strict().parse(equity)).toEqual(equity);
    const stored = JSON.parse(JSON.stringify(report));
    expect(BacktestReport.parse(stored)).toEqual(stored);
    const typed: BacktestReport = report;
    expect(typed).toBe(report);
    const items = trades.map((_, row) => tradeRecord(outcome.table, row, row + 1));
    for (const record of items) Trade.strict().parse(record);
    TradesPage.strict().parse({ items, page: 1, pages: 1, total: trades.length });
    const config: ResolvedBacktestConfig = ResolvedBacktestConfig.strict().parse(CONFIG);
    expect(config).toEqual({ ...CONFIG, precision: 'none' });
    expect(JSON.stringify(result).length).toBeLessThan(800);
  });

  it('report defines every metric it contains', () => {
    const names = Object.values(report.metrics).flatMap((family) => Object.keys(family));
    expect(Object.keys(report.definitions)).toEqual(expect.arrayContaining(names));
    for (const [family, metrics] of Object.entries(report.metrics)) {
      for (const name of Object.keys(metrics)) expect(report.definitions[name]!.family).toBe(family);
    }
    for (const row of report.tables.per_pair) {
      const undefinedColumns = Object.keys(row).filter((name) => !report.definitions[name]);
      expect(undefinedColumns).toEqual(['key']);
    }
  });

  it('report compares both fill models and warns when trades differ', () => {
    expect(report.fill_model).toMatchObject({ used: 'freqtrade', alternative: 'conservative' });
    expect(report.fill_model.differing_trades).toBeGreaterThan(0);
    expect(report.warnings.join()).toContain('under the conservative fill model');
    const conservative = run(sampleInput({ config: { ...CONFIG, fill_model: 'conservative' } }));
    expect(conservative.result.total_profit).toBe(report.fill_model.alternative_total_profit);
    expect(conservative.report.fill_model.alternative_total_profit).toBe(result.total_profit);
  });

  it('report lists the biases that apply to the settings', () => {
    const effects = report.biases.map((bias) => bias.effect);
    expect(new Set(effects)).toEqual(new Set(['optimistic', 'pessimistic', 'neutral']));
    const text = report.biases.map((bias) => bias.text).join();
    expect(text).toContain('Trailing stop');
    expect(text).not.toContain('Slippage and spread are 0');
    const plain = run(sampleInput({ config: { ...CONFIG, slippage: 0, trailing: null } }));
    const plainText = plain.report.biases.map((bias) => bias.text).join();
    expect(plainText).toContain('Slippage and spread are 0');
    expect(plainText).not.toContain('Trailing stop');
    // 0.07 * 100 is 7.000000000000001.
    const capped = run(
      sampleInput({ config: { ...CONFIG, slippage_model: { participation: 0.07 } } }),
    ).report;
    expect(capped.biases.map((bias) => bias.text).join()).toContain('fills at most 7 % of the volume');
  });

  it('only reports of runs without a limit by volume say that orders fill completely', () => {
    const textOf = (changes: Partial<typeof CONFIG>) =>
      run(sampleInput({ config: { ...CONFIG, ...changes } }))
        .report.biases.map((bias) => bias.text)
        .join();
    expect(textOf({})).toContain('fills completely and immediately');
    expect(textOf({ slippage_model: { participation: 0.07 } })).not.toMatch(
      /fills? completely and|no partial fills/,
    );
  });
});

it('signal acts at the open of the next candle', () => {
  const at = START + 100 * STEP;
  const input = sampleInput({
    strategy: {
      ...SAMPLE_STRATEGY,
      signals: ({ timestamp }) => ({
        enterLong: Uint8Array.from(timestamp, (time) => (time === at ? 1 : 0)),
      }),
    },
    config: { ...CONFIG, slippage: 0 },
  });
  const { candles } = input.pairs[0]!;
  const { trades } = run(input);
  expect(trades).toHaveLength(2);
  const trade = trades.find((each) => each.pair === CONFIG.pairs[0])!;
  expect(trade.openedAt).toBe(at + STEP);
  expect(trade.entryPrice).toBe(candles.open[candles.timestamp.indexOf(at) + 1]);
});

describe('provenance', () => {
  const digestOf = (input: BacktestInput) => run(input).report.provenance.digest;

  it('equal inputs produce equal bytes', () => {
    expect(bytes(run())).toBe(bytes(run()));
  });

  it('candles outside the range change no byte', () => {
    const input = sampleInput();
    const longer = input.pairs.map((data, i) => ({
      ...data,
      candles: extended(data.candles, i + 1),
    }));
    expect(bytes(run({ ...input, pairs: longer }))).toBe(bytes(run(input)));
  });

  it.each<[string, (input: BacktestInput) => BacktestInput]>([
    ['a candle', (input) => changedCandle(input)],
    ['the source', (input) => ({ ...input, strategyDigest: sha256('other source') })],
    ['the configuration', (input) => ({ ...input, config: { ...CONFIG, fee: 0.0006 } })],
    ['a parameter', (input) => ({ ...input, config: { ...CONFIG, params: { fast: 3 } } })],
    ['the order of the pairs', (input) => ({ ...input, pairs: [...input.pairs].reverse() })],
    [
      'the funding',
      (input) => ({ ...input, pairs: input.pairs.map(({ pair, candles }) => ({ pair, candles })) }),
    ],
  ])('digest changes with %s', (_, change) => {
    expect(digestOf(change(sampleInput()))).not.toBe(digestOf(sampleInput()));
  });

  it('digest and output ignore the order of configuration keys', () => {
    const config = { ...CONFIG, params: { fast: 20, slow: 50 } };
    const reversed = Object.fromEntries(Object.entries(config).reverse()) as typeof config;
    const input = sampleInput({ config: { ...reversed, params: { slow: 50, fast: 20 } } });
    expect(digestOf(input)).toBe(digestOf(sampleInput({ config })));
    expect(bytes(run(input))).toBe(bytes(run(sampleInput({ config }))));
  });
});

describe('precision', () => {
  const INSTRUMENT: Instrument = {
    amountStep: 0.001,
    minAmount: 0.001,
    maxAmount: null,
    minCost: 5,
    maxCost: null,
    contractSize: 1,
    priceTick: 0.1,
  };
  const exact = (changes: Partial<Instrument> = {}) => {
    const input = sampleInput({ config: { ...CONFIG, precision: 'exchange' } });
    const pairs = input.pairs.map((data, i) => ({
      ...data,
      instrument: { ...INSTRUMENT, ...(i === 1 ? changes : {}) },
    }));
    return run({ ...input, pairs }).report;
  };

  it('precision none equals an omitted precision byte for byte', () => {
    const without = run();
    expect(bytes(run(sampleInput({ config: { ...CONFIG, precision: 'none' } })))).toBe(bytes(without));
    expect(without.report.settings.precision).toBe('none');
    expect(without.report.provenance).not.toHaveProperty('instruments_digest');
  });

  it('precision exchange adds an instruments digest that changes the run digest', () => {
    const { provenance, settings } = exact();
    expect(settings.precision).toBe('exchange');
    const instrument =
      '{"amountStep":0.001,"contractSize":1,"maxAmount":null,"maxCost":null,"minAmount":0.001,"minCost":5,"priceTick":0.1}';
    const pairs = CONFIG.pairs.map((pair) => `{"instrument":${instrument},"pair":"${pair}"}`);
    expect(provenance.instruments_digest).toBe(sha256(`[${pairs.join()}]`));
    const changed = exact({ amountStep: 0.01 }).provenance;
    expect(changed).toMatchObject({
      config_digest: provenance.config_digest,
      data_digest: provenance.data_digest,
    });
    expect(changed.instruments_digest).not.toBe(provenance.instruments_digest);
    expect(changed.digest).not.toBe(provenance.digest);
    expect(exact().provenance).toEqual(provenance);
  });

  it('leverage tiers limit the leverage, and report and digest name them', () => {
    const tier = {
      minNotional: 0,
      maxNotional: 1e6,
      maxLeverage: 2,
      maintenanceRate: 0.1,
      maintenanceAmount: 0,
    };
    const tiered = { leverageTiers: [tier], tiersSource: 'import' } as const;
    const leveraged = (changes: Partial<Instrument>, config: Partial<typeof CONFIG> = {}) => {
      const input = sampleInput({ config: { ...CONFIG, precision: 'exchange', leverage: 5, ...config } });
      const pairs = input.pairs.map((data, i) => ({
        ...data,
        instrument: { ...INSTRUMENT, ...(i === 1 ? changes : {}) },
      }));
      return run({ ...input, pairs });
    };
    const { report, table } = leveraged(tiered);
    const [rated, limited] = CONFIG.pairs;
    expect(report.data.map(({ leverage_tiers }) => leverage_tiers)).toEqual([
      undefined,
      { count: 1, source: 'import' },
    ]);
    const leverages = (pair: string) =>
      new Set([...table.leverage].filter((_, row) => table.pair.texts[table.pair.index[row]!] === pair));
    expect(leverages(rated!)).toEqual(new Set([5]));
    expect(leverages(limited!)).toEqual(new Set([2]));
    const plain = leveraged({}).report;
    expect(report.provenance.instruments_digest).not.toBe(plain.provenance.instruments_digest);
    const biasOf = ({ biases }: BacktestReport) =>
      biases.find(({ text }) => text.startsWith('A liquidation'))!.text;
    expect(biasOf(plain)).toBe(
      'A liquidation fills at its price with one maintenance rate for every size. A trade loses at most its collateral, fees and funding inside.',
    );
    expect(biasOf(report)).toContain(`one maintenance rate for every size to ${rated}, which have none`);
    const cross = biasOf(leveraged(tiered, { margin_mode: 'cross' }).report);
    expect(cross).toContain('It closes one trade');
    expect(cross).toContain('A trade loses at most the account.');
    const stacked = { position_stacking: true };
    expect(biasOf(leveraged(tiered, stacked).report)).toContain(
      'Leverage tiers are those of each trade alone',
    );
    expect(biasOf(leveraged({}, stacked).report)).not.toContain('tiers');
    expect(biasOf(report)).not.toContain('of each trade alone');
  });

  it('a bias names liquidations also where only the callback leverages', () => {
    const texts = (trading_mode?: 'spot') => {
      const callbacks = { leverage: () => 5 };
      const config = { ...CONFIG, leverage: 1, ...(trading_mode && { trading_mode }) };
      const { report } = run(sampleInput({ config, strategy: { ...SAMPLE_STRATEGY, callbacks } }));
      return report.biases.map(({ text }) => text).join(' ');
    };
    expect(texts()).toContain('A liquidation fills');
    expect(texts('spot')).not.toContain('A liquidation fills');
  });

  it('biases name the applied precision', () => {
    const biasOf = ({ biases }: BacktestReport) => biases.filter(({ text }) => text.startsWith('Precision:'));
    expect(biasOf(exact())).toEqual([
      { effect: 'neutral', text: expect.stringContaining("exchange's present amount steps") },
    ]);
    expect(biasOf(run().report)).toEqual([
      {
        effect: 'optimistic',
        text: expect.stringContaining(
          'Price ticks, amount steps and order size limits of the exchange are not applied',
        ),
      },
    ]);
  });
});

it('progress rises from 0.2 to 1, and the clock affects only the timing', () => {
  const shares: number[] = [];
  let time = 0;
  const outcome = runBacktest(sampleInput(), {
    digest: sha256,
    now: () => (time += 7),
    onProgress: (share) => shares.push(share),
  });
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(shares.slice(0, 2)).toEqual([0.2, 0.4]);
  expect(shares.length).toBeGreaterThan(10);
  expect(shares.at(-1)).toBe(1);
  // The report reads the clock before, within and after the robustness, for want of a processor time.
  expect(outcome.timing).toEqual({
    indicators_ms: 7,
    simulate_ms: 7,
    report_ms: 28,
    robustness_ms: 14,
    requested_ms: 7,
  });
  expect(bytes(outcome)).toBe(bytes(run()));
});

describe('runBacktestPausing', () => {
  it('runBacktestPausing pauses after every pair and before the report and returns the same bytes', async () => {
    let pauses = 0;
    const outcome = await runBacktestPausing(sampleInput(), { digest: sha256 }, async () => {
      pauses++;
    });
    expect(pauses).toBe(CONFIG.pairs.length + 1);
    expect(bytes(outcome)).toBe(bytes(run()));
  });

  it('runBacktestPausing rejects when a pause throws', async () => {
    const stopped = runBacktestPausing(sampleInput(), { digest: sha256 }, async () => {
      throw new Error('stop');
    });
    await expect(stopped).rejects.toThrow('stop');
  });
});

/** Adds ten candles on either side, which a run over the range must not read. */
function extended(candles: BacktestInput['pairs'][number]['candles'], seed: number) {
  const count = candles.timestamp.length;
  const wide = walk(count + 20, STEP, seed + 100, candles.timestamp[0]! - 10 * STEP);
  for (const name of ['open', 'high', 'low', 'close', 'volume'] as const) wide[name].set(candles[name], 10);
  return wide;
}

function changedCandle(input: BacktestInput): BacktestInput {
  input.pairs[0]!.candles.volume[50]! += 1;
  return input;
}
