import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { objectStoreContract } from './object-store.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-objects-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('FileObjectStore', () => {
  objectStoreContract((root) => new FileObjectStore(join(folder, root)));

  test('two stores of one process that write the same folder at once lose nothing', async () => {
    const root = join(folder, 'shared');
    const stores = [new FileObjectStore(root), new FileObjectStore(root)];
    const keys = Array.from({ length: 40 }, (_, index) => `folder/${index}.json`);
    await Promise.all(
      keys.map((key, index) => stores[index % 2]!.put(key, Buffer.from(key), 'application/json')),
    );
    const bodies = await Promise.all(keys.map((key) => stores[0]!.get(key)));
    expect(bodies.map((each) => each && Buffer.from(each.body).toString())).toEqual(keys);
  });

  test('concurrent processes lose no conditional write', async () => {
    const root = join(folder, 'counted');
    const script = join(import.meta.dirname, 'fixtures', 'count-in-object.ts');
    const workers = Array.from({ length: 3 }, () =>
      spawn(process.execPath, [script, root, '25'], { stdio: 'inherit' }),
    );
    const exits = await Promise.all(workers.map((worker) => once(worker, 'exit')));
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
    const stored = await new FileObjectStore(root).get('count.txt');
    expect(new TextDecoder().decode(stored?.body)).toBe('75');
    expect(readdirSync(root).sort()).toEqual(['count.txt', '~lock']);
  });

  test('list removes the temporary file of a killed writer', async () => {
    const root = join(folder, 'left');
    const store = new FileObjectStore(root);
    await store.put('a.json', new Uint8Array(1), 'application/json');
    const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(dead, 'exit');
    for (const pid of [dead.pid, process.pid]) writeFileSync(join(root, `~${pid}.0`), 'half');
    const keys: string[] = [];
    for await (const key of store.list('')) keys.push(key);
    expect(keys).toEqual(['a.json']);
    // A writer that runs keeps its file.
    expect(readdirSync(root).sort()).toEqual(['a.json', `~${process.pid}.0`]);
  });

  test.skipIf(process.getuid?.() === 0)('put into a read-only folder is DATA005', async () => {
    const root = join(folder, 'read-only');
    const store = new FileObjectStore(root);
    chmodSync(root, 0o500);
    await expect(store.put('a.json', new Uint8Array(1), 'application/json')).rejects.toMatchObject({
      code: 'DATA005',
    });
  });

  test('put below an object is DATA005 and keeps the object', async () => {
    const store = new FileObjectStore(join(folder, 'below'));
    await store.put('a', new Uint8Array(1), 'text/plain');
    await expect(store.put('a/b', new Uint8Array(1), 'text/plain')).rejects.toMatchObject({
      code: 'DATA005',
    });
    expect(await store.get('a')).toBeDefined();
  });
});
