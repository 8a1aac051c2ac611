import { afterEach, expect, test, vi } from 'vitest';
import { pastedToken, takeTokenFromAddress } from '../../web/src/auth/pasted-token.ts';

afterEach(() => vi.unstubAllGlobals());

const TOKEN = `e30.${btoa(JSON.stringify({ exp: 4_000_000_000 }))}.x`;

/** The token of the tab after a visit of the dashboard at this host, and the address then. */
async function visit(hostname: string) {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  vi.stubGlobal('location', { hostname, hash: `#token=${TOKEN}`, pathname: '/data', search: '?tab=2' });
  const replaceState = vi.fn();
  vi.stubGlobal('history', { state: null, replaceState });
  takeTokenFromAddress();
  return { token: await pastedToken.token(), address: replaceState.mock.calls[0]?.[2] };
}

test.each(['127.0.0.1', 'localhost', '[::1]'])('a token in the address of %s signs in', async (hostname) => {
  expect(await visit(hostname)).toEqual({ token: TOKEN, address: '/data?tab=2' });
});

test.each(['touchstone.example.com', 'd111111abcdef8.cloudfront.net', 'localhost.example.com'])(
  'a link with the token of somebody else signs nobody in at %s, and leaves the address',
  async (hostname) => {
    expect(await visit(hostname)).toEqual({ token: null, address: '/data?tab=2' });
  },
);
