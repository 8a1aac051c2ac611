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

/**
 * Calls an AWS service and returns its response. Signed with the SDK's library: for one call the client of a service is no dependency.
 *
 * @param client its region and credentials are used
 */
export async function signedCall(
  client: { readonly config: Pick<DynamoDBDocumentClient['config'], 'credentials' | 'region'> },
  url: URL,
  { service, target, version, body }: JsonCall,
): Promise<string> {
  const { credentials, region } = client.config;
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    body,
    headers: {
      host: url.host,
      'content-type': `application/x-amz-json-${version}`,
      'x-amz-target': target,
    },
  });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method: 'POST', headers, body, signal });
  const text = await response.text();
  if (response.ok) return text;
  const name = target.slice(target.indexOf('.') + 1);
  throw new Error(`${name}: HTTP status ${response.status}: ${text.slice(0, 500)}`);
}
