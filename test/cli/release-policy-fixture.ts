import { platformFixture } from './platform-fixture.ts';

export const M = 'buy_and_hold';

/** Commands on a platform with a release policy. `prepare` gets the job ID of a completed backtest of {@link M}. */
export function releasePolicyFixture(prepare: (run: string) => void | Promise<void>) {
  const releasePolicy = { minTrades: 2, lookAheadCertificate: true };
  return platformFixture('touchstone-cli-policy-', { rules: { releasePolicy } }, async (platform) => {
    // The strategy buys once.
    const job = await platform.run({ strategy: 'buy_and_hold', pairs: ['BTC/USDT:USDT'], timeframe: '1h' });
    await prepare(job.job_id);
  });
}
