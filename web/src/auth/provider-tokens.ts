import * as oauth from 'oauth4webapi';
import type { WebConfig } from '#contract/values/web-config.ts';
import type { TokenSource } from '../api/client.ts';

/** What this tab remembers between the redirect to the provider and the way back. */
interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path to which the sign-in leads. */
  readonly to: string;
}

const PENDING_KEY = 'touchstone.sign-in';
const REFRESH_KEY = 'touchstone.refresh';
/** Access tokens are renewed this long before they end, ms. */
const EARLY_MS = 60_000;

/** Page of the dashboard to which the provider returns. */
export const CALLBACK = '/sign-in';

/**
 * Tokens of an identity provider by authorization code with PKCE (RFC 7636). The access token is in memory, the refresh token
 * in the storage of this tab.
 */
export class ProviderTokens implements TokenSource {
  readonly #signIn: NonNullable<WebConfig['auth']>;
  readonly #server: oauth.AuthorizationServer;
  readonly #client: oauth.Client;
  readonly #options: { readonly [oauth.allowInsecureRequests]: boolean };
  #access: { readonly token: string; readonly endsAt: number } | undefined;
  /** One refresh for all calls that wait for it. */
  #refreshing: Promise<boolean> | undefined;

  constructor(signIn: NonNullable<WebConfig['auth']>) {
    this.#signIn = signIn;
    this.#server = {
      issuer: signIn.issuer,
      authorization_endpoint: signIn.authorize,
      token_endpoint: signIn.token,
      revocation_endpoint: signIn.revoke,
    };
    this.#client = { client_id: signIn.client_id };
    // Only a provider on this machine may be without TLS.
    const { hostname } = new URL(signIn.token);
    this.#options = { [oauth.allowInsecureRequests]: hostname === '127.0.0.1' || hostname === 'localhost' };
  }

  async token(): Promise<string | null> {
    const isEnding = !this.#access || this.#access.endsAt - EARLY_MS < Date.now();
    if (isEnding) await this.renew();
    return this.#access?.token ?? null;
  }

  renew(): Promise<boolean> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Leaves for the provider's pages; they return to {@link CALLBACK} and from there to `to`. */
  async begin(to: string): Promise<void> {
    const pending: Pending = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      to,
    };
    sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending));
    const url = new URL(this.#signIn.authorize);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: this.#signIn.client_id,
      redirect_uri: `${location.origin}${CALLBACK}`,
      scope: this.#signIn.scopes.join(' '),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    }).toString();
    location.assign(url);
  }

  /**
   * Exchanges the code of the provider's response for tokens.
   *
   * @returns path to which the sign-in leads
   * @throws Error when the sign-in was begun in another tab, or the provider or its response rejects it
   */
  async complete(response: URLSearchParams): Promise<string> {
    const stored = sessionStorage.getItem(PENDING_KEY);
    if (!stored) throw new Error('This tab did not begin the sign-in. Sign in again.');
    sessionStorage.removeItem(PENDING_KEY);
    const { state, nonce, verifier, to } = JSON.parse(stored) as Pending;
    const params = oauth.validateAuthResponse(this.#server, this.#client, response, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      this.#server,
      this.#client,
      oauth.None(),
      params,
      `${location.origin}${CALLBACK}`,
      verifier,
      this.#options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(this.#server, this.#client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    this.#keep(tokens);
    return to;
  }

  /** Revokes the refresh token and leaves for the provider's logout page. A provider that does not answer ends nothing here. */
  async end(): Promise<void> {
    const refresh = sessionStorage.getItem(REFRESH_KEY);
    sessionStorage.removeItem(REFRESH_KEY);
    this.#access = undefined;
    if (refresh) {
      await oauth
        .revocationRequest(this.#server, this.#client, oauth.None(), refresh, this.#options)
        .catch(() => undefined);
    }
    const url = new URL(this.#signIn.logout);
    url.searchParams.set('client_id', this.#signIn.client_id);
    url.searchParams.set('logout_uri', `${location.origin}${CALLBACK}`);
    location.assign(url);
  }

  async #refresh(): Promise<boolean> {
    const refresh = sessionStorage.getItem(REFRESH_KEY);
    if (!refresh) return false;
    try {
      const answer = await oauth.refreshTokenGrantRequest(
        this.#server,
        this.#client,
        oauth.None(),
        refresh,
        this.#options,
      );
      this.#keep(await oauth.processRefreshTokenResponse(this.#server, this.#client, answer));
      return true;
    } catch (error) {
      // A rejection is final. A fault of the way passes, and the refresh token is still good.
      if (error instanceof oauth.ResponseBodyError) {
        sessionStorage.removeItem(REFRESH_KEY);
        this.#access = undefined;
      }
      return false;
    }
  }

  #keep({ access_token, expires_in = 300, refresh_token }: oauth.TokenEndpointResponse): void {
    this.#access = { token: access_token, endsAt: Date.now() + expires_in * 1_000 };
    // A provider need not give another refresh token at each refresh.
    if (refresh_token) sessionStorage.setItem(REFRESH_KEY, refresh_token);
  }
}
