import { expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, pairOf, settingsOf } from './market.ts';

const run = (settings: Partial<SimulationSettings>) =>
  simulate([pairOf({ rows: [flat(100), flat(100), flat(100)], enterLong: [0] })], settingsOf(settings));

const NAN = Number.NaN;
const liquidation = { maintenanceMarginRate: 0.005, buffer: 0.05 };

it.each<[name: string, shown: string, settings: Partial<SimulationSettings>]>([
  ['timeframeMs', '0', { timeframeMs: 0 }],
  ['startingBalance', 'NaN', { startingBalance: NAN }],
  ['stake.amount', 'NaN', { stake: { kind: 'fixed', amount: NAN } }],
  ['stake.amount', '0', { stake: { kind: 'fixed', amount: 0 } }],
  ['tradableBalanceRatio', '2', { tradableBalanceRatio: 2 }],
  ['fee', 'NaN', { fee: NAN }],
  ['fee', '-0.1', { fee: -0.1 }],
  ['slippage', '1', { slippage: 1 }],
  ['leverage', 'Infinity', { leverage: Number.POSITIVE_INFINITY }],
  ['leverage', '0', { leverage: 0 }],
  ['stoploss', 'NaN', { stoploss: NAN }],
  ['stoploss', '0.1', { stoploss: 0.1 }],
  ['trailing.positive', 'NaN', { trailing: { positive: NAN } }],
  ['trailing.offset', '-1', { trailing: { offset: -1 } }],
  ['exitProfitOffset', 'NaN', { exitProfitOffset: NAN }],
  ['liquidation.buffer', 'NaN', { liquidation: { ...liquidation, buffer: NAN } }],
  ['unfilledTimeoutMinutes', 'NaN', { unfilledTimeoutMinutes: NAN }],
  ['maxOpenTrades', 'NaN', { maxOpenTrades: NAN }],
  ['minimalRoi.30', 'NaN', { minimalRoi: { 30: NAN } }],
  ['minimalRoi.0', '-2', { minimalRoi: { 0: -2 } }],
])('simulate rejects %s of %s by name, with and without callbacks', (name, shown, settings) => {
  const message = `The setting ${name} is ${shown}; it must be `;
  for (const callbacks of [{}, { customExit: () => null }]) {
    expect(() => run({ ...settings, callbacks })).toThrow(RangeError);
    expect(() => run({ ...settings, callbacks })).toThrow(message);
  }
});

it.each(['abc', '-1', '1.5', ''])('simulate rejects a ROI table with the key %j', (key) => {
  expect(() => run({ minimalRoi: { [key]: 0.1 } })).toThrow(RangeError);
  expect(() => run({ minimalRoi: { [key]: 0.1 } })).toThrow(`minimalRoi has the key ${JSON.stringify(key)}`);
});

it('simulate accepts the bounds of each setting', () => {
  expect(run({ fee: 0, stoploss: 0, maxOpenTrades: Number.POSITIVE_INFINITY }).trades).toHaveLength(1);
});
