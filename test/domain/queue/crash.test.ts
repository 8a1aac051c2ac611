import { expect, test } from 'vitest';
import { endExecutions, repairQueue } from '#domain/repair/repair-jobs.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { MINUTE, queueScene } from '../../support/queue-scene.ts';

/** The process dies before or after each of its writes: the next repair runs finish its work. */

const engine = fileEngine();

const WRITES = ['announce', 'leave', 'removeOwner', 'take', 'free', 'requeue', 'create', 'start'];
const JOBS = ['bt-1', 'bt-2', 'bt-3'];

class ProcessDied extends Error {}

/** Counts the writes of some objects. At the given one, and at every later call, the process is dead. */
function mortal(diesAt: number, when: 'before' | 'after') {
  let writes = 0;
  let dead = false;
  const wrap = <Wrapped extends object>(target: Wrapped): Wrapped =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          const dies = WRITES.includes(name as string) && ++writes === diesAt;
          if (dead || (dies && when === 'before')) {
            dead = true;
            throw new ProcessDied();
          }
          const result: unknown = await Reflect.apply(member, target, args);
          if (!dies) return result;
          dead = true;
          throw new ProcessDied();
        };
      },
    });
  return { wrap, writes: () => writes, died: () => dead };
}

/** Three submissions for one slot and the end of the first execution, by a process that dies. */
async function runMortal(diesAt: number, when: 'before' | 'after') {
  const scene = await queueScene(engine, 1);
  const life = mortal(diesAt, when);
  const { deps } = scene;
  const mortalDeps = {
    ...deps,
    jobs: life.wrap(deps.jobs),
    queue: life.wrap(deps.queue),
    executions: life.wrap(deps.executions),
  };
  const work = async () => {
    for (const id of JOBS) await scene.submit(id, {}, mortalDeps);
    await scene.jobs.fail('bt-1', null, { code: 'VAL006', message: 'ended' }, '2025-03-01T00:01:00.000Z');
    scene.executions.states.set('bt-1-1', 'succeeded');
    await endExecutions(mortalDeps, ['bt-1-1']);
  };
  await work().catch((error: unknown) => {
    if (!life.died()) throw error;
  });
  return { ...scene, life };
}

/** Runs repair and ends what it started until nothing is left to do. */
async function recover({ deps, clock, executions, jobs }: Awaited<ReturnType<typeof runMortal>>) {
  for (let round = 0; round < JOBS.length + 2; round++) {
    clock.time += 3 * MINUTE;
    await repairQueue(deps);
    for (const [name, status] of executions.states) {
      if (status !== 'running') continue;
      executions.states.set(name, 'succeeded');
      const at = new Date(clock.time).toISOString();
      await jobs.fail(name.replace(/-1$/, ''), null, { code: 'VAL006', message: 'ended' }, at);
    }
  }
}

test('no death between two writes loses a job, runs one twice or keeps a slot', async () => {
  let deaths = 0;
  for (const when of ['before', 'after'] as const) {
    for (let diesAt = 1; ; diesAt++) {
      const scene = await runMortal(diesAt, when);
      if (!scene.life.died()) break;
      deaths++;
      await recover(scene);
      const stored = await Promise.all(JOBS.map((id) => scene.jobs.get(id)));
      const label = `${when} write ${diesAt}`;
      // A submission that died before its write has no job: the client got an error.
      const kept = stored.flatMap((job) => (job ? [job] : []));
      expect(
        kept.map(({ status }) => status),
        label,
      ).toEqual(kept.map(() => 'failed'));
      expect([...scene.executions.started].sort(), label).toEqual(kept.map(({ job_id }) => `${job_id}-1`));
      expect(await scene.queue.slots('backtest'), label).toEqual([]);
      expect(await scene.queue.owners('backtest'), label).toEqual([]);
    }
  }
  expect(deaths).toBeGreaterThan(20);
});
