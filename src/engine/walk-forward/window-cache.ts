import type { WindowCache } from './types.ts';

/** Enough for some sets of strategy parameters over a year of 5m candles of a few pairs. */
const DEFAULT_BYTES = 256 * 1024 * 1024;

/**
 * A cache of bounded size for one study: beyond `mostBytes` what was used longest ago is dropped and made again when it is
 * asked for.
 */
export function createWindowCache(mostBytes = DEFAULT_BYTES): WindowCache {
  const entries = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  let held = 0;
  const drop = (key: string, bytes: number) => {
    entries.delete(key);
    held -= bytes;
  };
  return {
    get<T>(key: string, make: () => T, bytesOf: (value: T) => number): T {
      const known = entries.get(key);
      if (known) {
        // A Map keeps the order of insertion: what is used moves to its end.
        entries.delete(key);
        entries.set(key, known);
        return known.value as T;
      }
      const value = make();
      const bytes = bytesOf(value);
      entries.set(key, { value, bytes });
      held += bytes;
      for (const [oldest, entry] of entries) {
        if (held <= mostBytes || oldest === key) break;
        drop(oldest, entry.bytes);
      }
      return value;
    },
  };
}
