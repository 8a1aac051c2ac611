import { describe, expect, it } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { poll } from '../support/poll.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** Why trades of a run were entered and closed, over HTTP and in the terminal. */

const HOUR = 3_600_000;
const START = Date.parse('2026-03-01T00:00:00Z');

const strategy = (name: string, fields: string, callbacks = '') => `
export default {
  name: '${name}', description: 'Enters once a day.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, ${fields}
  indicators: ({ close }) => ({ twice: close.map((price) => 2 * price) }),
  signals({ timestamp }) {
    const every = (at) => Uint8Array.from(timestamp, (time) => Number((time / 3_600_000) % 24 === at));
    return { enterLong: every(2), enterTag: every(2), exitLong: ${fields.includes('useExitSignal') ? 'every(99)' : 'every(20)'}, tags: ['', 'at two'] };
  },
  callbacks: { ${callbacks} },
};
`;

const fixture = strategyFilesFixture({
  'signaled.ts': strategy('signaled', 'stoploss: -0.9,'),
  'stopped.ts': strategy('stopped', 'stoploss: -0.004,'),
  'trailed.ts': strategy(
    'trailed',
    'stoploss: -0.5, trailing: { positive: 0.005, offset: 0.006, only_offset_is_reached: true },',
  ),
  'shorted.ts': strategy(
    'shorted',
    'stoploss: -0.02, canShort: true, trailing: { positive: 0.005 },',
  ).replace('enterLong: every(2)', 'enterShort: every(2), exitShort: every(30)'),
  'targeted.ts': strategy('targeted', 'stoploss: -0.9, minimalRoi: { 0: 0.05, 120: 0.001, 600: -1 },'),
  'asked.ts': strategy(
    'asked',
    'stoploss: -0.9, useExitSignal: true,',
    `customExit: (context, trade) => (context.time - trade.openedAt >= 5 * 3_600_000 ? 'five "hours"' : null),
     adjustPosition: (context, trade) => {
       const hours = (context.time - trade.openedAt) / 3_600_000;
       return hours === 2 ? { stake: 50, tag: 'more' } : hours === 3 ? -40 : null;
     },`,
  ),
  'leveraged.ts': strategy('leveraged', 'stoploss: -0.99, leverage: 100,'),
});

/** Body after the computation. */
async function computed(path: string): Promise<any> {
  const { status, body } = await poll(
    () => fixture.platform.get(path),
    (each) => each.status !== 202,
    path,
  );
  expect([path, status], JSON.stringify(body)).toEqual([path, 200]);
  return body;
}

async function runOf(name: string, more: Record<string, unknown> = {}) {
  const job = await fixture.platform.run({ ...weekOf(name), ...more });
  expect(job.status, job.error).toBe('completed');
  const path = `/api/v1/backtests/${job.job_id}`;
  const { items: trades } = (await fixture.platform.get(`${path}/trades`)).body;
  const columns = await computed(`${path}/columns?pair=${encodeURIComponent('BTC/USDT:USDT')}`);
  const at = (time: string) => columns.times.indexOf(Date.parse(time) / 1_000);
  const row = (index: number) =>
    Object.fromEntries(Object.entries<any[]>(columns.columns).map(([key, values]) => [key, values[index]]));
  return {
    id: job.job_id as string,
    trades: trades as any[],
    columns: columns.columns as Record<string, any[]>,
    at,
    row,
    why: (n: number) => computed(`${path}/trades/${n}/why`),
    path: (n: number, query = '') => computed(`${path}/trades/${n}/path${query}`),
  };
}

const iso = (time: number) => new Date(time).toISOString();

