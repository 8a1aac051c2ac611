import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { type Authenticate, withoutIdentityProvider } from '#runtime/authenticate.ts';
import {
  IssuerKeys,
  type IssuerKeysOptions,
  readJson,
  withIdentityProvider,
  withServiceToken,
} from '#runtime/identity-provider.ts';
import type { Log } from '#runtime/log.ts';
import { LOCAL_POOL, openIssuerKey } from './issuer-key.ts';

/** Authentication of the local services. */
export interface LocalAccess {
  readonly authenticate: Authenticate;
  /** As `authenticate`, and the data proxy by its own token. */
  readonly authenticateAtData: Authenticate;
  readonly serviceToken: string | undefined;
  /** Where tokens come from; null where none is needed. */
  readonly issuerUrl: string | null;
  stop(): Promise<void>;
}

/** Everybody as anonymous, or as in production: those with a token of this folder's key, verified in the same way. */
export async function openAccess(home: string, enforced: boolean, log?: Log): Promise<LocalAccess> {
  if (!enforced) {
    const authenticate = withoutIdentityProvider({ enforced: false });
    return {
      ...{ authenticate, authenticateAtData: authenticate, serviceToken: undefined, issuerUrl: null },
      stop: async () => undefined,
    };
  }
  const issuer = await startIssuer(home, log);
  const serviceToken = randomUUID();
  const authenticate = withIdentityProvider(localPool(issuer.url), { enforced: true });
  return {
    authenticate,
    authenticateAtData: withServiceToken(serviceToken, authenticate),
    serviceToken,
    issuerUrl: issuer.url,
    stop: issuer.stop,
  };
}

const HOST = '127.0.0.1';

/** A running issuer of tokens. */
export interface Issuer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves the public key of a data folder on a free port of the loopback, at the path where a user pool has it. While the
 * key cannot be read it answers 503. Throws an Error that names the file when the folder has a broken key.
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

/** Reads the key for each request: a rotation needs no restart. */
function sendKey(home: string, response: ServerResponse, log: Log | undefined): void {
  try {
    const body = JSON.stringify({ keys: [openIssuerKey(home).jwk] });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  } catch (error) {
    // Thrown from here it would end the process, and every service with it.
    log?.error('The key of the token issuer cannot be read', { error: error as Error });
    response.writeHead(503, { 'Retry-After': '1' }).end();
  }
}

/** The pool of the local issuer: AWS's addresses of its keys, read at the issuer's. */
export function localPool(issuerUrl: string, clock: IssuerKeysOptions['clock'] = Date) {
  const read = (uri: string) => readJson(`${issuerUrl}${new URL(uri).pathname}`);
  return { ...LOCAL_POOL, keys: new IssuerKeys({ read, clock }) };
}
