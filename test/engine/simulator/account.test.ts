import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type {
  CallbackContext,
  EntryLimits,
  LoopContext,
  OpenTrade,
  StrategyCallbacks,
} from '#engine/strategy.ts';
import {
  candlesOf,
  flat,
  fundingOf,
  hourOf,
  type PairScript,
  pairOf,
  type Row,
  settingsOf,
  summary,
} from './market.ts';

function run(
  scripts: readonly PairScript[],
  callbacks: StrategyCallbacks,
  settings: Partial<SimulationSettings> = {},
) {
  return simulate(scripts.map(pairOf), settingsOf({ maxOpenTrades: 5, callbacks, ...settings }));
}

/** Wallet and trades that the entry callback of each pair reads, as `pair hour free total equity [trades]`. */
function seenAtEntries(
  scripts: readonly PairScript[],
  settings: Partial<SimulationSettings> = {},
  callbacks: StrategyCallbacks = {},
) {
  const seen: string[] = [];
  const others = run(
    scripts,
    {
      ...callbacks,
      confirmEntry: (context) => {
        seen.push(`${context.pair} ${stateOf(context)}`);
        return true;
      },
    },
    settings,
  );
  return { seen, ...others };
}

const round = (value: number) => Math.round(value * 1e6) / 1e6;

function stateOf({ time, wallet, openTrades }: CallbackContext | LoopContext): string {
  const { free, total, equity } = wallet;
  const trades = openTrades.map(tradeOf).join(' ');
  return `${hourOf(time)}h ${[free, total, equity].map(round).join('/')} [${trades}]`;
}

const tradeOf = ({ pair, entries, stopPrice, profit, stake }: OpenTrade) =>
  `${pair} ${stake} entries ${entries} stop ${round(stopPrice)} profit ${round(profit)}`;

const FLAT: Row[] = Array.from({ length: 6 }, () => flat(100));

