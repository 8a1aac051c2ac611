import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { type Authenticate, withoutIdentityProvider } from '#runtime/authenticate.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import {
  IssuerKeys,
  type IssuerKeysOptions,
  readJson,
  withIdentityProvider,
} from '#runtime/identity-provider.ts';
import type { Log } from '#runtime/log.ts';
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
export async function openAccess(home: string, enforced: boolean, log?: Log): Promise<LocalAccess> {
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

const HOST = '127.0.0.1';

/** A running token issuer. */
export interface Issuer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves the public key of a data folder on a free loopback port, at the path that a user pool uses. Responds with 503 while
 * the key cannot be read. Throws an Error that names the file when it does not contain a key.
 */
export async function startIssuer(home: string, log?: Log): Promise<Issuer> {
  openIssuerKey(home);
  const server = createServer((request, response) => {
    if (request.url === `/${LOCAL_POOL.userPoolId}/.well-known/jwks.json`) sendKey(home, response, log);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://${HOST}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads the key for each request, so a rotation needs no restart. */
function sendKey(home: string, response: ServerResponse, log: Log | undefined): void {
  try {
    const body = JSON.stringify({ keys: [openIssuerKey(home).jwk] });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  } catch (error) {
    // An uncaught error here would end the process with all services.
    log?.error('issuer key cannot be read', { error: error as Error });
    response.writeHead(503, { 'Retry-After': '1' }).end();
  }
}

/** User pool of the local issuer. Keys at the AWS addresses are read from the issuer. */
export function localPool(issuerUrl: string, clock: IssuerKeysOptions['clock'] = Date) {
  const read = (uri: string) => readJson(`${issuerUrl}${new URL(uri).pathname}`);
  return { ...LOCAL_POOL, keys: new IssuerKeys({ read, clock }) };
}