describe('why', () => {
  it('an entry signal and an exit signal have their candles and every column of their rows', async () => {
    const run = await runOf('signaled');
    const [trade] = run.trades;
    const why = await run.why(1);
    expect(Object.keys(why)).toEqual(['trade', 'entry', 'exit']);
    expect(why.trade).toEqual(trade);
    // The signal of 02:00 acts at the open of 03:00.
    expect(trade.opened_at).toBe(iso(START + 3 * HOUR));
    expect(why.entry).toEqual({
      candle: trade.opened_at,
      rule: 'enter_signal',
      price: trade.entry_price,
      reason: 'at two',
      values: { ...run.row(2), signal_candle: iso(START + 2 * HOUR) },
      text: `Entered long at ${Number(trade.entry_price.toPrecision(10))}: the strategy signaled enter_long on the candle of 2026-03-01 02:00 with the tag "at two".`,
    });
    expect(why.exit).toMatchObject({
      candle: iso(START + 21 * HOUR),
      rule: 'exit_signal',
      price: trade.exit_price,
      reason: 'exit_signal',
      values: { ...run.row(20), signal_candle: iso(START + 20 * HOUR) },
    });
    expect(why.entry.values.twice).toBe(2 * run.columns.close![2]);
    expect(
      (await fixture.platform.get(`/api/v1/backtests/${run.id}/trades/999/why`)).body.detail,
    ).toMatchObject({
      code: 'VAL005',
      context: { max: run.trades.length },
    });
    const open = run.trades.find(({ left_open }) => left_open);
    if (open) {
      const end = await run.why(open.id);
      expect(end.exit).toMatchObject({
        rule: 'force_exit',
        values: { last_candle: iso(START + 167 * HOUR) },
      });
    }
  });

  it('a stop has its level, entry price and ratio, with the price that reached it', async () => {
    const run = await runOf('stopped');
    const trade = run.trades.find(({ exit_reason }) => exit_reason === 'stop_loss');
    const { exit } = await run.why(trade.id);
    const { values } = exit;
    expect(Object.keys(values).sort()).toEqual(['entry_price', 'level', 'low', 'ratio']);
    expect(values).toMatchObject({ level: trade.stop_price, entry_price: trade.entry_price, ratio: -0.004 });
    expect(values.level / trade.entry_price - 1).toBeCloseTo(-0.004, 12);
    expect(values.low).toBe(run.columns.low![run.at(trade.closed_at)]);
    expect(values.low).toBeLessThanOrEqual(values.level);
    const { items } = await run.path(trade.id);
    expect(items.map(({ stop }: any) => stop)).toEqual(items.map(() => trade.stop_price));
    expect(items.map(({ trailing, target, liquidation }: any) => [trailing, target, liquidation])).toEqual(
      items.map(() => [null, null, null]),
    );
    expect([items[0].time * 1_000, items.at(-1).time * 1_000]).toEqual([
      Date.parse(trade.opened_at),
      Date.parse(trade.closed_at),
    ]);
  });

  it('a trailing stop has its best price, and its path follows the highs', async () => {
    const run = await runOf('trailed');
    const trade = run.trades.find(({ exit_reason }) => exit_reason === 'trailing_stop_loss');
    const { exit } = await run.why(trade.id);
    expect(Object.keys(exit.values).sort()).toEqual(['best_price', 'distance', 'level', 'low', 'offset']);
    expect(exit.values).toMatchObject({ level: trade.stop_price, distance: 0.005, offset: 0.006 });
    expect(exit.values.level).toBeCloseTo(exit.values.best_price * 0.995, 8);
    const { items } = await run.path(trade.id);
    // By hand: once the high is 0.6 % above the entry, the stop is 0.5 % below the highest high before the exit.
    const rows = items.map(({ time }: any) => run.at(iso(time * 1_000)));
    let expected = trade.initial_stop_price;
    for (const [index, row] of rows.entries()) {
      const high = run.columns.high![row];
      const isReached = run.columns.low![row] <= expected;
      if (!isReached && high >= trade.entry_price * 1.006 * 1.001)
        expected = Math.max(expected, high * 0.995);
      const { stop, trailing } = items[index];
      if (high < trade.entry_price * 1.006 || high > trade.entry_price * 1.0075)
        expect(stop).toBeCloseTo(expected, 8);
      expect(trailing).toBe(stop > trade.initial_stop_price ? stop : null);
      expected = stop;
    }
    expect(items.at(-1).stop).toBe(trade.stop_price);
    const paged = await run.path(trade.id, '?limit=1');
    expect(paged.items).toEqual(items.slice(0, 1));
    if (items.length > 1)
      expect((await run.path(trade.id, `?limit=1&cursor=${paged.next_cursor}`)).items).toEqual(
        items.slice(1, 2),
      );
  });

  it('a ROI exit has minutes, the profit that it requires, and the price of that', async () => {
    const run = await runOf('targeted');
    const trade = run.trades.find(({ exit_reason }) => exit_reason === 'roi');
    const { exit } = await run.why(trade.id);
    const minutes = (Date.parse(trade.closed_at) - Date.parse(trade.opened_at)) / 60_000;
    const required = minutes >= 600 ? -100 : minutes >= 120 ? 0.1 : 5;
    // The price of that profit after both fees of 0.05 %.
    const level = (trade.entry_price * 1.0005 * (1 + required / 100)) / 0.9995;
    expect(exit.rule).toBe('roi');
    expect(exit.values).toEqual({ minutes, required_pct: required, level: expect.closeTo(level, 6) });
    const { items } = await run.path(trade.id);
    expect(items[0].target).toBeCloseTo((trade.entry_price * 1.0005 * 1.05) / 0.9995, 6);
    expect(items.at(-1).target).toBeCloseTo(level, 6);
  });

  it('a custom exit, an addition and a partial exit have what the callback returned and the row before', async () => {
    const run = await runOf('asked');
    const [trade] = run.trades;
    const why = await run.why(1);
    const opened = run.at(trade.opened_at);
    expect(why.exit).toMatchObject({
      rule: 'custom_exit',
      reason: 'five "hours"',
      values: { ...run.row(opened + 4), returned: 'five "hours"' },
    });
    expect(why.additions).toHaveLength(1);
    expect(why.additions[0]).toMatchObject({
      rule: 'addition',
      reason: 'more',
      candle: iso(Date.parse(trade.opened_at) + 2 * HOUR),
      price: run.columns.open![opened + 2],
      values: { ...run.row(opened + 1), returned: 50 },
    });
    expect(why.partial_exits).toHaveLength(1);
    expect(why.partial_exits[0]).toMatchObject({
      rule: 'partial_exit',
      candle: iso(Date.parse(trade.opened_at) + 3 * HOUR),
      values: { ...run.row(opened + 2), returned: -40 },
    });
    expect(why.exit.text).toContain(
      'customExit returned "five \\"hours\\"" at the open of the candle of 2026-03-01 08:00',
    );
  });

  it('the command says it in words', async () => {
    const run = await runOf('asked');
    const { home, info } = fixture.platform;
    const cli = (...args: string[]) =>
      runInProcess(home, ['--url', info.backend_url, 'why', run.id, ...args]);
    const { out, err } = await cli('1');
    expect(err).toBe('');
    const [entered, added, taken, closed] = [
      'the strategy signaled enter_long on the candle of 2026-03-01 02:00',
      'adjustPosition returned a stake of 50 at the open of the candle of 2026-03-01 05:00',
      'adjustPosition returned a stake of -40 at the open of the candle of 2026-03-01 06:00',
      'customExit returned "five \\"hours\\"" at the open of the candle of 2026-03-01 08:00',
    ].map((text) => out.indexOf(text));
    expect(entered).toBeGreaterThan(0);
    expect([added! > entered!, taken! > added!, closed! > taken!]).toEqual([true, true, true]);
    expect(JSON.parse((await cli('1', '--json')).out)).toEqual(await run.why(1));
    expect((await cli('0')).code).toBe(2);
    expect((await cli('999')).err).toContain('has no trade 999');
  });

  it('a liquidation has its level, and the path has it in every candle', async () => {
    const run = await runOf('leveraged');
    const trade = run.trades.find(({ exit_reason }) => exit_reason === 'liquidation');
    const { exit } = await run.why(trade.id);
    expect(exit.rule).toBe('liquidation');
    expect(Object.keys(exit.values).sort()).toEqual(['level', 'low']);
    expect(exit.values.level).toBeCloseTo(trade.liquidation_price, 8);
    expect(exit.values.low).toBeLessThanOrEqual(exit.values.level);
    for (const { liquidation } of (await run.path(trade.id)).items)
      expect(liquidation).toBeCloseTo(trade.liquidation_price, 8);
  });

  it.each([
    ['signaled', {}],
    ['stopped', {}],
    ['trailed', {}],
    ['trailed', { timeframe_detail: '15m' }],
    ['trailed', { position_stacking: true, max_open_trades: 5 }],
    ['shorted', {}],
    ['targeted', {}],
    ['asked', {}],
    ['leveraged', {}],
  ] as const)(
    'the last stop of every path of %s with %j is the stop price of its trade, in both fill models',
    async (name, more) => {
      for (const fill_model of ['freqtrade', 'conservative']) {
        const run = await runOf(name, { fill_model, ...more });
        expect(run.trades.length).toBeGreaterThan(0);
        for (const trade of run.trades) {
          const { items } = await run.path(trade.id);
          expect([trade.id, items.at(-1).stop]).toEqual([trade.id, trade.stop_price]);
          const { exit, entry } = await run.why(trade.id);
          expect(entry.rule).toBe('enter_signal');
          if (['stop_loss', 'trailing_stop_loss', 'liquidation', 'roi'].includes(trade.exit_reason))
            expect(exit.rule).toBe(trade.exit_reason);
        }
      }
    },
  );
});