describe('the account at the open', () => {
  it('an entry at this open of a pair before is in, its later stop of the same candle is not', () => {
    // A enters at the open of 1h and falls to its stop of 90 inside that candle. B enters in the same candle.
    const a = {
      pair: 'A',
      rows: [flat(100), [100, 100, 80, 85], flat(85), flat(85)] as Row[],
      enterLong: [0],
    };
    const b = { pair: 'B', rows: FLAT.slice(0, 4), enterLong: [0, 1] };
    const { seen, trades } = seenAtEntries([a, b]);
    expect(seen).toEqual(['A 1h 1000/1000/1000 []', 'B 1h 900/1000/1000 [A 100 entries 1 stop 90 profit 0]']);
    expect(trades.find(({ pair }) => pair === 'A')).toMatchObject({ exitReason: 'stop_loss', profit: -10 });
    const later = { pair: 'C', rows: FLAT.slice(0, 4), enterLong: [1] };
    // In the next candle the loss is known.
    expect(seenAtEntries([a, b, later]).seen.at(-1)).toBe(
      'C 2h 890/990/990 [B 100 entries 1 stop 90 profit 0]',
    );
  });

  it.each(['freqtrade', 'conservative'] as const)(
    'a stop, a target and a trailing stop inside the candle are not known in it (%s)',
    (fillModel) => {
      const rows = (candle: Row) => [flat(100), flat(100), candle, flat(100), flat(100)];
      const states = (candle: Row, settings: Partial<SimulationSettings> = {}) =>
        seenAtEntries(
          [
            { pair: 'A', rows: rows(candle), enterLong: [0] },
            { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
          ],
          { fillModel, ...settings },
        ).seen.at(-1);
      const open = 'B 2h 900/1000/1000 [A 100 entries 1 stop 90 profit 0]';
      expect(states([100, 100, 80, 100])).toBe(open);
      expect(states([100, 110, 100, 100], { minimalRoi: { 0: 0.05 } })).toBe(open);
      const trailing = { positive: 0.05, offset: 0, only_offset_is_reached: false } as const;
      expect(states([100, 108, 100, 108], { trailing })).toBe(open);
      expect(states([100, 100, 100, 100])).toBe(open);
    },
  );

  it('a stop that the candle opens beyond is known in the conservative model only: it fills at the open there', () => {
    const states = (fillModel: 'freqtrade' | 'conservative') =>
      seenAtEntries(
        [
          { pair: 'A', rows: [flat(100), flat(100), [85, 100, 85, 95], flat(95), flat(95)], enterLong: [0] },
          { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
        ],
        { fillModel },
      ).seen.at(-1);
    expect(states('freqtrade')).toBe('B 2h 900/1000/985 [A 100 entries 1 stop 90 profit -0.15]');
    expect(states('conservative')).toBe('B 2h 985/985/985 []');
  });

  it.each(['freqtrade', 'conservative'] as const)(
    'an exit at the open is known at once (%s)',
    (fillModel) => {
      const scripts = [
        {
          pair: 'A',
          rows: [flat(100), flat(100), [110, 120, 105, 112], flat(112), flat(112)] as Row[],
          enterLong: [0],
          exitLong: [1],
        },
        { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
      ];
      const trailing = { positive: 0.02, offset: 0, only_offset_is_reached: false } as const;
      for (const settings of [{}, { trailing }])
        expect(seenAtEntries(scripts, { fillModel, ...settings }).seen.at(-1)).toBe('B 2h 1010/1010/1010 []');
      // A table that closes at any result from the second candle on.
      const byTable = [{ ...scripts[0]!, exitLong: [] }, scripts[1]!];
      expect(seenAtEntries(byTable, { fillModel, minimalRoi: { 60: -1 } }).seen.at(-1)).toBe(
        'B 2h 1010/1010/1010 []',
      );
    },
  );

  it('a waiting entry ties up its stake, and its fill inside the candle is not known', () => {
    const scripts = [
      {
        pair: 'A',
        rows: [flat(100), flat(100), [100, 100, 94, 98], flat(98), flat(98)] as Row[],
        enterLong: [0],
      },
      { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1, 2] },
      { pair: 'C', rows: FLAT.slice(0, 5), enterLong: [2] },
    ];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: ({ pair }, _side, price) => (pair === 'A' ? 95 : price),
    };
    const { seen } = seenAtEntries(scripts, { unfilledTimeoutMinutes: 600 }, callbacks);
    expect(seen.slice(1)).toEqual([
      'B 2h 900/1000/1000 [A 100 entries 0 stop 85.5 profit 0]',
      // Filled at 95, it is worth 100 / 95 * 98 at the open of 3h.
      `C 3h 800/1000/${round(1000 + (100 / 95) * 98 - 100)} [A 100 entries 1 stop 85.5 profit ${round(98 / 95 - 1)} B 100 entries 1 stop 90 profit 0]`,
    ]);
  });

  it('the price of an order that the high has limited is the one that the strategy named', () => {
    const prices: number[] = [];
    run(
      [
        { pair: 'A', rows: [flat(100), [100, 103, 99, 101], flat(101), flat(101)], enterLong: [0] },
        { pair: 'B', rows: FLAT.slice(0, 4), enterLong: [0] },
      ],
      {
        customEntryPrice: ({ pair }, _side, price) => (pair === 'A' ? 110 : price),
        confirmEntry: ({ openTrades }) => {
          prices.push(...openTrades.map(({ entryPrice }) => entryPrice));
          return true;
        },
      },
    );
    expect(prices).toEqual([110]);
  });

  it("a trade that only another one's end inside the candle made possible is not known in it", () => {
    const scripts = [
      {
        pair: 'A',
        rows: [flat(100), flat(100), [100, 110, 100, 105], flat(105), flat(105)] as Row[],
        enterLong: [0],
      },
      { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
      { pair: 'C', rows: FLAT.slice(0, 5), enterLong: [1] },
    ];
    const { seen } = seenAtEntries(scripts, { maxOpenTrades: 2, minimalRoi: { 0: 0.05 } });
    // B takes the free slot, and C the one that A leaves at its target.
    expect(seen).toEqual([
      'A 1h 1000/1000/1000 []',
      'B 2h 900/1000/1000 [A 100 entries 1 stop 90 profit 0]',
      'C 2h 800/1000/1000 [A 100 entries 1 stop 90 profit 0 B 100 entries 1 stop 90 profit 0]',
    ]);
    const asked: number[] = [];
    run(
      [...scripts, { pair: 'D', rows: FLAT.slice(0, 5), enterLong: [1] }],
      {
        confirmEntry: ({ openTrades }) => asked.push(openTrades.length) > 0,
      },
      { maxOpenTrades: 1, minimalRoi: { 0: 0.05 } },
    );
    expect(asked).toEqual([0, 1]);
  });

  it('equity has fees and funding so far, and the exit fee not; profit has both fees', () => {
    const funding = fundingOf([
      { hour: 2, rate: 0.01, markPrice: 100 },
      { hour: 3, rate: 0.01, markPrice: 100 },
    ]);
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), flat(104), flat(104), flat(104)], enterLong: [0], funding },
      { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
    ];
    // A long of 1 pays 1 at 2h. Entry fee 0.1, exit fee 0.104.
    const profit = round((104 * 0.999 - 1) / 100.1 - 1);
    for (const order of [scripts, [scripts[1]!, scripts[0]!]]) {
      const { seen } = seenAtEntries(order, { fee: 0.001 });
      expect(seen.find((each) => each.startsWith('B'))).toBe(
        `B 2h 900/1000/${round(1000 + 104 - 100.1 - 1)} [A 100 entries 1 stop 90 profit ${profit}]`,
      );
    }
  });

  it('after partial exits the total has their profit, and the collateral is that of the rest', () => {
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), flat(110), flat(120), flat(120)], enterLong: [0] },
      { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1, 2] },
    ];
    const { seen } = seenAtEntries(
      scripts,
      {},
      {
        adjustPosition: (_context, { pair, exits }, price) =>
          pair === 'A' && exits === 0 && price === 110 ? -50 : null,
      },
    );
    expect(seen.at(-1)).toBe('B 2h 955/1005/1010 [A 50 entries 1 stop 90 profit 0.1]');
  });

  it('the price of a pair without the candle is its last close', () => {
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), [100, 108, 99, 107]] as Row[], enterLong: [0] },
      { pair: 'B', rows: FLAT, enterLong: [3] },
    ];
    expect(seenAtEntries(scripts).seen.at(-1)).toBe(
      'B 4h 900/1000/1007 [A 100 entries 1 stop 90 profit 0.07]',
    );
  });

  it('with detail candles the open is that of the detail candle', () => {
    const detail = (rows: readonly Row[]) => candlesOf(rows, 1_800_000);
    const halves = (...rows: Row[]) => rows;
    const a = pairOf({
      pair: 'A',
      rows: [flat(100), [100, 102, 80, 85], flat(85), flat(85)],
      enterLong: [0],
      detail: detail(
        halves(
          flat(100),
          flat(100),
          [100, 102, 95, 96],
          [96, 96, 80, 85],
          flat(85),
          flat(85),
          flat(85),
          flat(85),
        ),
      ),
    });
    const b = pairOf({
      pair: 'B',
      rows: FLAT.slice(0, 4),
      enterLong: [0],
      detail: detail(Array.from({ length: 8 }, () => flat(100))),
    });
    const seen: string[] = [];
    simulate(
      [a, b],
      settingsOf({
        maxOpenTrades: 5,
        detailTimeframeMs: 1_800_000,
        callbacks: {
          customExit: (context) => {
            if (context.pair === 'B') seen.push(stateOf(context));
            return null;
          },
        },
      }),
    );
    expect(seen.slice(0, 3)).toEqual([
      '1h 800/1000/1000 [A 100 entries 1 stop 90 profit 0 B 100 entries 1 stop 90 profit 0]',
      '1.5h 800/1000/996 [A 100 entries 1 stop 90 profit -0.04 B 100 entries 1 stop 90 profit 0]',
      '2h 890/990/990 [B 100 entries 1 stop 90 profit 0]',
    ]);
  });

  it('loopStart and its pairs see the account before all pairs', () => {
    const seen: string[] = [];
    const tags: unknown[] = [];
    run(
      [
        {
          pair: 'A',
          rows: [flat(100), flat(100), [104, 104, 80, 80], flat(80)],
          enterLong: [0],
          enterTags: { 0: 'first' },
        },
      ],
      {
        loopStart: (context) => {
          seen.push(stateOf(context));
          expect(context.pairs.map(stateOf)).toEqual([stateOf(context)]);
          tags.push(context.pairs[0]!.enterTag, context.fee, context.pairs[0]!.fee);
        },
      },
      { fee: 0.001 },
    );
    expect(seen.map((each) => each.split(' [')[0])).toEqual([
      '1h 1000/1000/1000',
      '2h 900/1000/1003.9',
      '3h 989.81/989.81/989.81',
    ]);
    expect(tags).toEqual(['first', 0.001, 0.001, 'first', 0.001, 0.001, null, 0.001, 0.001]);
  });
});

