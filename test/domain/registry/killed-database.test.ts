import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { createTables } from '#adapters/aws/create-tables.ts';
import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { createRandom } from '#engine/random.ts';
import { Invariants } from '../../support/registry-invariants.ts';
import { type Answer, type RegistryWorld, registryWorld } from '../../support/registry-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-killed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TABLES = { jobs: 'jobs', registry: 'registry', series: 'series' };
const HOLDER = join(import.meta.dirname, '../../adapters/fixtures/hold-database.ts');

/** The database in a process of its own, and the registry on it. Killing the process kills the database. */
async function open(dbPath: string): Promise<{ world: RegistryWorld; kill: () => void; close: () => void }> {
  const holder: ChildProcess = spawn(process.execPath, [HOLDER, dbPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [endpoint] = await once(createInterface(holder.stdout!), 'line');
  const client = createDocumentClient({ endpoint, unavailable: 'SVC005' });
  await createTables(client, TABLES);
  const world = await registryWorld({ client, freshTables: async () => TABLES }, { tables: TABLES });
  const kill = () => holder.kill('SIGKILL');
  return {
    world,
    kill,
    close: () => {
      client.destroy();
      kill();
    },
  };
}

const STATUSES = [200, 201, 404, 409, 410, 503];

/** Any call; versions 1 to 3 are fought over. */
function anyCall(world: RegistryWorld, random: () => number): Promise<Answer> {
  const version = String(1 + Math.floor(random() * 3));
  const calls = [
    () => world.register(),
    () => world.stage(version),
    () => world.promote(version),
    () => world.rollback(version),
  ];
  return calls[Math.floor(random() * calls.length)]!();
}

it('a database that is killed while moves are made has each of them whole or not at all, and loses none that was answered', async () => {
  const dbPath = join(folder, 'registry.sqlite');
  const random = createRandom(7);
  let invariants: Invariants | undefined;
  const numbers: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { world, kill, close } = await open(dbPath);
    invariants?.reopen(world);
    invariants ??= new Invariants(world);
    await invariants.check();
    const answers = [await world.register()];
    const dies = 6 + Math.floor(random() * 10);
    // Each goes on until it meets the death of the database.
    const callers = Array.from({ length: 8 }, async () => {
      while (answers.at(-1)!.status !== 503) {
        answers.push(await anyCall(world, random));
        if (answers.length === dies) kill();
      }
    });
    await Promise.all(callers);
    for (const { status } of answers) expect(STATUSES).toContain(status);
    numbers.push(...answers.filter(({ status }) => status === 201).map(({ body }) => Number(body.version)));
    close();
  }
  const { world, close } = await open(dbPath);
  invariants!.reopen(world);
  await invariants!.check();
  const stored = (await world.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(stored.map(({ version }) => Number(version))).toEqual(expect.arrayContaining(numbers));
  close();
});
