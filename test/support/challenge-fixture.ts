import type { TestEngine } from './engine.ts';
import { type Answer, MODEL, type RegistryFixture, registryFixture } from './registry-fixture.ts';

export const HOUR = 3_600_000;

/** Clock that tests set. */
interface TestClock {
  now(): number;
  forward(ms: number): void;
}

function testClock(start = Date.parse('2026-06-01T00:00:00.000Z')): TestClock {
  let now = start;
  return {
    now: () => now,
    forward: (ms) => {
      now += ms;
    },
  };
}

export interface ChallengeFixture extends RegistryFixture {
  readonly clock: TestClock;
  create(body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  post(id: string, action: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  read(id: string, what?: string): Promise<Answer>;
  /** Logs trades of a variant with new IDs, 100 per call. */
  log(id: string, variant: string, profits: readonly number[], more?: object): Promise<Answer>;
  evaluate(id: string): Promise<any>;
}

/** Registry with version 1 in Production and version 2 in Staging. */
export async function challengeFixture(
  engine: Pick<TestEngine, 'client' | 'freshTables'>,
  options: Parameters<typeof registryFixture>[1] = {},
): Promise<ChallengeFixture> {
  const clock = testClock();
  const fixture = await registryFixture(engine, { ...options, deps: { clock, ...options.deps } });
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
  }
  await fixture.promote('1');
  let logged = 0;
  const post: ChallengeFixture['post'] = (id, action, body, headers) =>
    fixture.strategy('POST', `/api/v1/challenges/${id}/${action}`, body, headers);
  const read: ChallengeFixture['read'] = (id, what = '') =>
    fixture.strategy('GET', `/challenges/${id}${what}`);
  return {
    ...fixture,
    clock,
    post,
    read,
    create: (body = {}, headers = {}) =>
      fixture.strategy(
        'POST',
        `/api/v1/models/${MODEL}/challenges`,
        { champion_version: '1', challenger_version: '2', ...body },
        headers,
      ),
    log: async (id, variant, profits, more = {}) => {
      let response: Answer | undefined;
      for (let start = 0; start < profits.length; start += 100) {
        const trades = profits
          .slice(start, start + 100)
          .map((profit_pct) => ({ trade_id: `t-${logged++}`, variant, profit_pct, ...more }));
        response = await post(id, 'trades', { trades });
      }
      return response!;
    },
    evaluate: async (id) => (await read(id, '/evaluate')).body,
  };
}

/** Reproducible profits, percent: a linear congruential sequence, two decimals, shifted. */
export function generated(seed: number, n: number, shift: number): number[] {
  let x = seed;
  return Array.from({ length: n }, () => {
    x = (1_664_525 * x + 1_013_904_223) % 2 ** 32;
    return ((Math.floor(x / 65_536) % 601) - 250) / 100 + shift;
  });
}
