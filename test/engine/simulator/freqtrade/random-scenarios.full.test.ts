import { afterAll, describe, expect, test } from 'vitest';
import { pythonWith } from '../../../support/python.ts';
import { SHARED, VECTORS } from '../vectors.ts';
import { type Freqtrade, startFreqtrade } from './freqtrade.ts';
import { randomScenario } from './random-scenarios.ts';
import { differencesOf, readRecords } from './recorded.ts';

const found = await pythonWith('bench/support/freqtrade/requirements.txt');
if ('missing' in found) console.warn(`Skipped: the comparison with freqtrade. ${found.missing}`);

/** Scenarios from this seed on, so many, none of them recorded. `FREQTRADE_SEED` and `FREQTRADE_SCENARIOS` run others. */
const SEED = Number(process.env.FREQTRADE_SEED ?? 1001);
const SCENARIOS = Number(process.env.FREQTRADE_SCENARIOS ?? 60);
/** Of so many recorded scenarios one is recorded again. */
const SHARE = 20;

describe.skipIf('missing' in found)('freqtrade (skipped where pip cannot install it)', () => {
  let freqtrade: Freqtrade | undefined;
  const started = () => {
    if ('python' in found) freqtrade ??= startFreqtrade(found.python);
    return freqtrade!;
  };
  afterAll(() => freqtrade?.stop());

  test('the driver repeats a scenario that another program recorded', async () => {
    const { expected, ...scenario } = VECTORS.find(({ id }) => id === 'adjust-trailing')!;
    const { trades, final_balance } = await started().ask({ ...SHARED, ...scenario });
    expect({ trades, final_balance }).toEqual({
      trades: expected.trades,
      final_balance: expected.final_balance,
    });
  });

  test('freqtrade repeats what was recorded of it', { timeout: 600_000 }, async () => {
    for (const recorded of readRecords().filter(({ seed }) => seed % SHARE === 0))
      expect(await started().record(recorded.seed)).toEqual(recorded);
  });

  test(`simulate equals freqtrade in every trade of ${SCENARIOS} other random scenarios`, {
    timeout: 600_000,
  }, async () => {
    const wrong: Record<string, string[]> = {};
    let trades = 0;
    for (let seed = SEED; seed < SEED + SCENARIOS; seed++) {
      const recorded = await started().record(seed);
      const different = differencesOf(randomScenario(seed), recorded);
      if (different.length > 0) wrong[`seed ${seed}`] = different.slice(0, 5);
      trades += recorded.trades.length;
    }
    expect(wrong).toEqual({});
    expect(trades).toBeGreaterThan(SCENARIOS);
  });
});
