import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { strategyFolder, strategySource } from '../support/strategies.ts';

export const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };

/** Configuration of a backtest over a week. */
export const weekOf = (strategy: string, params?: Record<string, unknown>) => ({
  strategy,
  date_range: RANGE,
  ...(params && { params }),
});

export const namesOf = ({ items }: { items: { strategy: string }[] }) =>
  items.map(({ strategy }) => strategy);

/** Platform with a folder of strategy files: the sound one and these, present before its start. */
export function strategyFilesFixture(files: Readonly<Record<string, string>> = {}) {
  const { folder, add, remove } = strategyFolder();
  const fixture = {
    platform: undefined as unknown as TestPlatform,
    folder,
    add,
    remove,
    async list() {
      const { status, body } = await fixture.platform.get('/api/v1/strategies');
      expect(status).toBe(200);
      return body;
    },
    submit: (strategy: string, params?: Record<string, unknown>) =>
      fixture.platform.post('/api/v1/backtests', { config: weekOf(strategy, params) }),
  };
  beforeAll(async () => {
    for (const [name, text] of Object.entries(files)) add(name, text);
    add('sound.ts', strategySource('sound'));
    fixture.platform = await startTestPlatform({ strategiesDirectory: folder });
  });
  afterAll(async () => {
    await fixture.platform.stop();
    rmSync(folder, { recursive: true });
  });
  return fixture;
}
