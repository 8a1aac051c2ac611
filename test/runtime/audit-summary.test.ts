import { describe, expect, it } from 'vitest';
import { summaryOf } from '#runtime/audit-summary.ts';

const shown = (text: string) => JSON.parse(summaryOf({ query: undefined, body: { text } }, {})!).body.text;

describe('summary of a request', () => {
  it.each([
    ['one that begins again and again', 'eyJ-'.repeat(250_000)],
    ['one that begins again and again, with dots', `${'eyJ-'.repeat(25)}.`.repeat(9_000)],
    ['a word', 'a'.repeat(1_000_000)],
    ['addresses', '://'.repeat(300_000)],
    ['a bearer', 'bearer'.repeat(160_000)],
  ])('a megabyte that looks like a token takes no time: %s', (_, text) => {
    const start = performance.now();
    shown(text);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it.each([
    'Bearer x',
    'eyJhbGciOi.eyJzdWIiOi.c2ln',
    'token eyJhbGciOi.eyJzdWIiOi',
    'id_token=eyJhbGciOi.eyJzdWIiOi',
    'x-eyJhbGciOi.eyJzdWIiOi',
    'a.b.eyJhbGciOi.eyJzdWIiOi',
    `${'a'.repeat(190)} eyJ${'a'.repeat(900)}.${'b'.repeat(900)}`,
    'https://ann:word@example.com',
  ])('leaves out %s', (text) => {
    expect(shown(text)).toBe('[removed]');
  });

  it.each(['eyJhbGciOi', 'eyJ.eyJ', 'eyJhbGciOi.abc', 'heyJude-and-more.than-this', 'https://example.com'])(
    'keeps %s',
    (text) => {
      expect(shown(text)).toBe(text);
    },
  );
});
