import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { SearchWork } from '#domain/shared/search-work.ts';
import { serve } from '#runtime/serve.ts';
import { backendApp, memoryLog, post } from '../support/backend.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

/** Work of requests whose client closes its connection. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** Work of that many steps, each an access to the database or a turn of a search. */
function steps(step: () => Promise<unknown>, all: number) {
  const state = { done: 0, isOver: false };
  const run = async (): Promise<never> => {
    try {
      while (state.done < all) {
        await step();
        state.done++;
      }
      throw new Error('nobody stopped it');
    } finally {
      state.isOver = true;
    }
  };
  return { state, run };
}

/** Sends a request, and closes the connection once its work has begun. Returns the number of its steps when it has ended. */
async function abandoned(init: RequestInit, step: () => Promise<unknown>, all: number): Promise<number> {
  const { state, run } = steps(step, all);
  const { app, lines } = backendApp({ listBacktests: run, submitBacktest: run });
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', log: memoryLog().log });
  const client = new AbortController();
  const response = fetch(`${server.url}/api/v1/backtests`, { ...init, signal: client.signal });
  await expect.poll(() => state.done).toBeGreaterThan(0);
  client.abort();
  await expect(response).rejects.toThrow();
  await expect.poll(() => state.isOver, { timeout: 10_000 }).toBe(true);
  await expect.poll(() => lines.length).toBeGreaterThan(0);
  if (state.done < all)
    expect(lines.map(({ level, fields }) => [level, fields.status])).toEqual([['info', 499]]);
  await server.close();
  return state.done;
}

it('a list of a client that went away ends at its next access to the database', async () => {
  const database = createDocumentClient({ endpoint: engine.endpoint });
  const read = () =>
    database.send(new GetCommand({ TableName: engine.tables.jobs, Key: { job_id: 'bt-1', item: 'JOB' } }));
  expect(await abandoned({}, read, 300)).toBeLessThan(300);
  // A call that changes something is not left half done.
  expect(await abandoned(post({ config: { strategy: 'ema_crossover' } }), read, 300)).toBe(300);
  database.destroy();
});

it('a search of a client that went away ends at its next turn', async () => {
  const turn = async () => {
    const work = new SearchWork('q');
    work.add(2_000_000);
    await work.turn();
  };
  expect(await abandoned({}, turn, 1_000_000)).toBeLessThan(1_000_000);
});
