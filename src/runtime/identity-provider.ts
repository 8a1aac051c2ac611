import { CognitoJwtVerifier } from 'aws-jwt-verify/cognito-verifier';
import * as failures from 'aws-jwt-verify/error';
import { JwtWithoutValidKidError, KidNotFoundInJwksError } from 'aws-jwt-verify/error';
import { assertIsJwks, findJwkInJwks, type Jwks, type JwksCache, type JwkWithKid } from 'aws-jwt-verify/jwk';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import type { JwtHeader } from 'aws-jwt-verify/jwt-model';
import { CodedError } from '#contract/values/errors.ts';
import { RESOURCE_SERVER } from '#contract/values/names.ts';
import { ANONYMOUS_ID, isOwnPrincipal } from '#domain/access/own-principals.ts';
import {
  type Authenticate,
  isPrincipalName,
  membershipOf,
  type Principal,
  withoutToken,
} from './authenticate.ts';

/** Tolerated clock difference between two machines. */
const CLOCK_SKEW_S = 30;

export interface IdentityProvider {
  readonly userPoolId: string;
  readonly clientId: string;
  /** Clients of programs, which get tokens by client credentials. Default: none. */
  readonly machineClientIds?: readonly string[] | undefined;
  /** Default: fetched from the pool. */
  readonly keys?: IssuerKeys;
}

/**
 * Accepts access tokens of a Cognito user pool for its configured clients. Rejects ID tokens, which contain attributes that
 * users can edit. The principal is the token's `sub`; its roles are the groups with their names, for a program its scopes.
 * Without a token the caller is anonymous with all roles, unless authentication is enforced. Throws AUTH001, AUTH002
 * (`context.reason`), AUTH003, and HTTP503 when the issuer's keys are needed and unavailable.
 */
export function withIdentityProvider(
  { userPoolId, clientId, machineClientIds = [], keys = new IssuerKeys() }: IdentityProvider,
  options: { readonly enforced: boolean },
): Authenticate {
  const verifier = CognitoJwtVerifier.create(
    { userPoolId, clientId: [clientId, ...machineClientIds], tokenUse: 'access', graceSeconds: CLOCK_SKEW_S },
    { jwksCache: keys },
  );
  return async (authorization) => {
    if (authorization === null) return withoutToken(options);
    const claims = await verified(verifier.verify.bind(verifier), authorization);
    return machineClientIds.includes(String(claims.client_id)) ? machineOf(claims) : userOf(claims);
  };
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Verified claims of a token. */
async function verified(
  verify: (token: string) => Promise<Readonly<Record<string, unknown>>>,
  authorization: string,
): Promise<Claims> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw invalid('scheme');
  const claims = await verify(token).catch((error: unknown) => {
    throw tokenError(error);
  });
  // RFC 7515, 4.1.11: a token with unsupported critical extensions is invalid. Touchstone supports none.
  if (Object.hasOwn(decomposeUnverifiedJwt(token).header, 'crit')) throw invalid('critical_extension');
  const { sub, exp } = claims;
  // The verifier does not require these claims: without them a token would have no user, or never expire.
  if (!isPrincipalName(sub) || sub === ANONYMOUS_ID || isOwnPrincipal(sub) || exp === undefined)
    throw invalid('claims');
  return { ...claims, sub };
}

function userOf(claims: Claims): Principal {
  return { id: claims.sub, ...membershipOf(claims['cognito:groups']) };
}

/** A program is its client. A user who signs in with the client's secret has another `sub`, and the client's scopes. */
function machineOf({ sub, client_id, scope }: Claims): Principal {
  if (sub !== client_id) throw invalid('grant');
  const prefix = `${RESOURCE_SERVER}/`;
  const scopes = String(scope ?? '')
    .split(' ')
    .filter((each) => each.startsWith(prefix));
  return { id: sub, ...membershipOf(scopes.map((each) => each.slice(prefix.length))) };
}

/** Reasons by error class; the first match applies. */
const REASONS: readonly (readonly [abstract new (...args: never[]) => Error, string])[] = [
  // The issuer of the token is not a configured pool.
  [failures.ParameterValidationError, 'issuer'],
  [failures.JwtInvalidIssuerError, 'issuer'],
  [failures.CognitoJwtInvalidClientIdError, 'client'],
  [failures.CognitoJwtInvalidTokenUseError, 'token_use'],
  [failures.JwtNotBeforeError, 'not_yet_valid'],
  [failures.JwtInvalidSignatureAlgorithmError, 'algorithm'],
  [failures.JwtInvalidSignatureError, 'signature'],
  [failures.KidNotFoundInJwksError, 'key'],
  [failures.JwtWithoutValidKidError, 'key'],
];

