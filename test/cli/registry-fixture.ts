import type { TestPlatform } from '../support/platform.ts';
import { platformFixture } from './platform-fixture.ts';

export const M = 'ema_crossover';

/** Registry commands on two completed backtests of {@link M}. */
export function registryFixture() {
  const fixture = {
    platform: {} as TestPlatform,
    /** Job IDs of the backtests. */
    runs: [] as string[],
  };
  const touchstone = platformFixture('touchstone-cli-registry-', {}, async (platform) => {
    fixture.platform = platform;
    for (const fast of [20, 5]) {
      const job = await platform.run({
        strategy: 'ema_crossover',
        pairs: ['BTC/USDT:USDT'],
        timeframe: '1h',
        date_range: { start: '2026-01-01', end: '2026-03-01' },
        params: { fast },
      });
      fixture.runs.push(job.job_id);
    }
  });
  return Object.assign(fixture, { touchstone });
}
