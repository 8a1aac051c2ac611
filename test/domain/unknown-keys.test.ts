import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from '#domain/config/resolve-config.ts';
import { checkSpelling, unknownKeyWarnings } from '#domain/shared/unknown-keys.ts';

const keys = (make: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: 9_900 }, (_, index) => [make(index), 1]));

describe('unknown keys of a request', () => {
  it.each([
    ['long', keys((index) => `${'k'.repeat(90)}${index}`)],
    [
      'as long as a name',
      keys(
        (index) =>
          `strategy${index % 10}${String.fromCharCode(97 + (index % 26), 97 + (index % 23))}${index}`,
      ),
    ],
  ])('thousands of them take no time: %s', (_, value) => {
    const start = performance.now();
    checkSpelling(value, CONFIG_KEYS, 'config.');
    unknownKeyWarnings(value, CONFIG_KEYS, 'config.');
    expect(performance.now() - start).toBeLessThan(300);
  });

  it('a misspelled name among others is found', () => {
    const others = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`own_key_${index}`, 1]));
    expect(() => checkSpelling({ ...others, stop_los: 1 }, CONFIG_KEYS, 'config.')).toThrow(
      'did you mean config.stoploss?',
    );
  });
});
