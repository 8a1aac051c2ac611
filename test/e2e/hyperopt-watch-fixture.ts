import { afterAll, beforeAll } from 'vitest';
import { type Ended, runInProcess, runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Arguments that start a short search of two models. */
export const SEARCH = [
  'start',
  'ml_classifier',
  '--pairs',
  'BTC/USDT:USDT',
  '--timeframe',
  '4h',
  '--train-days',
  '30',
  '--backtest-days',
  '10',
  '--start',
  '2026-01-31',
  '--end',
  '2026-03-02',
  '--trees',
  '3..8',
  '--models',
  'logistic_regression,xgboost',
  '--objective',
  'total_profit_pct',
  '--experiment',
  'by hand',
];

/** Platform, and `touchstone hyperopt` on it: `hyperopt` as a process, `read` in this one. */
export function hyperoptCommandFixture() {
  const fixture = {
    platform: undefined as unknown as TestPlatform,
    hyperopt: (...args: string[]): Promise<Ended> =>
      runScript(fixture.platform.home, 'bin/touchstone.ts', ['hyperopt', ...args]),
    read: (...args: string[]): Promise<Ended> => runInProcess(fixture.platform.home, ['hyperopt', ...args]),
  };
  beforeAll(async () => {
    fixture.platform = await startTestPlatform();
  });
  afterAll(() => fixture.platform.stop());
  return fixture;
}
