import { expect, test, vi } from 'vitest';
import { lazy } from '#domain/shared/lazy.ts';

class Store {
  #items = ['a', 'b'];
  readonly sharing = { find: async (id: string) => this.#items.includes(id) };

  async count(more: number) {
    return this.#items.length + more;
  }

  async *all() {
    yield* this.#items;
  }

  async fail() {
    throw new Error('no such table');
  }
}

test('lazy object is loaded once, at the first call', async () => {
  const load = vi.fn(async () => new Store());
  const store = lazy(load);
  expect(load).not.toHaveBeenCalled();
  expect(await Promise.all([store.count(1), store.count(2)])).toEqual([3, 4]);
  expect(await store.sharing.find('a')).toBe(true);
  expect(load).toHaveBeenCalledTimes(1);
});

test('lazy method can be taken from its object', async () => {
  const { count } = lazy(async () => new Store());
  expect(await count(0)).toBe(2);
});

test('lazy async iterable yields its items and ends early with its consumer', async () => {
  const store = lazy(async () => new Store());
  const items: string[] = [];
  for await (const item of store.all()) items.push(item);
  expect(items).toEqual(['a', 'b']);
  for await (const item of store.all()) {
    expect(item).toBe('a');
    break;
  }
});

test('lazy call rejects with the error of the method or of the load', async () => {
  await expect(lazy(async () => new Store()).fail()).rejects.toThrow('no such table');
  const broken = lazy(async (): Promise<Store> => {
    throw new Error('no such file');
  });
  await expect(broken.count(1)).rejects.toThrow('no such file');
});

test('lazy object can be the result of an async function', async () => {
  const load = vi.fn(async () => new Store());
  const store = await (async () => lazy(load))();
  expect(load).not.toHaveBeenCalled();
  expect(await store.count(0)).toBe(2);
});
