import { describe, expect, it } from 'vitest';
import type { HyperoptRequest } from '#contract/hyperopt/hyperopt-request.ts';
import { resolveSearch } from '#domain/hyperopt/resolve-spaces.ts';
import pullback from '#strategies/example_pullback.ts';

type Search = NonNullable<HyperoptRequest['search']>;

const resolve = (search: Search) => resolveSearch(pullback, search);

describe('choice parameter', () => {
  it('choice parameter searches all allowed choices or the given subset', () => {
    expect(resolve({ shorts: {} })).toEqual({ shorts: { kind: 'choice', choices: [true, false] } });
    expect(resolve({ shorts: { choices: [false] } })).toEqual({
      shorts: { kind: 'choice', choices: [false] },
    });
  });

  it.each<[string, Search[string]]>([
    ['bounds', { min: 0, max: 1 }],
    ['one bound in addition to choices', { min: 0, choices: [true] }],
    ['a choice that the strategy does not allow', { choices: [true, 'both'] }],
    ['a repeated choice', { choices: [true, true] }],
    ['an empty list of choices', { choices: [] }],
  ])('choice parameter rejects %s', (_, asked) => {
    expect(() => resolve({ shorts: asked })).toThrow(
      expect.objectContaining({
        code: 'VAL005',
        field: 'search.shorts',
        context: { allowed: [true, false] },
      }),
    );
  });
});

it('numeric parameter rejects choices', () => {
  expect(() => resolve({ trend_period: { choices: [20] } })).toThrow(
    expect.objectContaining({ code: 'VAL005', field: 'search.trend_period' }),
  );
});
