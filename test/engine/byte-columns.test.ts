import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countSet, firstAbove } from '#engine/byte-columns.ts';

/** A column somewhere in a buffer whose bytes around it are not its business. */
const columns = fc
  .tuple(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 40 }), fc.nat(9), fc.nat(9))
  .map(([bits, before, after]) => {
    const buffer = new Uint8Array(before + bits.length + after).fill(255);
    buffer.set(bits, before);
    return buffer.subarray(before, before + bits.length);
  });

it('counts the rows that are 1, wherever the column lies', () => {
  fc.assert(
    fc.property(columns, (column) => {
      expect(countSet(column)).toBe(column.filter((bit) => bit === 1).length);
    }),
  );
});

it('finds the first row above 1, wherever the column lies', () => {
  const others = fc.array(fc.tuple(fc.nat(39), fc.integer({ min: 2, max: 255 })), { maxLength: 3 });
  fc.assert(
    fc.property(columns, others, (column, added) => {
      for (const [row, value] of added) if (row < column.length) column[row] = value;
      const found = column.findIndex((value) => value > 1);
      expect(firstAbove(column, 1)).toBe(found === -1 ? column.length : found);
    }),
  );
});
