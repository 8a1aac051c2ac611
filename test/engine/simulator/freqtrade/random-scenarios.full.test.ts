import { afterAll, describe, expect, test } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import { pythonWith } from '../../../support/python.ts';
import { type PythonDriver, startDriver } from '../../../support/python-driver.ts';
import { differences, type Expected, pairsOf, SHARED, settingsOf, VECTORS } from '../vectors.ts';
import { randomScenario } from './random-scenarios.ts';

const found = await pythonWith('bench/support/freqtrade/requirements.txt');
if ('missing' in found) console.warn(`Skipped: the comparison with freqtrade. ${found.missing}`);

const DRIVER = new URL('./freqtrade-driver.py', import.meta.url).pathname;
/** Scenarios from this seed on, so many. `FREQTRADE_SEED` and `FREQTRADE_SCENARIOS` run others. */
const SEED = Number(process.env.FREQTRADE_SEED ?? 1);
const SCENARIOS = Number(process.env.FREQTRADE_SCENARIOS ?? 200);

type Reply = Expected | { readonly error: string };

/** Counters that count something else here: each attempt to replace an order there, the orders that were replaced here. */
const OTHER_COUNTERS = /^(replaced_entry_orders|canceled_exit_orders) /;

/** Locks made before the positions left open are closed, in retrospect and in another order. */
function beforeTheEnd({ locks, trades, ...rest }: Simulation): Simulation {
  const forced = trades.filter(({ leftOpen }) => leftOpen).map(({ closedAt }) => closedAt);
  const end = Math.min(...forced);
  return { ...rest, trades, locks: locks.filter(({ from }) => from < end) };
}

/** {@link beforeTheEnd}; without locks that ended before they began, and with trades in the order of closing. */
function comparable({ trades, locks = [], ...rest }: Expected, columns: readonly string[]): Expected {
  const [close, reason] = [columns.indexOf('close'), columns.indexOf('exit_reason')];
  const forced = trades.filter((trade) => trade[reason] === 'force_exit');
  const end = Math.min(...forced.map((trade) => trade[close] as number));
  return {
    ...rest,
    trades: trades.toSorted((a, b) => (a[close] as number) - (b[close] as number)),
    locks: locks.filter(([, , from, until]) => until > from && from < end),
  };
}

describe.skipIf('missing' in found)('freqtrade (skipped where pip cannot install it)', () => {
  let freqtrade: PythonDriver<Reply> | undefined;
  const askFreqtrade = async (scenario: object): Promise<Expected> => {
    if ('python' in found) freqtrade ??= startDriver(found.python, DRIVER);
    const reply = await freqtrade!.ask(scenario);
    if ('error' in reply) throw new Error(reply.error);
    return reply;
  };
  afterAll(() => freqtrade?.stop());

  test('the driver repeats a recorded scenario', async () => {
    const { expected, ...scenario } = VECTORS.find(({ id }) => id === 'adjust-trailing')!;
    const { trades, final_balance } = await askFreqtrade({ ...SHARED, ...scenario });
    expect({ trades, final_balance }).toEqual({
      trades: expected.trades,
      final_balance: expected.final_balance,
    });
  });

  test(`simulate equals freqtrade in every trade of ${SCENARIOS} random scenarios`, {
    timeout: 600_000,
  }, async () => {
    const wrong: Record<string, string[]> = {};
    let trades = 0;
    for (let seed = SEED; seed < SEED + SCENARIOS; seed++) {
      const { scenario, shared } = randomScenario(seed);
      const expected = comparable(await askFreqtrade({ ...shared, ...scenario }), shared.trade_columns);
      const simulation = beforeTheEnd(simulate(pairsOf(scenario, shared), settingsOf(scenario, shared)));
      const different = differences(simulation, scenario, expected, { shared, relative: 1e-13 }).filter(
        (message) => !OTHER_COUNTERS.test(message),
      );
      if (different.length > 0) wrong[`seed ${seed}`] = different.slice(0, 5);
      trades += expected.trades.length;
    }
    expect(wrong).toEqual({});
    expect(trades).toBeGreaterThan(SCENARIOS);
  });
});
