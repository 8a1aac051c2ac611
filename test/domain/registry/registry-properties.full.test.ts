import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Stage } from '#contract/registry/stored-registry.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { type Answer, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';
import { Invariants } from '../../support/registry-invariants.ts';

const engine = fileEngine();

type Command =
  | { readonly call: 'register'; readonly fails: boolean; readonly key: string | null }
  | {
      readonly call: 'stage' | 'promote' | 'rollback';
      readonly version: string;
      readonly expected: string | null | undefined;
      readonly key: string | null;
    };

const key = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom('a', 'b'));
const version = fc.constantFrom('1', '2', '3', 'latest', 'champion');
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ call: fc.constant('register'), fails: fc.boolean(), key }) },
  {
    weight: 5,
    arbitrary: fc.record({
      call: fc.constantFrom('stage', 'promote', 'rollback'),
      version,
      expected: fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom(null, '1', '2') },
      ),
      key,
    }),
  },
);

function run(fixture: RegistryFixture, command: Command): Promise<Answer> {
  const headers: Record<string, string> = command.key === null ? {} : { 'Idempotency-Key': command.key };
  if (command.call === 'register') {
    return fixture.register(command.fails ? { thresholds: { min_sharpe: 99 } } : {}, headers);
  }
  const { call, version, expected } = command;
  const more = call === 'stage' || expected === undefined ? {} : { expected_production: expected };
  return fixture[call](version, more, headers);
}

/** Reference model of the registry, in memory. */
class Rules {
  readonly stages: Stage[] = [];
  readonly #replies = new Map<string, { request: string; status: number }>();

  /** Applies a call and returns its expected status. */
  call(command: Command): number {
    const { key: used, ...request } = command;
    // A staging has no expected version.
    const sent = request.call === 'stage' ? { ...request, expected: undefined } : request;
    const text = JSON.stringify(sent);
    const stored = used === null ? undefined : this.#replies.get(used);
    if (stored) return stored.request === text ? stored.status : 409;
    const status = command.call === 'register' ? this.#register(command.fails) : this.#move(command);
    if (used !== null && status < 300) this.#replies.set(used, { request: text, status });
    return status;
  }

  #register(fails: boolean): number {
    if (fails) return 400;
    this.stages.push('None');
    return 201;
  }

  #move({ call, version, expected }: Exclude<Command, { call: 'register' }>): number {
    if (this.stages.length === 0) return 404;
    const production = this.stages.indexOf('Production');
    const aliases = { latest: this.stages.length - 1, champion: production } as Record<string, number>;
    const index = aliases[version] ?? Number(version) - 1;
    const stage = this.stages[index];
    if (stage === undefined) return 404;
    if (call === 'stage') {
      if (stage === 'None') this.stages[index] = 'Staging';
      return { None: 200, Staging: 200, Production: 409, Archived: 410 }[stage];
    }
    if (stage === 'Production') return 200;
    if (call === 'promote' && stage === 'Archived') return 410;
    if (stage !== (call === 'promote' ? 'Staging' : 'Archived')) return 409;
    const current = production < 0 ? null : String(production + 1);
    if (expected !== undefined && expected !== current) return 409;
    if (production >= 0) this.stages[production] = 'Archived';
    this.stages[index] = 'Production';
    return 200;
  }
}

describe('random registry calls', () => {
  it('any sequence of calls returns the statuses and stages of the reference model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 25 }), async (commands) => {
        const fixture = await registryFixture(engine);
        const invariants = new Invariants(fixture);
        const rules = new Rules();
        for (const each of commands) {
          expect((await run(fixture, each)).status, JSON.stringify(each)).toBe(rules.call(each));
          await invariants.check();
        }
        const versions = (await fixture.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
        expect(versions.map(({ stage }) => stage)).toEqual(rules.stages);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('concurrent random calls keep the registry invariants', async () => {
    const batches = fc.array(fc.array(command, { minLength: 2, maxLength: 6 }), {
      minLength: 4,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (groups) => {
        const fixture = await registryFixture(engine);
        const invariants = new Invariants(fixture);
        await fixture.register();
        for (const group of groups) {
          const responses = await Promise.all(group.map((each) => run(fixture, each)));
          for (const { status } of responses) expect(status).toBeLessThan(500);
          await invariants.check();
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
