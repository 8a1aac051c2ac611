import { JwtWithoutValidKidError, KidNotFoundInJwksError } from 'aws-jwt-verify/error';
import { assertIsJwks, findJwkInJwks, type Jwks, type JwksCache, type JwkWithKid } from 'aws-jwt-verify/jwk';
import type { JwtHeader } from 'aws-jwt-verify/jwt-model';
import { CodedError } from '#contract/errors.ts';

/** A key that its issuer has withdrawn is trusted no longer than this. */
const MAX_AGE_MS = 3_600_000;
/** Tokens that name keys nobody knows do not make us ask the issuer more often than this. */
const REFETCH_MS = 10_000;
/** After an attempt that failed. */
const RETRY_MS = 1_000;
const TIMEOUT_MS = 3_000;

export interface IssuerKeysOptions {
  /** Reads the JSON document at an address. Default: over HTTP. */
  readonly read?: (uri: string) => Promise<unknown>;
  readonly clock?: { now(): number };
}

interface Attempt {
  readonly keys: Promise<Jwks>;
  /** Epoch ms before which there is no other. */
  next: number;
}

/**
 * The public keys of issuers by the address of their JWKS: fetched when first needed, once for all who wait, then kept.
 * A key that is not among them is looked for once more at the issuer, so that a rotation needs no restart. Throws
 * HTTP503 when the issuer is needed and does not answer as one.
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

  /** What the issuer answers, or has answered within the interval. */
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
      throw new CodedError('HTTP503', { message: 'The identity provider does not answer', cause });
    }
  }
}

function kidOf({ kid }: JwtHeader): string {
  if (kid === undefined) throw new JwtWithoutValidKidError('The token names no key');
  return kid;
}

function found(jwk: JwkWithKid | undefined): JwkWithKid {
  if (!jwk) throw new KidNotFoundInJwksError('The issuer has no such key');
  return jwk;
}

/** The JSON document at `uri`; rejects for any other answer than a 200. */
export async function readJson(uri: string): Promise<unknown> {
  const response = await fetch(uri, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`${uri} answered ${response.status}`);
  return response.json();
}
