import { startDriver } from '../../../support/python-driver.ts';
import type { Expected } from '../vectors.ts';
import { randomScenario } from './random-scenarios.ts';
import { COLUMNS, comparable, digestOf, type Recorded } from './recorded.ts';

type Reply = (Expected & { readonly as_released?: boolean }) | { readonly error: string };

/** freqtrade in a process of its own. */
export interface Freqtrade {
  /** What it makes of a scenario. @throws its error */
  ask(scenario: object): Promise<Exclude<Reply, { readonly error: string }>>;
  /** The record of a seed. */
  record(seed: number): Promise<Recorded>;
  stop(): void;
}

/** `python`: path of a Python that has freqtrade. */
export function startFreqtrade(python: string): Freqtrade {
  const driver = new URL('./freqtrade-driver.py', import.meta.url).pathname;
  const { ask: send, stop } = startDriver<Reply>(python, driver);
  const ask: Freqtrade['ask'] = async (scenario) => {
    const reply = await send(scenario);
    if ('error' in reply) throw new Error(reply.error);
    return reply;
  };
  return {
    ask,
    record: async (seed) => {
      const drawn = randomScenario(seed);
      const options = { trade_columns: COLUMNS, compare_released: true };
      const reply = await ask({ ...drawn.shared, ...drawn.scenario, ...options });
      return { seed, digest: digestOf(drawn), as_released: reply.as_released === true, ...comparable(reply) };
    },
    stop,
  };
}
