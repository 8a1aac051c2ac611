import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';

/** Limit of one request, ms. Callers repeat what failed. */
const TIMEOUT_MS = 5_000;

/** The signature's hash, by the name that its library expects. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** A call of an AWS service with a JSON protocol. */
interface JsonCall {
  /** Name in the signature. */
  readonly service: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  readonly body: string;
}

/** Region and credentials of a client of the SDK, which has found both. */
interface Signer {
  readonly config: Pick<DynamoDBDocumentClient['config'], 'credentials' | 'region'>;
}

interface SignedRequest {
  /** Name in the signature. */
  readonly service: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** @default - the client's */
  readonly region?: string;
}

/** Sends a request to an AWS service. Signed with the SDK's library: for one call the client of a service is no dependency. */
export async function signedFetch(
  { config }: Signer,
  url: URL,
  { service, method, body, region = config.region as string, ...request }: SignedRequest,
): Promise<Response> {
  const signer = new SignatureV4({ service, region, credentials: config.credentials, sha256: Sha256 });
  const { headers } = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { host: url.host, ...request.headers },
    ...(body !== undefined && { body }),
  });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
}

/**
 * Calls an AWS service and returns its response.
 *
 * @param client its region and credentials are used
 */
export async function signedCall(
  client: Signer,
  url: URL,
  { service, target, version, body }: JsonCall,
): Promise<string> {
  const headers = { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': target };
  const response = await signedFetch(client, url, { service, method: 'POST', headers, body });
  const text = await response.text();
  if (response.ok) return text;
  const name = target.slice(target.indexOf('.') + 1);
  throw new Error(`${name}: HTTP status ${response.status}: ${text.slice(0, 500)}`);
}
