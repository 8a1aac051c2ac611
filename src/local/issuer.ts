import { createServer } from 'node:http';
import { IssuerKeys, type IssuerKeysOptions, readJson } from '#runtime/issuer-keys.ts';
import { LOCAL_POOL, openIssuerKey } from './issuer-key.ts';

const HOST = '127.0.0.1';

/** A running issuer of tokens. */
export interface Issuer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the public key of a data folder on a free port of the loopback, at the path where a user pool has it. */
export async function startIssuer(home: string): Promise<Issuer> {
  openIssuerKey(home);
  const server = createServer((request, response) => {
    if (request.url !== `/${LOCAL_POOL.userPoolId}/.well-known/jwks.json`) {
      response.writeHead(404).end();
      return;
    }
    // Read anew each time: a rotation needs no restart.
    const body = JSON.stringify({ keys: [openIssuerKey(home).jwk] });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
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

/** The pool of the local issuer: AWS's addresses of its keys, read at the issuer's. */
export function localPool(issuerUrl: string, clock: IssuerKeysOptions['clock'] = Date) {
  const read = (uri: string) => readJson(`${issuerUrl}${new URL(uri).pathname}`);
  return { ...LOCAL_POOL, keys: new IssuerKeys({ read, clock }) };
}
