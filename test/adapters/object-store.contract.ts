import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ObjectStore } from '#domain/ports.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array | undefined) => body && new TextDecoder().decode(body);
const sha256 = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');
const JSON_TYPE = 'application/json';

/** Contract of every object store. `open` returns a store with a separate root for each folder name. */
export function objectStoreContract(open: (root: string) => Promise<ObjectStore> | ObjectStore): void {
  let roots = 0;
  const fresh = () => open(`root-${roots++}`);

  async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of store.list(prefix)) keys.push(key);
    return keys;
  }

  test('get returns the stored body with hash and content type', async () => {
    const store = await fresh();
    const body = new Uint8Array(300_000).map((_, i) => i * 31);
    for (const [key, type] of [
      ['results/bt-1/1/result.json.gz', 'application/gzip'],
      ['results/bt-1/1/trades.parquet', 'application/vnd.apache.parquet'],
      ['a=b/plain.json', JSON_TYPE],
      ['no-ending', 'application/octet-stream'],
    ] as const) {
      expect(await store.put(key, body, type)).toEqual({ etag: sha256(body) });
      const stored = await store.get(key);
      expect(Buffer.compare(stored!.body, body)).toBe(0);
      expect(stored).toMatchObject({ etag: sha256(body), contentType: type });
    }
  });

  test('get returns a body of several megabytes', async () => {
    const store = await fresh();
    const body = new Uint8Array(3_000_000).map((_, i) => i * 31);
    await store.put('large.parquet', body, 'application/vnd.apache.parquet');
    expect(Buffer.compare((await store.get('large.parquet'))!.body, body)).toBe(0);
  });

  test('folders names what is directly in a folder, without the objects in it', async () => {
    const store = await fresh();
    for (const key of ['a/z=1/x/1.json', 'a/z=1/y/2.json', 'a/b/3.json', 'a/4.json', 'ab/c/5.json'])
      await store.put(key, bytes('1'), JSON_TYPE);
    expect(await store.folders('a/')).toEqual(['b', 'z=1']);
    expect(await store.folders('none/')).toEqual([]);
  });

  test('put stores an empty object', async () => {
    const store = await fresh();
    await store.put('empty.txt', new Uint8Array(0), 'text/plain');
    expect((await store.get('empty.txt'))?.body).toHaveLength(0);
  });

  test('get returns undefined and delete succeeds for an absent key', async () => {
    const store = await fresh();
    await store.put('folder/x.json', bytes('1'), JSON_TYPE);
    expect(await store.get('folder/y.json')).toBeUndefined();
    expect(await store.get('folder')).toBeUndefined();
    expect(await store.get('folder/x.json/below')).toBeUndefined();
    await store.delete('folder/y.json');
  });

  test('later put replaces an object, and delete removes it', async () => {
    const store = await fresh();
    await store.put('k.json', bytes('first, and longer'), JSON_TYPE);
    await store.put('k.json', bytes('second'), JSON_TYPE);
    expect(text((await store.get('k.json'))?.body)).toBe('second');
    await store.delete('k.json');
    expect(await store.get('k.json')).toBeUndefined();
    expect(await keysOf(store, '')).toEqual([]);
  });

  test('list returns keys in ascending order for any prefix', async () => {
    const store = await fresh();
    const keys = ['a/b/2.json', 'a/b/10.json', 'a-b/1.json', 'a/c.json', 'a=1/x.json', 'ab/z.json', 'a.json'];
    for (const key of keys) await store.put(key, bytes(key), JSON_TYPE);
    expect(await keysOf(store, '')).toEqual([...keys].sort());
    expect(await keysOf(store, 'a/')).toEqual(['a/b/10.json', 'a/b/2.json', 'a/c.json']);
    expect(await keysOf(store, 'a/b/1')).toEqual(['a/b/10.json']);
    expect(await keysOf(store, 'a')).toEqual([...keys].sort());
    expect(await keysOf(store, 'nothing/')).toEqual([]);
  });

  test.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '..',
    'a/../b',
    './a',
    'a\\b',
    'a b',
    'ä',
    '~a',
    'a\0',
    'BTC/USDT:USDT',
    'x'.repeat(1_025),
  ])('put rejects the key %j', async (key) => {
    const store = await fresh();
    await expect(store.put(key, bytes('1'), JSON_TYPE)).rejects.toThrow(RangeError);
    await expect(store.putIf(key, bytes('1'), JSON_TYPE, null)).rejects.toThrow(RangeError);
    await expect(store.get(key)).rejects.toThrow(RangeError);
    await expect(store.delete(key)).rejects.toThrow(RangeError);
  });

  test('putIf writes only when the ETag matches', async () => {
    const store = await fresh();
    expect(await store.putIf('k.json', bytes('x'), JSON_TYPE, sha256(bytes('other')))).toBeUndefined();
    expect(await store.get('k.json')).toBeUndefined();
    const first = await store.putIf('k.json', bytes('1'), JSON_TYPE, null);
    expect(first).toEqual({ etag: sha256(bytes('1')) });
    expect(await store.putIf('k.json', bytes('2'), JSON_TYPE, null)).toBeUndefined();
    const second = await store.putIf('k.json', bytes('2'), JSON_TYPE, first!.etag);
    expect(second).toEqual({ etag: sha256(bytes('2')) });
    expect(await store.putIf('k.json', bytes('3'), JSON_TYPE, first!.etag)).toBeUndefined();
    expect(text((await store.get('k.json'))?.body)).toBe('2');
    expect(await keysOf(store, '')).toEqual(['k.json']);
  });

  test('exactly one of many concurrent conditional writers wins each round', async () => {
    const store = await fresh();
    let etag: string | null = null;
    for (let round = 0; round < 5; round++) {
      const written = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.putIf('n.json', bytes(`${round}-${i}`), JSON_TYPE, etag)),
      );
      const winners = written.filter((each) => each !== undefined);
      expect(winners).toHaveLength(1);
      expect((await store.get('n.json'))?.etag).toBe(winners[0]!.etag);
      etag = winners[0]!.etag;
    }
  });

  test('concurrent read returns the complete old or new body', async () => {
    const store = await fresh();
    const bodies = ['a', 'b'].map((letter) => bytes(letter.repeat(500_000)));
    await store.put('big.txt', bodies[0]!, 'text/plain');
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 10; i++) await store.put('big.txt', bodies[i % 2]!, 'text/plain');
      writing = false;
    })();
    const etags = new Set<string>();
    while (writing) etags.add((await store.get('big.txt'))!.etag);
    await writer;
    for (const etag of etags) expect(bodies.map(sha256)).toContain(etag);
  });
}
