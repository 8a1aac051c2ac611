import type { TokenSource } from '../api/client.ts';

const KEY = 'touchstone.token';

/** End of a token in milliseconds; undefined if the text is not a token. Its signature is the services' matter. */
export function expiryOf(token: string): number | undefined {
  const [, payload] = token.split('.');
  try {
    const text = atob(payload!.replaceAll('-', '+').replaceAll('_', '/'));
    const { exp } = JSON.parse(text) as { readonly exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

/** Hosts of a local platform, to which `touchstone open` leads. */
const LOCAL = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Takes the token of `touchstone open` out of the address, before anything else can read it, and keeps it for this tab. On a deployed
 * dashboard nobody opens such an address but by a link of somebody else, who would sign the user in as themselves.
 */
export function takeTokenFromAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  if (!LOCAL.includes(location.hostname)) return;
  // One that has ended, or is none, does not replace a good one.
  if ((expiryOf(token) ?? 0) > Date.now()) keepToken(token);
}

/** Keeps a pasted token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

/** Forgets the pasted token. */
export function dropToken(): void {
  sessionStorage.removeItem(KEY);
}

/** The pasted token while it is valid. A new one must be pasted after its end. */
export const pastedToken: TokenSource = {
  token: async () => {
    const token = sessionStorage.getItem(KEY);
    return token && (expiryOf(token) ?? 0) > Date.now() ? token : null;
  },
  renew: async () => false,
};
