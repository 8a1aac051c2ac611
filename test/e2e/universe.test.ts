import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { strategyFilesFixture } from './strategy-files-fixture.ts';
import {
  corruptFile,
  DAY,
  DELISTED,
  EMPTY_DAY,
  HOUR,
  louder,
  naiveMembers,
  plant,
  plantedMarket,
  plantInstruments,
  symbolOf,
} from './universe-fixture.ts';

/** Backtests over pairs that are chosen over time, over HTTP. */

/** Enters every pair every five hours and leaves three hours later: entries at midnight, and positions that outlive a choice. */
const STRATEGY = `
export default {
  name: 'steady', description: 'Trades by the clock.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 50,
  parameters: {}, startupCandles: () => 2, stoploss: -0.9,
  indicators: () => ({}),
  signals: ({ timestamp }) => ({
    enterLong: Uint8Array.from(timestamp, (time) => Number((time / 3600000) % 5 === 0)),
    exitLong: Uint8Array.from(timestamp, (time) => Number((time / 3600000) % 5 === 3)),
  }),
};
`;

const RANGE = { start: '2026-02-04T00:00:00.000Z', end: '2026-03-09T00:00:00.000Z' };
const START = Date.parse(RANGE.start);
const END = Date.parse(RANGE.end);
const UNIVERSE = { rule: 'top_volume', n: 3, lookback_days: 7, rebalance: 'weekly', min_age_days: 10 };
const isMonday = (day: Date) => day.getUTCDay() === 1;
const CONFIG = { strategy: 'steady', exchange: 'kraken', date_range: RANGE, universe: UNIVERSE };

/** The same with indicators of 20 days. */
const EARLY = STRATEGY.replace("'steady'", "'early'").replace(
  'startupCandles: () => 2',
  'startupCandles: () => 480',
);

const fixture = strategyFilesFixture({ 'steady.ts': STRATEGY, 'early.ts': EARLY });
const market = plantedMarket();
beforeAll(async () => {
  await plant(fixture.platform, 'kraken', market);
  await plant(fixture.platform, 'gate', plantedMarket(louder));
});

const reportOf = async (jobId: string) =>
  (await fixture.platform.get(`/api/v1/backtests/${jobId}/report-data`)).body;

type Run = { readonly job: any; readonly report: any };
const runs = new Map<string, Promise<Run>>();

/** Equal configurations run once. */
function run(config: object): Promise<Run> {
  const key = JSON.stringify(config);
  const known = runs.get(key) ?? runAgain(config);
  runs.set(key, known);
  return known;
}

async function runAgain(config: object): Promise<Run> {
  const job = await fixture.platform.run({ ...CONFIG, ...config });
  expect(job.status, job.error).toBe('completed');
  return { job, report: await reportOf(job.job_id) };
}

/** Pairs of each day by the intervals of a report. */
const daysOf = (universe: any) =>
  Array.from({ length: (END - START) / DAY }, (_, i) => START + i * DAY).map((day) => ({
    day,
    pairs: universe.members
      .filter(({ intervals }: any) =>
        intervals.some(({ from, to }: any) => Date.parse(from) <= day && day < Date.parse(to)),
      )
      .map(({ pair }: any) => pair),
  }));

const sorted = (days: { day: number; pairs: string[] }[]) =>
  days.map(({ day, pairs }) => ({ day, pairs: pairs.toSorted() }));

