import { describe, expect, it } from 'vitest';
import { groupOf, positionNumbers } from '#engine/report/positions.ts';

describe('groups', () => {
  it.each([
    ['spread-1:long', 'spread-1'],
    ['a:b:c', 'a'],
    ['spread', null],
    [':long', null],
    [null, null],
    ['__proto__:x', '__proto__'],
  ])('the group of the tag %s is %s', (tag, group) => expect(groupOf(tag)).toBe(group));

  it('trades of a group that overlap are one position, those that only touch are two', () => {
    const trade = (group: string | null, openedAt: number, closedAt: number) => ({
      group,
      openedAt,
      closedAt,
    });
    const numbers = (...trades: ReturnType<typeof trade>[]) => [...positionNumbers(trades)];
    expect(numbers(trade('a', 0, 10), trade('a', 5, 12), trade('a', 11, 20))).toEqual([1, 1, 1]);
    expect(numbers(trade('a', 0, 10), trade('a', 10, 20))).toEqual([1, 2]);
    expect(numbers(trade('a', 0, 10), trade('b', 0, 10), trade(null, 0, 10))).toEqual([1, 2, 0]);
    // In the order of closing, as trades are stored.
    expect(numbers(trade('a', 5, 8), trade('a', 30, 31), trade('a', 0, 10))).toEqual([1, 2, 1]);
    // A leg that is stopped in its first candle was held with the other.
    expect(numbers(trade('a', 5, 5), trade('a', 5, 9))).toEqual([1, 1]);
    expect(numbers(trade('a', 0, 5), trade('a', 5, 5))).toEqual([1, 2]);
    expect(numbers(trade('__proto__', 0, 5), trade('__proto__', 1, 5))).toEqual([1, 1]);
  });
});
