import { describe, expect, it } from 'vitest';
import { evaluateExpression, parseExpression } from '#engine/walk-forward/objective-expression.ts';

const VALUES: Readonly<Record<string, number>> = { a: 6, b: 2, zero: 0, none: Number.NaN };
const parse = (text: string) => parseExpression(text, (name) => Object.hasOwn(VALUES, name));
const evaluated = (text: string) => evaluateExpression(parse(text), (name) => VALUES[name]!);

function problemOf(text: string) {
  try {
    parse(text);
  } catch (error) {
    const { message, position } = error as { message: string; position: number };
    return { message, position };
  }
  return undefined;
}

describe('expression of metrics', () => {
  it.each([
    ['a', 6],
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['a - b - 1', 3],
    ['a / b / 3', 1],
    ['-a * b', -12],
    ['a * -b', -12],
    ['2 - -3', 5],
    ['--a', 6],
    ['-(a - b) * 2', -8],
    ['.5 + 1. + 1e2 + 2E-1', 101.7],
    ['min(a, b, 1)', 1],
    ['max(a, -b)', 6],
    ['abs(b - a)', 4],
    ['sqrt(a + 3)', 3],
    ['log(1)', 0],
    ['max(min(a, 4), abs(-b)) - sqrt(4) * 2', 0],
    ['\t a\n+ b ', 8],
  ])('%s is %d', (text, value) => {
    expect(evaluated(text)).toBeCloseTo(value, 12);
  });

  it.each([
    ['a / zero', Number.POSITIVE_INFINITY],
    ['zero / zero', Number.NaN],
    ['sqrt(-a)', Number.NaN],
    ['log(zero)', Number.NEGATIVE_INFINITY],
    ['min(none, a)', Number.NaN],
    ['none * 0', Number.NaN],
  ])('%s has the value of the arithmetic', (text, value) => {
    expect(evaluated(text)).toBe(value);
  });

  it('has the metrics once each', () => {
    expect(parse('a + b * a - max(b, 1)').metrics).toEqual(['a', 'b']);
  });

  it.each([
    ['', 0],
    ['a +', 3],
    ['a + * b', 4],
    ['+ a', 0],
    ['a b', 2],
    ['a (b)', 2],
    ['2a', 1],
    ['a ** b', 3],
    ['a ^ b', 2],
    ['a + c', 4],
    ['a + __proto__', 4],
    ['constructor', 0],
    ['a, b', 1],
    ['(a, b)', 2],
    ['max(a, (b, 1))', 9],
    ['max(a)', 3],
    ['abs(a, b)', 3],
    ['abs()', 4],
    ['abs + a', 0],
    ['abs', 0],
    ['a)', 1],
    ['(a', 0],
    ['max(a, b', 3],
    ['()', 1],
    ['a; process', 1],
    ['a["b"]', 1],
    ['a.b', 1],
    ['1..2', 2],
    ['𝔞', 0],
    ['a\u0000', 1],
  ])('%j is rejected at position %i', (text, position) => {
    expect(problemOf(text)).toMatchObject({ position });
  });

  it('longer than 500 characters is rejected', () => {
    expect(problemOf(`a${' '.repeat(499)}`)).toBeUndefined();
    expect(problemOf(`a${'+a'.repeat(250)}`)).toMatchObject({ position: 500 });
  });

  it('deep parentheses, negations and functions use no stack', () => {
    const depth = 249;
    expect(evaluated(`${'('.repeat(depth)}a${')'.repeat(depth)}`)).toBe(6);
    expect(evaluated(`${'-'.repeat(498)}a`)).toBe(6);
    expect(evaluated(`${'abs('.repeat(99)}-a${')'.repeat(99)}`)).toBe(6);
    expect(problemOf('('.repeat(500))).toMatchObject({ position: 500 });
    expect(problemOf(')'.repeat(500))).toMatchObject({ position: 0 });
  });
});
