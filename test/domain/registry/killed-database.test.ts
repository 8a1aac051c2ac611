import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { createRandom } from '#engine/random.ts';
import { type Answer, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';
import { Invariants } from '../../support/registry-invariants.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-killed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TABLES = { jobs: 'jobs', registry: 'registry', series: 'series' };
const HOLDER = join(import.meta.dirname, '../../adapters/fixtures/hold-database.ts');

/** Database in its own process, and the registry on it. Killing the process kills the database. */
async function open(
  dbPath: string,
): Promise<{ fixture: RegistryFixture; kill: () => void; close: () => void }> {
  const holder: ChildProcess = spawn(process.execPath, [HOLDER, dbPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [endpoint] = await once(createInterface(holder.stdout!), 'line');
  const client = createDocumentClient({ endpoint, unavailable: 'SVC005' });
  await createTables(client, TABLES);
  const fixture = await registryFixture({ client, freshTables: async () => TABLES }, { tables: TABLES });
  const kill = () => holder.kill('SIGKILL');
  return {
    fixture,
    kill,
    close: () => {
      client.destroy();
      kill();
    },
  };
}

const STATUSES = [200, 201, 404, 409, 410, 503];

/** Random call on one of versions 1 to 3, so that calls conflict. */
function anyCall(fixture: RegistryFixture, random: () => number): Promise<Answer> {
  const version = String(1 + Math.floor(random() * 3));
  const calls = [
    () => fixture.register(),
    () => fixture.stage(version),
    () => fixture.promote(version),
    () => fixture.rollback(version),
  ];
  return calls[Math.floor(random() * calls.length)]!();
}

it('killed database keeps every acknowledged transition and no partial one', async () => {
  const dbPath = join(folder, 'registry.sqlite');
  const random = createRandom(7);
  let invariants: Invariants | undefined;
  const numbers: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { fixture, kill, close } = await open(dbPath);
    invariants?.reopen(fixture);
    invariants ??= new Invariants(fixture);
    await invariants.check();
    const responses = [await fixture.register()];
    const dies = 6 + Math.floor(random() * 10);
    // Each caller continues until the database is killed.
    const callers = Array.from({ length: 8 }, async () => {
      while (responses.at(-1)!.status !== 503) {
        responses.push(await anyCall(fixture, random));
        if (responses.length === dies) kill();
      }
    });
    await Promise.all(callers);
    for (const { status } of responses) expect(STATUSES).toContain(status);
    numbers.push(...responses.filter(({ status }) => status === 201).map(({ body }) => Number(body.version)));
    close();
  }
  const { fixture, close } = await open(dbPath);
  invariants!.reopen(fixture);
  await invariants!.check();
  const stored = (await fixture.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(stored.map(({ version }) => Number(version))).toEqual(expect.arrayContaining(numbers));
  close();
});
