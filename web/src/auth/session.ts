import { authorizeWith } from '../api/client.ts';
import { webConfig } from '../api/config.ts';
import { dropToken, pastedToken } from './pasted-token.ts';
import type { ProviderTokens } from './provider-tokens.ts';
import { dropDrafts } from './unsent-drafts.ts';

let provider: ProviderTokens | undefined;

/** Makes calls carry the tokens of the platform's identity provider, or else a pasted token. */
export async function startSession(): Promise<void> {
  const { auth } = webConfig();
  if (auth) provider = new (await import('./provider-tokens.ts')).ProviderTokens(auth);
  authorizeWith(provider ?? pastedToken);
}

/** Sign-in at the pages of the identity provider; undefined where there is none. */
export function signInProvider(): ProviderTokens | undefined {
  return provider;
}

/** Ends the session: here, and at the identity provider. */
export async function signOut(): Promise<void> {
  dropDrafts();
  if (provider) return provider.end();
  dropToken();
  location.assign('/sign-in');
}
