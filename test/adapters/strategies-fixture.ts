import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { LocalStrategies } from '#adapters/definitions/local-strategies.ts';
import { findBuiltIn } from '#adapters/strategies/known-strategies.ts';
import { CodedError } from '#contract/values/errors.ts';

export const EXAMPLE = join(import.meta.dirname, '../../strategies/example_pullback.ts');

/** Valid strategy with some fields changed, in a file of three lines. */
export const sound = (changes: string, example = './shared/example.ts') =>
  `import example from '${example}';\n\nexport default { ...example, ${changes} };`;

/** Valid strategy with one parameter and this body of `startupCandles`. */
export const withStartup = (body: string) =>
  sound(
    `name: 'mine', parameters: { n: { kind: 'integer', default: 1, min: 0, max: 100, description: 'N' } }, startupCandles({ n }) { ${body} }`,
  );

/** Message of the error that a call of `startupCandles` must reject with. */
export async function startupRejection(response: Promise<unknown>): Promise<string> {
  const error = await response.then(
    (value) => `answered ${value}`,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CodedError);
  expect(error).toMatchObject({ code: 'VAL006', field: 'config.params' });
  return (error as CodedError).message;
}

/** Names of strategies that are not built in. */
export async function namesOf(strategies: LocalStrategies): Promise<string[]> {
  const { strategies: all } = await strategies.list();
  return all.map(({ definition }) => definition.name).filter((name) => !findBuiltIn(name));
}

/** Strategy folder with a shared example, fresh for each test. */
export function strategiesFixture() {
  const opened: LocalStrategies[] = [];
  const open = (limits: { loadLimitMs?: number; startupLimitMs?: number } = {}): LocalStrategies => {
    const strategies = new LocalStrategies({ folder: fixture.folder, ...limits });
    opened.push(strategies);
    return strategies;
  };
  const fixture = {
    folder: '',
    add: (file: string, text: string) => writeFileSync(join(fixture.folder, file), text),
    /** Strategies of the folder, closed after the test. */
    open,
    /** Broken files. */
    brokenOf: async (strategies = open()) => (await strategies.list()).broken,
    /** Expects this `startupCandles` to be rejected for n above 50, but not for others, nor another strategy. */
    expectRejection: async (body: string, message: string) => {
      fixture.add('mine.ts', withStartup(body));
      fixture.add('other.ts', sound(`name: 'other', startupCandles: () => 5`));
      const strategies = open({ loadLimitMs: 30_000, startupLimitMs: 2_000 });
      const [mine, other] = [(await strategies.find('mine'))!, (await strategies.find('other'))!];
      const [bad, good, elsewhere] = await Promise.allSettled([
        startupRejection(mine.startupCandles({ n: 99 })),
        mine.startupCandles({ n: 4 }),
        other.startupCandles({ n: 1 }),
      ]);
      expect(bad).toMatchObject({ status: 'fulfilled', value: expect.stringContaining(message) });
      expect(good).toMatchObject({ status: 'fulfilled' });
      expect(elsewhere).toEqual({ status: 'fulfilled', value: 5 });
    },
  };
  beforeEach(() => {
    fixture.folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));
    mkdirSync(join(fixture.folder, 'shared'));
    copyFileSync(EXAMPLE, join(fixture.folder, 'shared/example.ts'));
  });
  afterEach(() => {
    for (const strategies of opened.splice(0)) strategies.close();
    rmSync(fixture.folder, { recursive: true });
  });
  return fixture;
}
