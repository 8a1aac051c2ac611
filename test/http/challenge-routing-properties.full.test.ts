import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

const engine = fileEngine();

const route = async (fixture: ChallengeFixture, key: string) =>
  (await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${key}`)).body;
const assign = async (fixture: ChallengeFixture, id: string, key: string) =>
  (await fixture.post(id, 'assignments', { assignment_key: key })).body;

const KEYS = ['a', 'b', 'c'];
const VERSIONS = ['1', '2', '3', '4'];
type Step = readonly [kind: string, n: number];
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(
    'start',
    'start',
    'route',
    'win',
    'promote',
    'promote version',
    'rollback',
    'rollback',
    'stop',
    'end',
  ),
  fc.nat(11),
);

/** Version 2 in Production against version 3: a rollback to version 1 ends it. */
const OPENING: readonly Step[] = [
  ['promote version', 1],
  ['start', 1],
];
const steps = fc
  .tuple(fc.constantFrom([], OPENING, OPENING), fc.array(step, { minLength: 4, maxLength: 12 }))
  .map((parts) => parts.flat());

/** State of a sequence, and what its requests have answered so far. */
interface Play {
  readonly fixture: ChallengeFixture;
  readonly challenges: { readonly id: string; readonly positions: Map<string, string> }[];
}

async function take({ fixture, challenges }: Play, [kind, n]: Step): Promise<void> {
  const id = challenges.at(-1)?.id ?? 'ch-none';
  const version = VERSIONS[n % VERSIONS.length]!;
  if (kind === 'start') {
    const [champion_version, challenger_version] = [version, VERSIONS[(n + 1) % VERSIONS.length]];
    const on_rollback = n % 3 === 0 ? 'finish' : 'close';
    const policy = { on_rollback, enable_canary: n % 2 === 0, auto_promote: n % 4 === 0 };
    const { body } = await fixture.create({ champion_version, challenger_version, ...policy });
    if (body.challenge_id) challenges.push({ id: body.challenge_id, positions: new Map() });
  }
  if (kind === 'win') {
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, 1));
  }
  if (kind === 'promote') await fixture.post(id, 'promote');
  if (kind === 'promote version') await fixture.promote(version);
  if (kind === 'rollback') await fixture.rollback(version);
  if (kind === 'stop') await fixture.post(id, 'rollback');
  if (kind === 'end') fixture.clock.forward((n % 2 ? 24 : 170) * HOUR);
}

/** Route, assignment, and route again of a key of the last challenge agree; earlier challenges keep their positions. */
async function check({ fixture, challenges }: Play, key: string): Promise<void> {
  const latest = challenges.at(-1);
  const routed = await route(fixture, key);
  const { model, versions } = await fixture.store.read(MODEL, VERSIONS);
  if (!latest) {
    expect([routed.version, routed.entry_version]).toEqual([model!.production_version, routed.version]);
    return;
  }
  const said = ({ version, entry_version, should_close }: any) => ({ version, entry_version, should_close });
  const { status, outcome, promoted_at } = (await fixture.read(latest.id)).body;
  const isOver = status !== 'active' && !(outcome === 'challenger_wins' && promoted_at === null);
  const assigned = await assign(fixture, latest.id, key);
  expect(said(assigned)).toEqual(said(routed));
  expect(said(await route(fixture, key))).toEqual(said(routed));
  if (!isOver) latest.positions.set(key, latest.positions.get(key) ?? assigned.version);
  // A known key keeps the version of its position; a new one gets the version in Production after the end.
  expect(assigned.version).toBe(latest.positions.get(key) ?? model!.production_version);
  expect(assigned.entry_version).toBe(isOver ? model!.production_version : assigned.version);
  for (const { id, positions } of challenges) {
    const { champion_version, challenger_version, ...ended } = (await fixture.read(id)).body;
    const answer = await assign(fixture, id, key);
    expect(answer.entry_version).toBe(routed.entry_version);
    expect(answer.version).toBe(positions.get(key) ?? routed.version);
    if (!positions.has(key)) continue;
    const stopped = ended.status === 'rolled_back' || ended.outcome === 'champion_kept';
    const isChampion = answer.version === model!.production_version;
    const ownClose =
      stopped && ended.on_rollback === 'close' && answer.version === challenger_version && !isChampion;
    if (id === latest.id) {
      expect(answer.should_close).toBe(ownClose || (isOver && versions.get(answer.version)!.rolled_back));
    } else if (ownClose || versions.get(answer.version)!.rolled_back) expect(answer.should_close).toBe(true);
  }
}

it('route and assignments agree in random sequences of start, route, promote, rollback, stop and end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const fixture = await challengeFixture(engine);
      for (const version of ['3', '4']) {
        await fixture.register();
        await fixture.stage(version);
      }
      const play: Play = { fixture, challenges: [] };
      for (const each of taken) {
        await take(play, each);
        for (const key of [each[1], each[1] % 2]) await check(play, KEYS[key % KEYS.length]!);
      }
    }),
    { numRuns: 6, seed: 20_261_129, endOnFailure: true },
  );
});
