import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from '#contract/operation.ts';

/** The pool that local tokens are of: of a region that AWS does not have, so that no token is ever one of AWS's. */
export const LOCAL_POOL = { userPoolId: 'xx-local-1_touchstone', clientId: 'touchstone' } as const;

const ISSUER = `https://cognito-idp.xx-local-1.amazonaws.com/${LOCAL_POOL.userPoolId}`;

/** With which tokens are signed, RS256. */
export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** What verifiers need of it. */
  readonly jwk: JsonWebKey;
}

/**
 * The key pair of a data folder, made when it has none; who can read the file can be anybody. Removing the file is a
 * rotation. Throws an Error that names the file when it holds no key.
 */
export function openIssuerKey(home: string): IssuerKey {
  const file = join(home, 'issuer-key.pem');
  return keyOf(file, readKey(file) ?? createKey(home, file));
}

function keyOf(file: string, pem: string): IssuerKey {
  try {
    const privateKey = createPrivateKey(pem);
    const { n, e, kty } = createPublicKey(privateKey).export({ format: 'jwk' });
    // The thumbprint of RFC 7638: a new key is never taken for an old one.
    const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
    return { kid, privateKey, jwk: { kid, kty, n, e, alg: 'RS256', use: 'sig' } as JsonWebKey };
  } catch (cause) {
    throw new Error(`${file} holds no private key: remove it, and a new one is made`, { cause });
  }
}

function readKey(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Written whole under another name, then put in place: no reader finds half a key, and of two processes that make one the
 * first wins. A disk without links gets it by renaming.
 */
function createKey(home: string, file: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flush: true });
    putInPlace(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8');
}

function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(code)) throw error;
    renameSync(draft, file);
  }
}

/** Signs any claims. */
export function signToken({ kid, privateKey }: IssuerKey, claims: Readonly<Record<string, unknown>>): string {
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const content = `${encode({ alg: 'RS256', kid })}.${encode(claims)}`;
  return `${content}.${sign('RSA-SHA256', Buffer.from(content), privateKey).toString('base64url')}`;
}

export interface TokenOptions {
  readonly user: string;
  readonly role: Exclude<Access, 'public'>;
  /** Beside that of the role. */
  readonly groups?: readonly string[];
  /** Seconds for which it is valid. */
  readonly lifetime: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The claims of an access token as Cognito writes them. */
export function accessClaims({
  user,
  role,
  groups = [],
  lifetime,
  now,
}: TokenOptions): Record<string, unknown> {
  const issuedAt = Math.floor(now / 1000);
  return {
    sub: user,
    iss: ISSUER,
    client_id: LOCAL_POOL.clientId,
    token_use: 'access',
    scope: 'aws.cognito.signin.user.admin',
    'cognito:groups': [role, ...groups],
    username: user,
    auth_time: issuedAt,
    iat: issuedAt,
    exp: issuedAt + lifetime,
    jti: randomUUID(),
  };
}
