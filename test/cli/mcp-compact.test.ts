import { expect, test } from 'vitest';
import { compact } from '../../bin/cli/mcp/compact.ts';

const page = (rows: number, note: string) => ({
  items: Array.from({ length: rows }, (_, id) => ({ id, note, more: note })),
  next_cursor: 'c'.repeat(600),
});

test('compact keeps 20 rows, six digits, and leaves out null', () => {
  const { value, omitted } = compact({
    rows: Array(21).fill('a'),
    ratio: 1.23456789,
    count: 12_345_678,
    no: null,
  });
  expect(value).toEqual({ rows: Array(20).fill('a'), ratio: 1.23457, count: 12_345_678 });
  expect(omitted).toEqual(['rows: 20 of 21 rows']);
});

test('compact writes a long series of numbers as its range', () => {
  const series = Array.from({ length: 400_000 }, (_, i) => (i * 7) % 11);
  const { value, omitted } = compact({ equity: series });
  expect(value).toEqual({ equity: { count: 400_000, first: 0, last: series.at(-1), min: 0, max: 10 } });
  expect(omitted).toEqual(['equity: range of 400000 values']);
});

test('compact keeps a cursor as a whole, and drops it when the rows before it are cut', () => {
  const whole = compact(page(20, 'short'));
  expect(whole).toEqual({ value: page(20, 'short'), omitted: [] });
  const { value, omitted } = compact(page(20, 'x'.repeat(900)));
  expect(value).toEqual({ items: page(10, `${'x'.repeat(500)}…`).items });
  expect(omitted).toContain('items: 10 of 20 rows');
  expect(omitted).toContain('next_cursor: for the rows after these call again with limit 10');
});

test('compact leaves out the longest parts when nothing else makes the value short', () => {
  const parts = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`part_${i}`, 'y'.repeat(400 + i)]));
  const { value, omitted } = compact({ ...parts, name: 'kept' });
  expect(JSON.stringify(value).length).toBeLessThan(14_000);
  expect(value).toMatchObject({ name: 'kept', part_0: 'y'.repeat(400) });
  expect(omitted).toContain('part_99');
});
