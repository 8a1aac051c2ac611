import { afterAll, beforeAll } from 'vitest';
import { startEngine, type TestEngine } from './engine.ts';

/** An engine for the tests of a file, from its first hook on. Reading it earlier throws. */
export function fileEngine(): TestEngine {
  let engine: TestEngine | undefined;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine?.stop());
  return new Proxy({} as TestEngine, {
    get: (_, name) => {
      if (!engine) throw new Error('The engine is started by a hook of the file');
      return Reflect.get(engine, name);
    },
  });
}
