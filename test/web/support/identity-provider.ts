import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { pageHeaders } from '#contract/values/security-headers.ts';
import type { WebConfig } from '#contract/values/web-config.ts';
import {
  accessClaims,
  LOCAL_POOL,
  openIssuerKey,
  signToken,
  type TokenOptions,
} from '../../../src/local/issuer-key.ts';

/** Lifetime of the access tokens, s. */
const LIFETIME = 3_600;

/** Sign-ins that wait for their code to be exchanged. */
interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export interface IdentityProvider {
  readonly signIn: NonNullable<WebConfig['auth']>;
  /** Kinds of the grants that were exchanged, and `revoked`. */
  readonly calls: string[];
  /** Rejects refresh tokens from now on. */
  rejectsRefresh: boolean;
  /** Makes a page's platform name this provider, as CloudFront does. */
  use(page: Page): Promise<void>;
  stop(): Promise<void>;
}

/** A small identity provider that signs in `user` at once. Its tokens are signed with the key of the data folder `home`. */
export async function startIdentityProvider(
  home: string,
  user: Pick<TokenOptions, 'user' | 'role'>,
): Promise<IdentityProvider> {
  const grants = new Map<string, Grant>();
  const calls: string[] = [];
  const key = openIssuerKey(home);
  const access = () => accessClaims({ ...user, lifetime: LIFETIME, now: Date.now() });
  const tokens = (nonce?: string) => {
    const { iss, exp, iat } = access() as Record<string, unknown>;
    const id = { iss, sub: user.user, aud: LOCAL_POOL.clientId, iat, exp, ...(nonce ? { nonce } : {}) };
    return {
      access_token: signToken(key, access()),
      token_type: 'Bearer',
      expires_in: LIFETIME,
      ...(nonce ? { id_token: signToken(key, id), refresh_token: 'refresh' } : {}),
    };
  };
  const exchange = (form: URLSearchParams): [status: number, body: unknown] => {
    const kind = form.get('grant_type')!;
    calls.push(kind);
    if (kind === 'refresh_token') {
      const isAccepted = !provider.rejectsRefresh && form.get('refresh_token') === 'refresh';
      return isAccepted ? [200, tokens()] : [400, { error: 'invalid_grant' }];
    }
    const grant = grants.get(form.get('code')!);
    grants.delete(form.get('code')!);
    const challenge = createHash('sha256').update(form.get('code_verifier')!).digest('base64url');
    const isValid = grant?.challenge === challenge && grant.redirectUri === form.get('redirect_uri');
    return isValid ? [200, tokens(grant.nonce)] : [400, { error: 'invalid_grant' }];
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, 'http://127.0.0.1');
    const send = (status: number, body: unknown) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' })
        .end(JSON.stringify(body));
    // A page instead of a redirect, which would not pass through the routes of `use`.
    const leave = (to: string) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(`<meta http-equiv="refresh" content="0;url=${to.replaceAll('&', '&amp;')}">`);
    if (url.pathname === '/oauth2/authorize') {
      const query = url.searchParams;
      const code = randomUUID();
      grants.set(code, {
        challenge: query.get('code_challenge')!,
        nonce: query.get('nonce')!,
        redirectUri: query.get('redirect_uri')!,
      });
      const back = new URL(query.get('redirect_uri')!);
      back.search = new URLSearchParams({ code, state: query.get('state')! }).toString();
      leave(back.href);
    } else if (url.pathname === '/oauth2/token') {
      send(...exchange(new URLSearchParams(await text(request))));
    } else if (url.pathname === '/oauth2/revoke') {
      calls.push('revoked');
      send(200, {});
    } else if (url.pathname === '/logout') {
      leave(url.searchParams.get('logout_uri')!);
    } else response.writeHead(404).end();
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { iss } = access() as { readonly iss: string };
  const provider: IdentityProvider = {
    signIn: {
      issuer: iss,
      authorize: `${address}/oauth2/authorize`,
      token: `${address}/oauth2/token`,
      revoke: `${address}/oauth2/revoke`,
      logout: `${address}/logout`,
      client_id: LOCAL_POOL.clientId,
      scopes: ['openid'],
    },
    calls,
    rejectsRefresh: false,
    use: async (page) => {
      await page.route('**/config.json', async (route) => {
        const config = await (await route.fetch()).json();
        await route.fulfill({ json: { ...config, auth: provider.signIn } });
      });
      await page.route(
        (url) => !url.pathname.startsWith('/services/') && url.origin !== address,
        async (route) => {
          if (route.request().resourceType() !== 'document') return route.fallback();
          const response = await route.fetch();
          const headers = pageHeaders([provider.signIn.token, provider.signIn.revoke]);
          const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
          await route.fulfill({ response, headers: { ...response.headers(), ...Object.fromEntries(lower) } });
        },
      );
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}
