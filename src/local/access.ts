import { randomUUID } from 'node:crypto';
import { type Authenticate, withoutIdentityProvider } from '#runtime/authenticate.ts';
import { withIdentityProvider } from '#runtime/identity-provider.ts';
import type { Log } from '#runtime/log.ts';
import { withServiceToken } from '#runtime/service-token.ts';
import { localPool, startIssuer } from './issuer.ts';

/** Who may call the services of one machine. */
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
