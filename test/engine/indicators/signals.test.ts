import { describe, expect, it } from 'vitest';
import {
  allOf,
  anyOf,
  crossedAbove,
  crossedBelow,
  crossings,
  shift,
  where,
} from '#engine/indicators/index.ts';

const five = new Float64Array(11).fill(5);
const around = Float64Array.of(4, 4, 6, 6, 6, 4, 4, 6, 5, 5, 5);

describe('crossedAbove and crossedBelow', () => {
  it('crossing is set only on the first row beyond the other line', () => {
    expect([...crossedAbove(around, five)]).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    expect([...crossedBelow(around, five)]).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    expect(crossedBelow(five, around)).toEqual(crossedAbove(around, five));
  });

  it('crossing of a level equals crossing of a constant line', () => {
    expect(crossedAbove(around, 5)).toEqual(crossedAbove(around, five));
    expect(crossedBelow(around, 5)).toEqual(crossedBelow(around, five));
    expect([...crossedAbove(Float64Array.of(-1, 1, -1), 0)]).toEqual([0, 1, 0]);
  });

  it('crossing counts after a touch and not after an undefined value', () => {
    expect([...crossedAbove(Float64Array.of(5, 6), five.slice(0, 2))]).toEqual([0, 1]);
    expect([...crossedAbove(Float64Array.of(Number.NaN, 6, 4, 6), 5)]).toEqual([0, 0, 0, 1]);
  });
});

describe('crossings', () => {
  it('equals crossedAbove and crossedBelow, also at touches and undefined values', () => {
    const steps = [Number.NaN, 4, 5, 6];
    const left = Float64Array.from({ length: 256 }, (_, row) => steps[(row >> 2) & 3]!);
    const right = Float64Array.from({ length: 256 }, (_, row) => steps[(row ^ (row >> 5)) & 3]!);
    const { above, below } = crossings(left, right);
    expect(above).toEqual(crossedAbove(left, right));
    expect(below).toEqual(crossedBelow(left, right));
    expect(above).toContain(1);
    expect(below).toContain(1);
  });

  it('writes given columns whole', () => {
    const out = { above: new Uint8Array(11).fill(1), below: new Uint8Array(11).fill(1) };
    expect(crossings(around, five, out)).toBe(out);
    expect(out).toEqual(crossings(around, five));
    expect(() => crossings(around, five, { ...out, below: new Uint8Array(10) })).toThrow('11 and 10 rows');
  });
});

describe('signal conditions', () => {
  it.each([[1], [0], [Number.NaN], ['yes'], [undefined], [null]])(
    'where() refuses the condition %s, naming the row',
    (value) => {
      const condition = (row: number) => (row < 2 ? true : value) as boolean;
      expect(() => where(4, condition)).toThrow(
        /^the condition of where\(\) returned .+ in row 2; it must be true or false/,
      );
    },
  );

  it('allOf and anyOf combine conditions row by row', () => {
    const rising = where(4, (row) => row > 1);
    const even = where(4, (row) => row % 2 === 0);
    expect([...allOf(rising, even)]).toEqual([0, 0, 1, 0]);
    expect([...anyOf(rising, even)]).toEqual([1, 0, 1, 1]);
    expect([...rising]).toEqual([0, 0, 1, 1]);
  });

  it('where is 0 for undefined values', () => {
    const values = Float64Array.of(Number.NaN, 1);
    expect([...where(2, (row) => values[row]! < 2)]).toEqual([0, 1]);
  });

  it('conditions of different lengths are rejected', () => {
    expect(() => allOf(new Uint8Array(2), new Uint8Array(3))).toThrow(RangeError);
    expect(() => crossedAbove(five, new Float64Array(3))).toThrow('Columns of 11 and 3 rows');
  });
});

it('shift returns the values of earlier rows', () => {
  expect([...shift(Float64Array.of(1, 2, 3), 1)]).toEqual([Number.NaN, 1, 2]);
  expect([...shift(Float64Array.of(1, 2, 3), 0)]).toEqual([1, 2, 3]);
  expect([...shift(Float64Array.of(1, 2), 5)]).toEqual([Number.NaN, Number.NaN]);
});
