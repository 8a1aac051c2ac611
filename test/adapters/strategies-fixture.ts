import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { LocalStrategies } from '#adapters/definitions/local-strategies.ts';
import { findBuiltIn } from '#adapters/strategies/known-strategies.ts';

export const EXAMPLE = join(import.meta.dirname, '../../strategies/example_pullback.ts');

/** Valid strategy with some fields changed, in a file of three lines. */
export const sound = (changes: string, example = './shared/example.ts') =>
  `import example from '${example}';\n\nexport default { ...example, ${changes} };`;

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