function tokenError(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  if (error instanceof failures.JwtExpiredError) {
    return new CodedError('AUTH001', { field: 'Authorization', cause: error });
  }
  const reason = REASONS.find(([kind]) => error instanceof kind)?.[1] ?? 'malformed';
  return invalid(reason, error);
}

function invalid(reason: string, cause?: unknown): CodedError {
  return new CodedError('AUTH002', { field: 'Authorization', context: { reason }, cause });
}

/** Lifetime of cached keys: a withdrawn key is rejected after this time. */
const MAX_AGE_MS = 3_600_000;
/** Minimum interval between requests to an issuer for unknown keys. */
const REFETCH_MS = 10_000;
/** Minimum interval after a failed request. */
const RETRY_MS = 1_000;
const TIMEOUT_MS = 3_000;

export interface IssuerKeysOptions {
  /** Reads the JSON document at an address. Default: over HTTP. */
  readonly read?: (uri: string) => Promise<unknown>;
  readonly clock?: { now(): number };
}

interface Attempt {
  readonly keys: Promise<Jwks>;
  /** Earliest time of the next request, Unix milliseconds. */
  next: number;
}

/**
 * Cache of issuers' public keys by JWKS URL. Keys are fetched on first use, once for concurrent callers. An unknown key is
 * looked up again at the issuer, so a rotation needs no restart. Throws HTTP503 when the issuer is needed and does not return
 * its keys.
 */
export class IssuerKeys implements JwksCache {
  readonly #read: (uri: string) => Promise<unknown>;
  readonly #clock: { now(): number };
  readonly #known = new Map<string, { readonly keys: Jwks; readonly until: number }>();
  readonly #attempts = new Map<string, Attempt>();

  constructor({ read = readJson, clock = Date }: IssuerKeysOptions = {}) {
    this.#read = read;
    this.#clock = clock;
  }

  async getJwk(uri: string, { header }: { readonly header: JwtHeader }): Promise<JwkWithKid> {
    const kid = kidOf(header);
    return this.#find(uri, kid) ?? found(findJwkInJwks(await this.getJwks(uri), kid));
  }

  getCachedJwk(uri: string, { header }: { readonly header: JwtHeader }): JwkWithKid {
    return found(this.#find(uri, kidOf(header)));
  }

  addJwks(uri: string, keys: Jwks): void {
    this.#known.set(uri, { keys, until: this.#clock.now() + MAX_AGE_MS });
  }

  /** The issuer's keys, fetched at most once per interval. */
  getJwks(uri: string): Promise<Jwks> {
    const last = this.#attempts.get(uri);
    if (last && this.#clock.now() < last.next) return last.keys;
    const attempt: Attempt = { keys: this.#fetch(uri), next: this.#clock.now() + REFETCH_MS };
    this.#attempts.set(uri, attempt);
    attempt.keys.then(
      (keys) => this.addJwks(uri, keys),
      () => {
        attempt.next = this.#clock.now() + RETRY_MS;
      },
    );
    return attempt.keys;
  }

  #find(uri: string, kid: string): JwkWithKid | undefined {
    const known = this.#known.get(uri);
    return known && this.#clock.now() < known.until ? findJwkInJwks(known.keys, kid) : undefined;
  }

  async #fetch(uri: string): Promise<Jwks> {
    try {
      const keys = (await this.#read(uri)) as Jwks;
      assertIsJwks(keys);
      return keys;
    } catch (cause) {
      throw new CodedError('HTTP503', { message: 'The identity provider does not respond', cause });
    }
  }
}

function kidOf({ kid }: JwtHeader): string {
  if (kid === undefined) throw new JwtWithoutValidKidError('The token has no key id');
  return kid;
}

function found(jwk: JwkWithKid | undefined): JwkWithKid {
  if (!jwk) throw new KidNotFoundInJwksError('The issuer has no such key');
  return jwk;
}

/** The JSON document at `uri`; rejects for any status other than 200. */
export async function readJson(uri: string): Promise<unknown> {
  const response = await fetch(uri, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`${uri} returned status ${response.status}`);
  return response.json();
}