describe('what the context says', () => {
  it('enterTag is that of the signal in entry callbacks, and that of the trade in the others', () => {
    const seen: unknown[] = [];
    const note = (name: string) => (context: CallbackContext) => {
      seen.push(`${name} ${hourOf(context.time)} ${context.enterTag}`);
      return undefined as never;
    };
    run([{ pair: 'A', rows: FLAT, enterLong: [0, 2], enterTags: { 0: 'first', 2: 'other' } }], {
      confirmEntry: (context) => note('confirm')(context) ?? true,
      customExit: note('exit'),
      orderFilled: note('filled'),
    });
    expect(seen).toEqual([
      'confirm 1 first',
      'filled 1 first',
      'exit 1 first',
      'exit 2 first',
      'exit 3 first',
      'exit 4 first',
      'exit 5 first',
    ]);
  });

  it('customStake gets the least and the largest stake at the open', () => {
    const limits: EntryLimits[] = [];
    const customStake: StrategyCallbacks['customStake'] = (
      _context,
      _side,
      proposed,
      { minStake, maxStake },
    ) => {
      limits.push({ minStake, maxStake });
      return proposed;
    };
    const scripts = [
      {
        pair: 'A',
        rows: [flat(100), flat(100), [100, 120, 100, 115], flat(115), flat(115)] as Row[],
        enterLong: [0],
      },
      { pair: 'B', rows: FLAT.slice(0, 5), enterLong: [1] },
    ];
    run(scripts, { customStake }, { minimalRoi: { 0: 0.1 } });
    // 99 % of 1000, less the stake of A, whose target is inside the candle.
    expect(limits).toEqual([
      { minStake: 0, maxStake: 990 },
      { minStake: 0, maxStake: 890 },
    ]);
  });

  it('five lines risk 1 % of equity', () => {
    const pair = pairOf({ rows: [flat(100), flat(100), [100, 100, 90, 92], flat(92)], enterLong: [0] });
    const range = new Float64Array(4).fill(2.5);
    const callbacks: StrategyCallbacks = {
      customStake: ({ wallet, columns, index, candles }, _side, _proposed, { minStake, maxStake }) => {
        const distance = (2 * columns.range![index - 1]!) / candles.open[index]!;
        const stake = (0.01 * wallet.equity) / distance;
        return stake < minStake ? 0 : Math.min(stake, maxStake);
      },
      customStoploss: () => 0.05,
    };
    const { trades } = simulate([{ ...pair, columns: { range } }], settingsOf({ callbacks }));
    expect(trades[0]).toMatchObject({ stake: 200, stopPrice: 95, profit: -10 });
  });

  it('context objects that a strategy keeps or changes show no later time', () => {
    const kept: { wallet: unknown; trades: readonly OpenTrade[]; context: CallbackContext }[] = [];
    const callbacks: StrategyCallbacks = {
      customExit: (context, trade) => {
        const { wallet, openTrades } = context;
        kept.push({ wallet, trades: openTrades, context });
        expect(() => Object.assign(wallet, { free: 1e9 })).toThrow(TypeError);
        expect(() => (openTrades as OpenTrade[]).push(openTrades[0]!)).toThrow(TypeError);
        expect(() => Object.assign(openTrades[0]!, { stake: 0 })).toThrow(TypeError);
        trade.data.set('seen', kept.length);
        expect(openTrades[0]!.data.get('seen')).toBe(kept.length);
        expect('set' in openTrades[0]!.data).toBe(false);
        return null;
      },
    };
    const { trades } = run(
      [{ pair: 'A', rows: [flat(100), flat(100), flat(105), flat(110)], enterLong: [0] }],
      callbacks,
    );
    expect(kept.map(({ wallet }) => (wallet as { equity: number }).equity)).toEqual([1000, 1005, 1010]);
    expect(kept.map(({ trades: [trade] }) => trade!.profit)).toEqual([0, 0.05, 0.1]);
    expect(() => kept[0]!.context.wallet).toThrow('has ended');
    expect(summary({ trades })).toEqual(['A long 1@100 3@110 force_exit']);
  });
});

