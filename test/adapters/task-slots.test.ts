import { expect, it } from 'vitest';
import { TaskSlots } from '#adapters/local/task-runner.ts';

/** Runs all tasks on `slots`, ending them in the order of their starts. Returns that order. */
async function order(
  slots: number,
  waiting: readonly [owner: string, priority: number][],
): Promise<string[]> {
  const queue = new TaskSlots(slots);
  const started: string[] = [];
  const running: (() => void)[] = [];
  const { signal } = new AbortController();
  const all = waiting.map(async ([owner, priority]) => {
    const release = await queue.take({ owner, priority, signal });
    started.push(`${owner}${priority}`);
    running.push(release);
  });
  while (started.length < waiting.length) {
    await new Promise((resolve) => setImmediate(resolve));
    running.shift()?.();
  }
  await Promise.all(all);
  return started;
}

it('queue serves waiting owners in turn, regardless of priority', async () => {
  const greedy = [9, 9, 9, 9].map((priority): [string, number] => ['ann', priority]);
  expect(await order(1, [...greedy, ['bob', 1], ['cid', 1]])).toEqual([
    'ann9',
    'bob1',
    'cid1',
    'ann9',
    'ann9',
    'ann9',
  ]);
});

it('one owner gets both slots only while no other owner waits', async () => {
  const started = await order(2, [
    ['ann', 5],
    ['ann', 5],
    ['ann', 5],
    ['ann', 5],
    ['bob', 5],
    ['bob', 5],
  ]);
  expect(started).toEqual(['ann5', 'ann5', 'bob5', 'ann5', 'bob5', 'ann5']);
});

it('queue orders jobs of one owner by priority, then by age', async () => {
  expect(
    await order(1, [
      ['ann', 5],
      ['ann', 1],
      ['ann', 9],
      ['ann', 5],
    ]),
  ).toEqual(['ann5', 'ann9', 'ann5', 'ann1']);
});

it('queue skips a cancelled waiter and serves the next', async () => {
  const queue = new TaskSlots(1);
  const { signal } = new AbortController();
  const release = await queue.take({ owner: 'ann', priority: 5, signal });
  const leaving = new AbortController();
  const left = queue.take({ owner: 'bob', priority: 9, signal: leaving.signal });
  const next = queue.take({ owner: 'ann', priority: 1, signal });
  leaving.abort(new Error('cancelled'));
  await expect(left).rejects.toThrow('cancelled');
  release();
  (await next)();
});
