import { describe, expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { BacktestError } from '#engine/strategy-errors.ts';
import { CONFIG, SAMPLE_STRATEGY, sampleInput, sha256 } from './backtest-sample.ts';

type Name = keyof StrategyCallbacks;

/** Prices far from the market, so that orders still wait in the next candle. */
const WAITING_ENTRIES: StrategyCallbacks = {
  customEntryPrice: (_context, side, proposed) => proposed * (side === 'long' ? 0.98 : 1.02),
};
const WAITING_EXITS: StrategyCallbacks = {
  customExitPrice: (_context, { side }, proposed) => proposed * (side === 'long' ? 1.02 : 0.98),
};
const WAITING: Partial<Record<Name, StrategyCallbacks>> = {
  adjustEntryPrice: WAITING_ENTRIES,
  checkEntryTimeout: WAITING_ENTRIES,
  adjustExitPrice: WAITING_EXITS,
  checkExitTimeout: WAITING_EXITS,
};

function run(name: Name, value: unknown, fillModel: 'freqtrade' | 'conservative' = 'freqtrade') {
  const callbacks = { ...WAITING[name], [name]: () => value } as StrategyCallbacks;
  return runBacktest(
    sampleInput({
      strategy: { ...SAMPLE_STRATEGY, callbacks },
      config: { ...CONFIG, fill_model: fillModel, stoploss: -0.2, trailing: null },
    }),
    { digest: sha256 },
  );
}

const INVALID: readonly (readonly [Name, unknown, string, string])[] = [
  ['leverage', Number.NaN, 'NaN', 'a number above 0, at most 125'],
  ['leverage', 1e9, '1000000000', 'a number above 0, at most 125'],
  ['leverage', 0, '0', 'a number above 0, at most 125'],
  ['customStake', Number.NaN, 'NaN', 'a finite number from 0'],
  ['customStake', -1, '-1', 'a finite number from 0'],
  ['customStake', 'all', '"all"', 'a finite number from 0'],
  ['customEntryPrice', -5, '-5', 'a finite number above 0'],
  ['customEntryPrice', Number.POSITIVE_INFINITY, 'Infinity', 'a finite number above 0'],
  ['customExitPrice', '100', '"100"', 'a finite number above 0'],
  ['customExitPrice', Number.NaN, 'NaN', 'a finite number above 0'],
  ['adjustEntryPrice', 0, '0', 'a finite number above 0'],
  ['adjustExitPrice', -1, '-1', 'a finite number above 0'],
  ['checkEntryTimeout', undefined, 'undefined', 'true or false'],
  ['checkExitTimeout', 1, '1', 'true or false'],
  ['orderFilled', Promise.resolve(), 'an object', 'at once, without a promise'],
  ['adjustPosition', '10', '"10"', 'a finite number, \\{ stake, tag \\}, or null'],
  ['adjustPosition', { stake: 10 }, 'an object', 'a finite number, \\{ stake, tag \\}, or null'],
  ['adjustPosition', { stake: 10, tag: 5 }, 'an object', 'a finite number, \\{ stake, tag \\}, or null'],
  ['afterFill', Number.NaN, 'NaN', 'a finite number, or null'],
  ['afterFill', '0.1', '"0.1"', 'a finite number, or null'],
  ['confirmEntry', undefined, 'undefined', 'true or false'],
  ['confirmEntry', 1, '1', 'true or false'],
  ['confirmExit', null, 'null', 'true or false'],
  ['confirmExit', {}, 'an object', 'true or false'],
  ['customStoploss', 'a', '"a"', 'a finite number, or null'],
  ['customStoploss', Number.NaN, 'NaN', 'a finite number, or null'],
  ['customStoploss', Promise.resolve(0.1), 'an object', 'a finite number, or null'],
  ['customRoi', false, 'false', 'a finite number, or null'],
  ['customRoi', [0.1], 'a list', 'a finite number, or null'],
  ['customExit', 5, '5', 'a string, or null'],
  ['customExit', true, 'true', 'a string, or null'],
];

describe('invalid return value of a callback', () => {
  it.each(INVALID)(
    '%s returning %j ends the run with an error that names the allowed values',
    (name, value, shown, allowed) => {
      for (const model of ['freqtrade', 'conservative'] as const) {
        const attempt = () => run(name, value, model);
        expect(attempt).toThrow(BacktestError);
        expect(attempt).toThrow(
          new RegExp(
            `^Strategy sample failed during the simulation: ${name} returned ${shown} for (BTC|ETH)/USDT:USDT ` +
              `in the candle of 2024-01-0\\dT\\d\\d:\\d[05]:00\\.000Z; it must return ${allowed}\\.$`,
          ),
        );
      }
    },
  );
});

it('loopStart that returns a promise ends the run with an error that names no pair', () => {
  expect(() => run('loopStart', Promise.resolve())).toThrow(
    /: loopStart returned an object in the candle of 2024-01-0\dT\d\d:\d[05]:00\.000Z; it must return at once, without a promise\.$/,
  );
});

describe('return value without effect', () => {
  const tradesOf = (...[name, value]: Parameters<typeof run>) =>
    sha256(JSON.stringify(run(name, value).trades));

  it.each([
    ['leverage', undefined],
    ['leverage', null],
    ['customStake', undefined],
    ['customEntryPrice', null],
    ['customExitPrice', undefined],
    ['confirmEntry', true],
    ['confirmExit', true],
    ['customRoi', undefined],
    ['customExit', undefined],
    ['customExit', ''],
    ['orderFilled', 5],
    ['loopStart', undefined],
    ['checkEntryTimeout', false],
    ['checkExitTimeout', false],
  ] as const)('%s returning %j changes no trade', (name, value) => {
    const plain: Partial<Record<Name, Name>> = {
      checkEntryTimeout: 'adjustEntryPrice',
      checkExitTimeout: 'adjustExitPrice',
    };
    expect(tradesOf(name, value)).toBe(
      name in plain ? tradesOf(plain[name]!, undefined) : tradesOf('customExit', null),
    );
  });

  // A customStoploss changes the price of a trailing stop in the entry candle, so null is the baseline.
  it.each([undefined, 0])('customStoploss returning %j leaves the stop unchanged', (value) => {
    expect(tradesOf('customStoploss', value)).toBe(tradesOf('customStoploss', null));
  });

  it('adjustExitPrice keeps the order for undefined and cancels it for null', () => {
    expect(run('adjustExitPrice', null).report.counters.cancelled_exits).toBeGreaterThan(0);
    const { report } = run('adjustExitPrice', undefined);
    expect(report.counters).toMatchObject({ cancelled_exits: 0, replaced_exits: 0 });
    expect(report.definitions['counters.replaced_exits']).toBeDefined();
    const without = run('customExit', null).report;
    expect(without.counters).not.toHaveProperty('replaced_exits');
    expect(without.definitions['counters.replaced_exits']).toBeUndefined();
  });

  it('adjustEntryPrice keeps the order for undefined and cancels it for null', () => {
    expect(run('adjustEntryPrice', null).report.counters.cancelled_entries).toBeGreaterThan(0);
    expect(run('adjustEntryPrice', undefined).report.counters).toMatchObject({
      cancelled_entries: 0,
      replaced_entries: 0,
    });
  });
});
