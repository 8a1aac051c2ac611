import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { MisbehavingStrategies } from '../support/strategies.ts';

export const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
export const config = (strategy: string) => ({ strategy, date_range: RANGE });

/** Platform of two small tasks, with the strategies that `prepare` adds before its start. */
export function taskFailuresFixture(prepare: (strategies: MisbehavingStrategies) => void) {
  const strategies = new MisbehavingStrategies();
  const fixture = { platform: undefined as unknown as TestPlatform, strategies };
  beforeAll(async () => {
    strategies.add('throws', `throw new Error('division by the moon');`);
    prepare(strategies);
    fixture.platform = await startTestPlatform({
      strategiesDirectory: strategies.folder,
      taskMemoryMb: 96,
      concurrency: 2,
    });
  });
  afterAll(async () => {
    await fixture.platform.stop();
    rmSync(strategies.folder, { recursive: true });
  });
  return fixture;
}