describe('universe', () => {
  it.each([
    [UNIVERSE, isMonday],
    [{ ...UNIVERSE, rebalance: 'daily' }, () => true],
    [{ ...UNIVERSE, rebalance: 'monthly', lookback_days: 20 }, (day: Date) => day.getUTCDate() === 1],
  ])('members of %j equal those of a scan of all candles', async (universe, isChoice) => {
    const { job, report } = await run(universe === UNIVERSE ? {} : { universe });
    const expected = naiveMembers(market, universe, START, END, isChoice);
    expect(sorted(daysOf(report.universe))).toEqual(sorted(expected));
    const ever = [...new Set(expected.flatMap(({ pairs }) => pairs))].sort();
    expect(job.config).toMatchObject({ pairs: ever, universe, max_open_trades: universe.n });
    expect(report.settings).toMatchObject({ pairs: ever, universe });
    expect(report.universe.candidates).toBe(7);
    expect(expected.length).toBe(33);
  });

  it('entries are within the membership, exits are not bound by it, and a delisted pair is closed with its last candle', async () => {
    const { job, report } = await run({ universe: { ...UNIVERSE, rebalance: 'daily' } });
    const members = new Map<string, { from: number; to: number }[]>(
      report.universe.members.map(({ pair, intervals }: any) => [
        pair,
        intervals.map(({ from, to }: any) => ({ from: Date.parse(from), to: Date.parse(to) })),
      ]),
    );
    const opened = report.trades.items.map(({ pair, opened_at, closed_at }: any) => {
      const at = Date.parse(opened_at);
      return {
        closed: Date.parse(closed_at),
        own: members.get(pair)!.find(({ from, to }) => from <= at && at < to),
      };
    });
    expect(opened.length).toBeGreaterThan(100);
    expect(opened.every(({ own }: any) => own)).toBe(true);
    expect(opened.some(({ closed, own }: any) => closed > own.to)).toBe(true);
    const dead = symbolOf('DEAD');
    const last = report.trades.items.filter(({ pair }: any) => pair === dead).at(-1);
    expect(last).toMatchObject({
      exit_reason: 'delisted',
      closed_at: new Date(DELISTED - HOUR).toISOString(),
      left_open: false,
    });
    // 5 % below the last close by default.
    expect(last.exit_price).toBeCloseTo(market[dead]!.at(-1)!.close * 0.95, 8);
    expect(report.universe.delisted_trades).toBe(1);
    expect(report.definitions['universe.delisted_trades']).toBeDefined();
    expect(report.settings.universe.delisting_haircut).toBe(0.05);
    expect(report.universe.members.find(({ pair }: any) => pair === dead).ends).toBe(
      new Date(DELISTED).toISOString(),
    );
    expect(job.warnings).toContainEqual(expect.stringContaining(`end before the run: ${dead}`));
    expect(report.biases).toContainEqual({
      effect: 'neutral',
      text: expect.stringContaining('less a haircut of 5 % for longs'),
    });
    // A pair without a candle on the day before is not chosen, and comes back.
    const link = members.get(symbolOf('LINK'))!;
    expect(link.some(({ to }) => to === EMPTY_DAY + DAY)).toBe(true);
    expect(report.look_ahead).toMatchObject({ findings: [] });
  });

  it('candidates of which something is missing or corrupt are left out with the reason, and the others keep their precision', async () => {
    const [bnb, dead, etc] = ['BNB', 'DEAD', 'ETC'].map(symbolOf) as [string, string, string];
    const exchange = 'bitget';
    const symbols = Object.keys(market);
    await plant(fixture.platform, exchange, market);
    await plantInstruments(
      fixture.platform,
      exchange,
      symbols.filter((symbol) => symbol !== dead),
    );
    const folder = `candles/exchange=${exchange}/symbol=ETC_USDT_USDT/timeframe=1h`;
    const file = corruptFile(fixture.platform, `${folder}/2026-02.parquet`);
    // BNB is read whole only once it is chosen: its earlier candles are those of the indicators.
    const early = corruptFile(fixture.platform, `${folder.replace('ETC', 'BNB')}/2026-01.parquet`);
    const none = symbolOf('NONE');
    const range = { start: '2026-02-09T00:00:00.000Z', end: RANGE.end };
    const { job, report } = await run({
      exchange,
      pairs: [...symbols, none],
      collect: 'never',
      date_range: range,
      universe: { ...UNIVERSE, lookback_days: 5 },
      strategy: 'early',
    });
    expect(job.config.precision).toBe('exchange');
    const left = [
      { pair: bnb, reason: 'corrupt_file', missing: early },
      { pair: dead, reason: 'no_instrument', missing: 'instrument' },
      { pair: etc, reason: 'corrupt_file', missing: file },
      { pair: none, reason: 'no_candles', missing: '1h candles' },
    ];
    expect(report.universe.left_out).toEqual(left);
    expect(report.universe.candidates).toBe(4);
    const others = Object.fromEntries(
      Object.entries(market).filter(([pair]) => ![bnb, dead, etc].includes(pair)),
    );
    const rule = { ...UNIVERSE, lookback_days: 5 };
    const from = Date.parse(range.start);
    expect(sorted(daysOf(report.universe).filter(({ day }) => day >= from))).toEqual(
      sorted(naiveMembers(others, rule, from, END, isMonday)),
    );
    expect(job.warnings.slice(0, 3)).toEqual([
      expect.stringContaining(`missing or corrupt: ${none} (1h candles)`),
      expect.stringContaining(`missing or corrupt: ${dead} (instrument). Collect the instruments`),
      expect.stringContaining(`missing or corrupt: ${bnb} (${early}), ${etc} (${file})`),
    ]);
    const { out } = await runInProcess(fixture.platform.home, ['show', job.job_id]);
    expect(out).toMatch(/Left out +│ Because/);
    // Without precision the delisted pair is a candidate again.
    const plain = await fixture.platform.run({ ...job.config, precision: 'none' });
    expect((await reportOf(plain.job_id)).universe.left_out.map(({ pair }: any) => pair)).not.toContain(dead);
  });

  it('same request has the same bytes; the pairs of its answer as candidates choose the same', async () => {
    const [first, again] = await Promise.all([run({}), runAgain({})]);
    const { trades, ...report } = first.report;
    expect(again.report.provenance).toEqual(report.provenance);
    expect(again.report.universe).toEqual(report.universe);
    expect(again.job.result).toEqual(first.job.result);
    const { job, report: other } = await run({ pairs: first.job.config.pairs, collect: 'never' });
    expect(other.universe.members).toEqual(report.universe.members);
    expect(job.result).toEqual(first.job.result);
    const { universe, date_range } = first.job.config;
    expect(universe.candidates).toHaveLength(7);
    const repeated = await run(first.job.config);
    expect(repeated.report.universe).toEqual(report.universe);
    // Over other dates too: pairs that were never in may come in.
    const end = new Date(Date.parse(date_range.end) - 8 * DAY).toISOString();
    const earlier = await run({ ...first.job.config, date_range: { ...date_range, end } });
    expect(earlier.report.universe.candidates).toBe(7);
    expect(earlier.job.config.universe).toEqual(universe);
    const fewer = await run({
      pairs: first.job.config.pairs.toReversed(),
      collect: 'never',
      universe: { ...UNIVERSE, n: 2 },
    });
    expect(fewer.report.provenance.digest).not.toBe(report.provenance.digest);
  });

  it('example of docs/universe.md runs', async () => {
    const page = readFileSync(new URL('../../docs/universe.md', import.meta.url), 'utf8');
    const example = JSON.parse(/```json\n([^`]+)```/.exec(page)![1]!);
    const job = await fixture.platform.run(example);
    expect(job.status, job.error).toBe('completed');
    const { universe } = await reportOf(job.job_id);
    expect(universe).toMatchObject({ candidates: 3, short_rebalances: 0 });
    expect(job.config.universe.candidates).toEqual(example.pairs);
  });

  it('haircut lowers the result of the run, and the comparisons do not hold the delisted pair', async () => {
    // The pair ends a day before this run, but still trades on its last full day.
    const date_range = { ...RANGE, end: new Date(DELISTED + 30 * HOUR).toISOString() };
    const universe = { ...UNIVERSE, rebalance: 'daily' };
    const [none, half] = await Promise.all(
      [0, 0.5].map((delisting_haircut) => run({ date_range, universe: { ...universe, delisting_haircut } })),
    );
    const dead = symbolOf('DEAD');
    const exit = ({ report }: Run) =>
      report.trades.items.find(({ exit_reason }: any) => exit_reason === 'delisted');
    const { close } = market[dead]!.at(-1)!;
    expect(exit(none!)).toMatchObject({ pair: dead, exit_price: expect.closeTo(close, 8) });
    expect(exit(half!).exit_price).toBeCloseTo(close / 2, 8);
    // About half of the stake of 50, of a wallet of 1,000.
    const cost = (half!.job.result.total_profit_pct - none!.job.result.total_profit_pct) as number;
    expect(cost).toBeCloseTo(-2.5, 0);
    for (const index of [0, 1]) {
      const [plain, cut] = [none!, half!].map(({ report }) => report.universe.survivorship[index]);
      expect(plain.pairs).not.toContain(dead);
      expect(cut.figures).toEqual(plain.figures);
      expect(cut.added.total_profit_pct - plain.added.total_profit_pct).toBeCloseTo(-cost, 8);
    }
    expect(none!.report.biases).toContainEqual({
      effect: 'optimistic',
      text: expect.stringContaining('less a haircut of 0 %'),
    });
  });

  it('volume after a choice does not change it', async () => {
    const [before, after] = await Promise.all([run({}), run({ exchange: 'gate' })]);
    // ADA is a thousand times louder from 2026-02-23 on, a Monday: it comes in a week later.
    const change = Date.UTC(2026, 2, 2);
    const until = (days: { day: number; pairs: string[] }[]) =>
      sorted(days.filter(({ day }) => day < change));
    expect(until(daysOf(after.report.universe))).toEqual(until(daysOf(before.report.universe)));
    const ada = after.report.universe.members.find(({ pair }: any) => pair === symbolOf('ADA'));
    expect(ada.intervals.at(-1)).toEqual({ from: new Date(change).toISOString(), to: RANGE.end });
    expect(daysOf(before.report.universe).at(-1)!.pairs).not.toContain(symbolOf('ADA'));
    const early = (report: any) =>
      report.trades.items.filter(({ closed_at }: any) => Date.parse(closed_at) < change);
    expect(early(after.report).map(({ id, ...trade }: any) => trade)).toEqual(
      early(before.report).map(({ id, ...trade }: any) => trade),
    );
  });

  it('candles from before everything that a run reads change nothing', async () => {
    const longer = Object.entries(market).map(([pair, rows]) => {
      const [first] = rows;
      const earlier = Array.from({ length: 240 }, (_, i) => ({
        ...first!,
        time: first!.time - (240 - i) * HOUR,
      }));
      return [pair, first!.time < START - 20 * DAY ? [...earlier, ...rows] : rows] as const;
    });
    await plant(fixture.platform, 'okx', Object.fromEntries(longer));
    const [before, after] = await Promise.all([run({}), run({ exchange: 'okx' })]);
    expect(after.report.universe).toEqual(before.report.universe);
    expect(after.report.provenance.data_digest).toBe(before.report.provenance.data_digest);
  });

  it('rerun keeps the candidates, and named pairs replace them', async () => {
    const { job } = await run({});
    const rerun = async (...options: string[]) => {
      const args = ['rerun', job.job_id, '--json', ...options];
      const { out, err } = await runInProcess(fixture.platform.home, args);
      expect(err).toBe('');
      return JSON.parse(out).job.config.universe;
    };
    const { universe } = job.config;
    expect(await rerun('--universe', 'n=2')).toEqual({ ...universe, n: 2 });
    const pairs = ['ADA', 'BNB', 'ETC', 'XRP'].map(symbolOf);
    expect(await rerun('--pairs', pairs.join(','))).toEqual({ ...universe, candidates: pairs });
  });

  it('survivorship figures equal backtests over the pairs that survived', async () => {
    const { job, report } = await run({});
    const [survivors, final] = report.universe.survivorship;
    expect(job.config.pairs).toContain(symbolOf('DEAD'));
    expect(survivors.pairs).not.toContain(symbolOf('DEAD'));
    expect(final.pairs).toHaveLength(3);
    const { out, err } = await runInProcess(fixture.platform.home, ['show', job.job_id]);
    expect(out, err).toMatch(/Universe: \d of 7 candidates were in, by 5 choices/);
    const closed = report.trades.items.filter(({ exit_reason }: any) => exit_reason === 'delisted');
    expect(out.replace(/\s+/g, ' ')).toContain(`Trades closed by a delisting: ${closed.length}`);
    expect(out).toMatch(/DEAD\/USDT:USDT +│ +\d+ │ 2026-0[\d-]+ to 2026-0.* 2026-02-18 05:00/);
    expect(out).toMatch(/Pairs that survived +│ +\d │/);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'universe of 3 by volume of 7 days, weekly, 10 days old, delisting haircut 0.05',
    );
    const { universe: _, ...fixed } = CONFIG;
    const plain = await fixture.platform.run({
      ...fixed,
      collect: 'never',
      pairs: final.pairs,
      max_open_trades: 3,
    });
    const alive = await run({
      pairs: Object.keys(market).filter((pair) => pair !== symbolOf('DEAD')),
      collect: 'never',
    });
    for (const [choice, { result }] of [
      [final, plain],
      [survivors, alive.job],
    ]) {
      const { sharpe_ratio, total_profit_pct, total_trades } = choice.figures;
      expect({ sharpe_ratio, total_profit_pct, total_trades }).toEqual({
        sharpe_ratio: result.sharpe_ratio,
        total_profit_pct: result.total_profit_pct,
        total_trades: result.total_trades,
      });
      expect(choice.added.total_trades).toBe(result.total_trades - job.result.total_trades);
      expect(choice.added.total_profit_pct).toBeCloseTo(
        result.total_profit_pct - job.result.total_profit_pct,
        6,
      );
    }
  });
});

it('delisted candidate that an exchange does not have makes one collection fail, not the run', async () => {
  const old = symbolOf('DEAD');
  await plant(fixture.platform, 'sim', { [old]: market[old]! });
  const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT', old];
  const { job, report } = await run({ exchange: 'sim', pairs });
  expect(report.universe.members.map(({ pair, ends }: any) => [pair, ends !== null])).toEqual([
    ['BTC/USDT:USDT', false],
    ['ETH/USDT:USDT', false],
    [old, true],
  ]);
  expect(job.warnings).toContainEqual(expect.stringContaining(`end before the run: ${old}`));
  expect(job.collection).toMatchObject({ status: 'failed', unlisted: [old] });
});

describe('rejected universes', () => {
  it.each([
    [{ universe: {} }, 'VAL004', 'config.universe.n'],
    [{ universe: { n: 0 } }, 'VAL005', 'config.universe.n'],
    [{ universe: { n: 1e9 } }, 'VAL005', 'config.universe.n'],
    [{ universe: { n: 3, rule: 'market_cap' } }, 'VAL005', 'config.universe.rule'],
    [{ universe: { n: 3, rebalance: 'hourly' } }, 'VAL005', 'config.universe.rebalance'],
    [{ universe: { n: 3, lookback_days: 366 } }, 'VAL005', 'config.universe.lookback_days'],
    [{ universe: { n: 3, min_age_days: -1 } }, 'VAL005', 'config.universe.min_age_days'],
    [{ universe: { n: 3, delisting_haircut: 1.01 } }, 'VAL005', 'config.universe.delisting_haircut'],
    [{ universe: { n: 3, delisting_haircut: -0.01 } }, 'VAL005', 'config.universe.delisting_haircut'],
    [{ universe: UNIVERSE, robustness: { random_entries: 99 } }, 'VAL005', 'config.universe'],
    [{ universe: UNIVERSE, pairs: ['A/USDT:USDT', 'A/USDC:USDC'] }, 'VAL005', 'config.pairs'],
    [{ universe: UNIVERSE, pairs: [] }, 'VAL005', 'config.pairs'],
    [{ universe: { n: 3, candidates: [] } }, 'VAL005', 'config.universe.candidates'],
    [{ universe: { n: 3, candidates: ['BTC/USDT'] } }, 'VAL002', 'config.universe.candidates.0'],
    [
      { universe: { n: 3, candidates: ['A/USDT:USDT', 'A/USDC:USDC'] } },
      'VAL005',
      'config.universe.candidates',
    ],
    [{ universe: UNIVERSE, exchange: 'empty' }, 'VAL005', 'config.universe'],
  ])('%j is rejected with %s of %s', async (config, code, field) => {
    const { status, body } = await fixture.platform.post('/api/v1/backtests', {
      config: { ...CONFIG, ...config },
    });
    expect({ status: Math.floor(status / 100), code: body.detail.code, field: body.detail.field }).toEqual({
      status: 4,
      code,
      field,
    });
  });

  it('shape that is no universe is rejected', async () => {
    for (const universe of ['top', 3, [UNIVERSE], { n: 'three' }, { n: 2.5 }]) {
      const { status } = await fixture.platform.post('/api/v1/backtests', {
        config: { ...CONFIG, universe },
      });
      expect(status, JSON.stringify(universe)).toBe(400);
    }
  });

  it('run fails with DATA001 when no pair was old enough, and a version of one cannot be registered', async () => {
    const young = await fixture.platform.run({ ...CONFIG, universe: { ...UNIVERSE, min_age_days: 3_000 } });
    expect(young).toMatchObject({ status: 'failed', error_code: 'DATA001' });
    const { job } = await run({});
    const registered = await fixture.platform.strategy.post('/api/v1/strategies/steady/register', {
      backtest_run_id: job.job_id,
      container_image_uri: 'registry.example/steady:1',
    });
    expect(registered.body.detail).toMatchObject({ code: 'VAL005', field: 'backtest_run_id' });
    const hyperopt = await fixture.platform.strategy.post('/api/v1/hyperopt', {
      strategy: 'steady',
      universe: UNIVERSE,
    });
    expect(hyperopt.body.detail).toMatchObject({ code: 'VAL005', field: 'universe' });
  });
});
