import { describe, expect, it } from 'vitest';
import { amount, lineWidth, moneyDigits, number, table } from '../../bin/cli/output.ts';

const HEAD = ['Name', 'Meaning', 'Value'];
const ROWS = [
  ['fast', 'Length of the short average', '-1,234.50 %'],
  ['slow', 'Length', null],
] as const;
const EMPTY = ['none', '', 1] as const;
const WHOLE = `
┌──────┬─────────────────────────────┬─────────────┐
│ Name │ Meaning                     │       Value │
├──────┼─────────────────────────────┼─────────────┤
│ fast │ Length of the short average │ -1,234.50 % │
│ slow │ Length                      │           - │
└──────┴─────────────────────────────┴─────────────┘`.trim();

describe('a table', () => {
  it.each([undefined, 52, 200])('keeps its width where it fits: %s columns', (width) => {
    expect(table(HEAD, ROWS, width)).toBe(WHOLE);
  });

  it('breaks texts between words in a narrower terminal, and no numbers', () => {
    expect(table(HEAD, ROWS, 40)).toBe(
      `
┌──────┬───────────────┬─────────────┐
│ Name │ Meaning       │       Value │
├──────┼───────────────┼─────────────┤
│ fast │ Length of the │ -1,234.50 % │
│      │ short average │             │
│ slow │ Length        │           - │
└──────┴───────────────┴─────────────┘`.trim(),
    );
  });

  it('is a block for each row in a terminal that is too narrow for its longest words', () => {
    expect(table(HEAD, [...ROWS, EMPTY], 30)).toBe(
      `
Name     fast
Meaning  Length of the short
         average
Value    -1,234.50 %

Name     slow
Meaning  Length
Value    -

Name     none
Value    1
`.trimStart(),
    );
  });

  it('without rows has its head only', () => {
    expect(table(['Name'], [], 3)).toContain('Name');
  });
});

describe('amounts of money', () => {
  it.each([
    [1000, 123.456, '123.46'],
    [10, 0.123456, '0.12'],
    [5, 0.0123456, '0.0123'],
    [0.05, 0.0158937, '0.015894'],
    [0.000001, 1.234e-8, '0.00000001'],
  ])('have decimals for a wallet of %d: %d is %s', (wallet, value, text) => {
    expect(number(value, moneyDigits(wallet))).toBe(text);
  });

  it('a wallet is stated with all of its decimals', () => {
    expect([1000, 0.05, 1234.5, 1e-8].map(amount)).toEqual(['1,000', '0.05', '1,234.5', '0.00000001']);
  });
});

it('a terminal without a size has lines and tables as a file has', () => {
  const { stdout } = process;
  const columns = Object.getOwnPropertyDescriptor(stdout, 'columns');
  Object.defineProperty(stdout, 'columns', { value: 0, configurable: true });
  try {
    expect(lineWidth()).toBe(100);
    expect(table(['Name'], [['x'.repeat(120)]])).toContain('x'.repeat(120));
  } finally {
    if (columns) Object.defineProperty(stdout, 'columns', columns);
    else Reflect.deleteProperty(stdout, 'columns');
  }
});
