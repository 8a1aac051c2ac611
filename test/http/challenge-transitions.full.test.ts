import { describe, expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';
import { CASES, challengeCalls, hasEffect } from './challenge-calls.ts';

const engine = fileEngine();

describe('challenge transitions', () => {
  const check = challengeCalls(() => engine);

  it.each(CASES.filter((row) => !hasEffect(row) && row[0] !== 'hold'))(
    'challenge call %s in the state: %s',
    (...row) => check(row),
  );
});

describe('challenge deadlines and rules', () => {
  it('sample ratio mismatch holds the challenge until a user resumes it', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create()).body.challenge_id;
    // Only keys of the challenger arrive with their trades.
    const { assignments, trades } = await challengerKeys(fixture, id, 12);
    expect(assignments).toBe(12);
    await fixture.post(id, 'trades', { trades });
    expect((await fixture.read(id)).body.hold).toMatchObject({ reason: 'sample_ratio_mismatch' });
    const evaluation = await fixture.evaluate(id);
    expect(evaluation.srm.status).toBe('mismatch');
    expect(evaluation.recommendation).toBe('CONTINUE');
    // The hold remains after the ratio is balanced again.
    for (let key = 0; (await fixture.evaluate(id)).srm.status === 'mismatch'; key++)
      await fixture.post(id, 'trades', {
        trades: Array.from({ length: 20 }, (_, n) => ({
          trade_id: `more-${key}-${n}`,
          variant: 'champion',
          profit_pct: 0.1,
          assignment_key: `more-${key}-${n}`,
        })),
      });
    expect((await fixture.read(id)).body.hold).toMatchObject({ reason: 'sample_ratio_mismatch' });
    await fixture.post(id, 'resume');
    await fixture.log(id, 'champion', [1]);
    expect((await fixture.read(id)).body.hold).toBeNull();
  });
});

/** Trades of keys assigned to the challenger at 5 %. */
async function challengerKeys(fixture: ChallengeFixture, id: string, count: number) {
  const trades: object[] = [];
  for (let key = 0; trades.length < count; key++) {
    const name = `key-${key}`;
    const { body } = await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${name}`);
    if (body.variant !== 'challenger') continue;
    trades.push({ trade_id: name, version: body.version, profit_pct: 0.1, assignment_key: name });
  }
  expect((await fixture.evaluate(id)).assignments).toEqual({ champion: 0, challenger: 0 });
  return { assignments: trades.length, trades };
}