/** Random candles of a pair; those of row `changed` keep their open, and have other prices for another `seed`. */
function walk(random: () => number, rows: number, changed: number, other: () => number): Row[] {
  let price = 100;
  return Array.from({ length: rows }, (_, row) => {
    const own = [random(), random(), random()] as const;
    const [up, down, end] = row === changed ? ([other(), other(), other()] as const) : own;
    const open = price;
    const close = open * (1 + (end - 0.5) * 0.08);
    price = open * (1 + (own[2] - 0.5) * 0.08);
    return [open, Math.max(open, close) * (1 + up * 0.04), Math.min(open, close) * (1 - down * 0.04), close];
  });
}

/** Sums of the same numbers in another order differ in their last bits. */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  const names = Object.keys(a);
  if (names.join() !== Object.keys(b).join()) return false;
  return names.every((name) => isEqual(a[name as keyof typeof a], b[name as keyof typeof b]));
}

describe('what happens inside a candle', () => {
  const ROWS = 12;
  const AT = 9;
  const PAIRS = ['A', 'B', 'C', 'D', 'E'];
  const trailing = { positive: 0.02, offset: 0.01, only_offset_is_reached: false } as const;

  /** The account that each call in the candle `AT` sees, by pair and callback. */
  function statesIn(seed: number, change: number, settings: Partial<SimulationSettings>) {
    const random = createRandom(seed);
    const other = createRandom(change);
    const states = new Map<string, string>();
    const choices = Array.from({ length: 400 }, () => random());
    const choice = (pair: string, time: number, kind: number) =>
      choices[(PAIRS.indexOf(pair) * 97 + hourOf(time) * 13 + kind) % choices.length]!;
    const note =
      (name: string) =>
      (context: CallbackContext): undefined => {
        // A pair whose trade ended inside the candle may enter the other side: that is a second call.
        if (hourOf(context.time) !== AT || states.has(`${context.pair} ${name}`)) return;
        states.set(`${context.pair} ${name}`, JSON.stringify([context.wallet, context.openTrades]));
      };
    const callbacks: StrategyCallbacks = {
      confirmEntry: (context) => note('confirm')(context) ?? true,
      customEntryPrice: ({ pair, time }, side, price) =>
        choice(pair, time, 1) < 0.5
          ? price
          : price * (1 + (side === 'long' ? -0.03 : 0.03) * choice(pair, time, 2)),
      customStake: (_context, _side, proposed, { maxStake }) =>
        settings.stake ? proposed : Math.min(proposed, maxStake),
      adjustPosition: ({ pair, time }, trade) => {
        const value = trade.openedAt < time ? choice(pair, time, 3) : 0.5;
        return value < 0.1 ? 20 : value > 0.9 ? -trade.stake / 3 : null;
      },
      customExit: (context, { openedAt }) => {
        note('exit')(context);
        return openedAt < context.time && choice(context.pair, context.time, 4) < 0.1 ? 'out' : null;
      },
      customExitPrice: ({ pair, time }, _trade, price) =>
        choice(pair, time, 5) < 0.5 ? price : price * 1.01,
    };
    const rows = () => Array.from({ length: ROWS }, (_, row) => row).filter(() => random() < 0.4);
    const scripts = PAIRS.map((pair) => ({
      pair,
      rows: walk(random, ROWS, AT, other),
      enterLong: rows(),
      enterShort: rows(),
      exitLong: rows(),
    }));
    run(scripts, callbacks, {
      maxOpenTrades: 3,
      fee: 0.001,
      minimalRoi: { 0: 0.03, 120: 0.01 },
      trailing,
      stoploss: -0.04,
      unfilledTimeoutMinutes: 180,
      ...settings,
    });
    return states;
  }

  it.each([
    { fillModel: 'freqtrade' },
    { fillModel: 'conservative' },
    { fillModel: 'freqtrade', positionStacking: true },
    { fillModel: 'freqtrade', leverage: 20 },
    { fillModel: 'conservative', leverage: 20, positionStacking: true },
    { fillModel: 'freqtrade', stake: { kind: 'unlimited' } },
    { fillModel: 'conservative', stake: { kind: 'unlimited' }, availableCapital: 800 },
  ] as const)('is never in the account that callbacks of the candle see (%o)', (settings) => {
    let compared = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const plain = statesIn(seed, 1, settings);
      const changed = statesIn(seed, 2, settings);
      for (const [call, state] of plain) {
        const same = changed.get(call);
        if (same === undefined) continue;
        compared++;
        if (!isEqual(JSON.parse(same), JSON.parse(state))) expect(same, `seed ${seed}, ${call}`).toBe(state);
      }
    }
    expect(compared).toBeGreaterThan(500);
  });
});
