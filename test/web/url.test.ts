import { parseSearchWith, stringifySearchWith } from '@tanstack/react-router';
import { describe, expect, it } from 'vitest';
import { readSearch } from '../../web/src/pages/data/search.ts';
import { readCatalogSearch } from '../../web/src/pages/strategies/search.ts';
import { only, quotedText, text } from '../../web/src/ui/url.ts';

describe('parameters of an address', () => {
  /** The router merges what is read over what is in the address. */
  const merged = (read: (raw: Record<string, unknown>) => object, raw: Record<string, unknown>) => ({
    ...raw,
    ...only(read)(raw),
  });

  it('values that do not fit, and unknown names, do not reach the page', () => {
    const raw = { status: 'zz', sort: ['symbol'], problems: 'yes', cursor: { a: 1 }, foreign: 1, q: 'SOL' };
    expect(merged(readSearch, raw)).toEqual({ q: 'SOL' });
    expect(merged(readCatalogSearch, { sort_field: 'evil', stage: 'None', min_sharpe: 1.5 })).toEqual({
      min_sharpe: '1.5',
    });
  });

  it.each([
    ['99', '?f=99'],
    ['-1.5', '?f=-1.5'],
    ['1.0', '?f=%221.0%22'],
    ['007', '?f=007'],
    ['true', '?f=%22true%22'],
    ['SOL', '?f=SOL'],
  ])('text %s of a filter is %s in the address, and read back as it was typed', (value, address) => {
    const written = stringifySearchWith(JSON.stringify, quotedText)({ f: value });
    expect(written).toBe(address);
    expect(text((parseSearchWith(JSON.parse)(written) as Record<string, unknown>).f)).toBe(value);
  });

  it('an empty list of symbols opens the form of a collection', () => {
    expect(merged(readSearch, { collect: '' })).toEqual({ collect: '' });
  });
});
