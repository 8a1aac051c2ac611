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
import type { Access } from '#contract/values/operation.ts';

/** User pool of local tokens. Its region does not exist in AWS, so a local token can never be valid there. */
export const LOCAL_POOL = { userPoolId: 'xx-local-1_touchstone', clientId: 'touchstone' } as const;

const ISSUER = `https://cognito-idp.xx-local-1.amazonaws.com/${LOCAL_POOL.userPoolId}`;

/** Key that signs tokens, RS256. */
export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** Public key for verifiers. */
  readonly jwk: JsonWebKey;
}

/**
 * Key pair of a data folder, created when absent. Read access to the file allows signing a token for any user. Delete the file
 * to rotate the key. Throws an Error that names the file when it does not contain a key.
 */
export function openIssuerKey(home: string): IssuerKey {
  const file = join(home, 'issuer-key.pem');
  return keyOf(file, readKey(file) ?? createKey(home, file));
}

function keyOf(file: string, pem: string): IssuerKey {
  try {
    const privateKey = createPrivateKey(pem);
    const { n, e, kty } = createPublicKey(privateKey).export({ format: 'jwk' });
    // Thumbprint of RFC 7638: every key has a different id.
    const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
    return { kid, privateKey, jwk: { kid, kty, n, e, alg: 'RS256', use: 'sig' } as JsonWebKey };
  } catch (cause) {
    throw new Error(`${file} does not contain a private key. Delete it to create a new one.`, { cause });
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
 * Writes a temporary file, then links it to the final name. Readers never see a partial key, and if two processes create a key,
 * the first wins. File systems without hard links use a rename.
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
  /** Groups in addition to the role's group. */
  readonly groups?: readonly string[];
  /** Validity, seconds. */
  readonly lifetime: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Claims of an access token in Cognito's format. */
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
