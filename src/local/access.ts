import { randomUUID } from 'node:crypto';
import { type Authenticate, withoutIdentityProvider } from '#runtime/authenticate.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import {
  IssuerKeys,
  type IssuerKeysOptions,
  readJson,
  withIdentityProvider,
} from '#runtime/identity-provider.ts';
import type { Log } from '#runtime/log.ts';
import { serve } from '#runtime/serve.ts';
import { LOCAL_POOL, openIssuerKey } from './issuer-key.ts';

/** Authentication of the local services. */
export interface LocalAccess {
  readonly authenticate: Authenticate;
  /** Like `authenticate`, and accepts the service token of the data proxy. */
  readonly authenticateAtData: Authenticate;
  readonly serviceToken: string | undefined;
  /** Base URL of the token issuer; null if calls need no token. */
  readonly issuerUrl: string | null;
  stop(): Promise<void>;
}

/** Accepts every caller as anonymous, or, if enforced, only tokens of the folder's key, verified as in production. */
export async function openAccess(home: string, enforced: boolean, log: Log): Promise<LocalAccess> {
  if (!enforced) {
    const authenticate = withoutIdentityProvider({ enforced: false });
    return {
      authenticate,
      authenticateAtData: authenticate,
      serviceToken: undefined,
      issuerUrl: null,
      stop: async () => undefined,
    };
  }
  const issuer = await startIssuer(home, log);
  const serviceToken = randomUUID();
  const authenticate = withIdentityProvider(localPool(issuer.url), { enforced: true });
  return {
    authenticate,
    authenticateAtData: withServiceTokens([serviceToken], authenticate),
    serviceToken,
    issuerUrl: issuer.url,
    stop: issuer.stop,
  };
}

/** A running token issuer. */
export interface Issuer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves the public key of a data folder on a free loopback port, at the path that a user pool uses. Responds with 503 while
 * the key cannot be read. Throws an Error that names the file when it does not contain a key.
 */
export async function startIssuer(home: string, log: Log): Promise<Issuer> {
  openIssuerKey(home);
  const path = `/${LOCAL_POOL.userPoolId}/.well-known/jwks.json`;
  const fetch = (request: Request) =>
    new URL(request.url).pathname === path ? keyOf(home, log) : new Response(null, { status: 404 });
  const server = await serve({ fetch }, { port: 0, hostname: '127.0.0.1', loopbackOnly: true, log });
  return { url: server.url, stop: server.close };
}

/** Reads the key for each request, so a rotation needs no restart. */
function keyOf(home: string, log: Log): Response {
  try {
    return Response.json({ keys: [openIssuerKey(home).jwk] });
  } catch (error) {
    log.error('issuer key cannot be read', { error: error as Error });
    return new Response(null, { status: 503, headers: { 'Retry-After': '1' } });
  }
}

/** User pool of the local issuer. Keys at the AWS addresses are read from the issuer. */
export function localPool(issuerUrl: string, clock: IssuerKeysOptions['clock'] = Date) {
  const read = (uri: string) => readJson(`${issuerUrl}${new URL(uri).pathname}`);
  return { ...LOCAL_POOL, keys: new IssuerKeys({ read, clock }) };
}
