import { describe, expect, it } from 'vitest';
import { table } from '../../bin/cli/output.ts';

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
