import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ResultStore } from '#domain/ports.ts';
import type { StagingChecks } from '#domain/transitions/check-status.ts';
import { generated } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { SOME_RESULT, SOME_RESULTS } from '../support/jobs.ts';
import { as, byRole, completedBacktest, ended } from '../support/policy-fixture.ts';
import {
  type Answer,
  MODEL,
  type RegistryFixture,
  registryFixture,
  SOME_REPORT,
} from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';

/** A promotion against the release policy requires an admin's waiver of that transition. */

const engine = fileEngine();

/** One backtest meets the policy; the other has too few trades. */
const BACKTESTS = { 'bt-many': 30, 'bt-few': 29 } as const;
const POLICY = { minTrades: 30, lookAheadCertificate: true };

const locationOf = (id: string) => ({ ...SOME_RESULTS, digest: id });
const resultOf = (id: string) => ({
  ...SOME_RESULT,
  total_trades: BACKTESTS[id as keyof typeof BACKTESTS] ?? SOME_RESULT.total_trades,
});
const results = {
  read: async ({ digest }: { digest: string }, part: string) =>
    part === 'report' ? SOME_REPORT : resultOf(digest),
} as unknown as ResultStore;

/** Versions with odd numbers get the certificate immediately; even ones fail it. */
const stagingChecks: StagingChecks = {
  start: async ({ version }) => `va-${version}`,
  outcome: async (id) => ended(isOdd(id.slice(3)) ? 'passed' : 'failed'),
};
const isOdd = (version: string) => Number(version) % 2 === 1;

interface Step {
  readonly op: 'register' | 'stage' | 'promote' | 'rollback' | 'challenge' | 'win' | 'promoteChallenge';
  readonly role: 'researcher' | 'approver' | 'admin';
  readonly version: number;
  readonly backtest: keyof typeof BACKTESTS;
  readonly loose: boolean;
  readonly auto: boolean;
  readonly waived: readonly string[] | null;
  readonly key: string | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom(
    'register',
    'stage',
    'stage',
    'promote',
    'promote',
    'promote',
    'rollback',
    'challenge',
    'win',
    'promoteChallenge',
  ),
  role: fc.constantFrom('researcher', 'approver', 'approver', 'admin', 'admin'),
  version: fc.integer({ min: 1, max: 5 }),
  backtest: fc.constantFrom('bt-many', 'bt-few'),
  loose: fc.boolean(),
  auto: fc.boolean(),
  waived: fc.option(fc.subarray(['min_trades', 'look_ahead'], { minLength: 1 })),
  key: fc.option(fc.constantFrom('a', 'b'), { freq: 3 }),
});

/** Groups of concurrent steps. */
const life = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 8, maxLength: 16 });

it('no sequence of concurrent steps promotes a version against the policy', async () => {
  let promotions = 0;
  let rejections = 0;
  await fc.assert(
    fc.asyncProperty(life, async (groups) => {
      const fixture = await policyFixture();
      const invariants = new Invariants(fixture);
      for (const group of groups) {
        const responses = await Promise.all(group.map((each) => take(fixture, each)));
        for (const response of responses) {
          expect(response?.status ?? 0).toBeLessThan(500);
          if (response?.body.detail?.context?.checks) rejections += 1;
        }
        await invariants.check();
        promotions += await checkPromotions(fixture);
      }
    }),
    // Shrinking a failure takes minutes.
    { numRuns: 8, seed: 7, endOnFailure: true },
  );
  // Otherwise the property was not exercised.
  expect(Math.min(promotions, rejections)).toBeGreaterThan(5);
}, 120_000);

async function policyFixture(): Promise<RegistryFixture> {
  const deps = { releasePolicy: POLICY, results, stagingChecks, challengeMinTrades: 100 };
  const fixture = await registryFixture(engine, { service: byRole, deps });
  for (const id of Object.keys(BACKTESTS))
    await completedBacktest(fixture, id, { result: resultOf(id), results: locationOf(id) });
  // One version in Production and one staged: a challenge can begin.
  for (const version of [1, 2, 3]) {
    const backtest_run_id = version === 3 ? 'bt-few' : 'bt-many';
    await fixture.register({ backtest_run_id });
    await fixture.stage(version, version === 3 ? { waive: waiverOf(['min_trades']) } : {}, as('admin'));
  }
  expect((await fixture.promote(1, {}, as('approver'))).status).toBe(200);
  return fixture;
}

const waiverOf = (checks: readonly string[]) => ({ checks, reason: 'tried' });

async function take(fixture: RegistryFixture, each: Step): Promise<Answer | undefined> {
  const { role, version, loose, waived } = each;
  const headers = { ...as(role), ...(each.key && { 'Idempotency-Key': each.key }) };
  const waive = waived ? { waive: waiverOf(waived) } : {};
  switch (each.op) {
    case 'register':
      return fixture.register({ backtest_run_id: each.backtest, skip_validation: loose }, headers);
    case 'stage':
      return fixture.stage(version, { skip_validation: loose, ...waive }, headers);
    case 'promote':
      return fixture.promote(version, { force: loose, ...waive }, headers);
    case 'rollback':
      return fixture.rollback(version, {}, headers);
    case 'challenge': {
      const body = {
        champion_version: 'champion',
        challenger_version: version,
        enable_canary: false,
        auto_promote: each.auto,
      };
      return fixture.strategy('POST', `/api/v1/models/${MODEL}/challenges`, body, headers);
    }
    case 'win':
      return win(fixture);
    case 'promoteChallenge': {
      const id = (await fixture.deps.challenges.latest(MODEL))?.challenge_id;
      return id ? fixture.strategy('POST', `/challenges/${id}/promote`, waive, headers) : undefined;
    }
  }
}

/** Lets the challenger of the last challenge win, if it is active. */
async function win(fixture: RegistryFixture): Promise<Answer | undefined> {
  const id = (await fixture.deps.challenges.latest(MODEL))?.challenge_id;
  if (!id) return undefined;
  let response: Answer | undefined;
  for (const [variant, seed, shift] of [
    ['champion', 12345, 0],
    ['challenger', 67890, 1],
  ] as const) {
    const trades = generated(seed, 100, shift).map((profit_pct, n) => ({
      trade_id: `${variant}-${n}`,
      variant,
      profit_pct,
    }));
    response = await fixture.strategy('POST', `/challenges/${id}/trades`, { trades }, as('researcher'));
  }
  return response;
}

/** Number of promotions in the history. Expects each to meet the policy or to have a waiver of its failed checks. */
async function checkPromotions(fixture: RegistryFixture): Promise<number> {
  const items = await fixture.items();
  const versions = new Map(
    items.filter(({ sk }) => sk.startsWith('VERSION#')).map((each) => [each.version, each]),
  );
  const promotions = items.filter(({ sk, action }) => sk.startsWith('EVENT#') && action === 'promote');
  for (const { version, actor, waiver } of promotions) {
    const missed = [
      ...(versions.get(version)!.metrics.total_trades < POLICY.minTrades ? ['min_trades'] : []),
      ...(isOdd(version) ? [] : ['look_ahead']),
    ];
    expect(waiver?.checks ?? []).toEqual(missed);
    if (missed.length > 0) expect([actor, waiver.reason]).toEqual(['root', 'tried']);
  }
  return promotions.length;
}
