import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '#domain/webhooks/webhook-ports.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';
import { hostResolver, type ResolveHost } from './resolve-host.ts';

export interface HttpsSenderOptions {
  readonly userAgent: string;
  /** Also `http` and addresses of this machine, for local mode. Default false. */
  readonly allowLoopback?: boolean;
  /** Maximum duration of an attempt with its connection, ms. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: {@link hostResolver}. */
  readonly resolve?: ResolveHost;
}

const TIMEOUT_MS = 10_000;
/** Bytes of a response body that are received and dropped before the connection is closed. */
const MAX_BODY = 64 * 1024;
const HTTPS_PORT = 443;
/** Ports below belong to other protocols, such as mail. */
const MIN_OTHER_PORT = 1_024;

/** An address to which no request is sent. */
class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

/** A connection ended before a response. */
class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}

/**
 * Sends requests to receivers on the internet. The name of a receiver is resolved at each attempt, all its addresses must be public, and
 * the connection goes to one of the addresses that were checked: a name that changes its address in between reaches nothing else.
 */
export class HttpsSender implements WebhookSender {
  readonly #options: HttpsSenderOptions;
  readonly #allowLoopback: boolean;
  readonly #resolve: ResolveHost;

  constructor(options: HttpsSenderOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? hostResolver();
    this.#allowLoopback = options.allowLoopback ?? false;
  }

  async urlProblem(text: string): Promise<string | undefined> {
    if (!URL.canParse(text)) return 'is not a URL';
    // The parser drops or encodes them, but lists print the text as it was sent.
    if (/[\p{Cc}\s]/u.test(text)) return 'must not contain spaces or control characters';
    const url = new URL(text);
    const { protocol, username, password, port } = url;
    const host = hostOf(url);
    const isLocal = this.#allowLoopback && (host === 'localhost' || isLoopbackAddress(host));
    if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) return 'must begin with https://';
    if (username !== '' || password !== '') return 'must not contain a user or password';
    if (isLocal) return undefined;
    if (port !== '' && Number(port) !== HTTPS_PORT && Number(port) < MIN_OTHER_PORT)
      return `must have port ${HTTPS_PORT}, or ${MIN_OTHER_PORT} and above`;
    if (isIP(host) !== 0 && !isPublicAddress(host)) return 'must be at a public address';
    if (isIP(host) === 0 && isLocalName(host)) return 'must have a public host name';
    return undefined;
  }

  async send({ url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    const start = performance.now();
    const ended = (response: Omit<WebhookResponse, 'duration_ms'>): WebhookResponse => ({
      ...response,
      duration_ms: Math.round(performance.now() - start),
    });
    const problem = await this.urlProblem(url);
    if (problem !== undefined) return ended({ status: null, error: `The URL ${problem}` });
    try {
      const { status, retryAfter } = await this.#request(new URL(url), headers, body);
      if (status >= 200 && status < 300) return ended({ status, error: null });
      const reason = status >= 300 && status < 400 ? ': redirects are not followed' : '';
      const retryAfterMs = Number(retryAfter) * 1_000;
      return ended({
        status,
        error: `HTTP ${status}${reason}`,
        ...(retryAfterMs > 0 && { retryAfterMs }),
      });
    } catch (error) {
      return ended({ status: null, error: messageOf(error as NodeJS.ErrnoException) });
    }
  }

  #request(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<{ readonly status: number; readonly retryAfter: string | undefined }> {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'user-agent': this.#options.userAgent,
            ...headers,
          },
          // No connection is used again: it would skip the check of the address.
          agent: false,
          lookup: this.#lookup,
          signal,
        },
        (response) => {
          // The status decides; the body is dropped, within limits of time and size.
          let received = 0;
          response.on('data', (chunk: Buffer) => {
            received += chunk.length;
            if (received > MAX_BODY) response.destroy();
          });
          response.on('error', () => undefined);
          resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'] });
        },
      );
      sent.on('error', reject);
      // Node destroys a connection that switches protocols (101) without an error. After a response this does nothing.
      sent.on('close', () =>
        reject(new NoResponseError('The receiver ended the connection without a response')),
      );
      sent.end(body);
    });
  }

  /** Resolver of the connection: it connects to nothing but what this returns. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    this.#allowedAddresses(hostname).then(
      (addresses) => {
        if (options.all) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error) => callback(error, '', 0),
    );
  };

  async #allowedAddresses(hostname: string) {
    const addresses = [...(await this.#resolve(hostname))];
    const isBlocked = addresses.length === 0 || addresses.some(({ address }) => !this.#isAllowed(address));
    // The address is not named: it would describe the network of the platform.
    if (isBlocked) throw new BlockedAddressError('The host name leads to an address that is not public');
    return addresses;
  }

  #isAllowed(address: string): boolean {
    return isPublicAddress(address) || (this.#allowLoopback && isLoopbackAddress(address));
  }
}

/** Host without the brackets of IPv6 and the dot at the end of a full name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** Names that only networks of their own resolve. */
function isLocalName(host: string): boolean {
  return !host.includes('.') || /\.(localhost|local|internal|home\.arpa)$/i.test(host);
}

/** What a name server says of a host name. Any other error is the server's. */
const NAME_MESSAGES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist',
  ENODATA: 'The host name has no address',
};

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection closed by the receiver',
  ETIMEDOUT: 'Connection timed out',
};

/** Reason without addresses, for users. */
function messageOf(error: NodeJS.ErrnoException): string {
  if (error instanceof BlockedAddressError || error instanceof NoResponseError) return error.message;
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'No response within the time limit';
  if (/^(query|getaddrinfo)/.test(error.syscall ?? ''))
    return NAME_MESSAGES[error.code ?? ''] ?? 'The host name could not be resolved';
  const known = MESSAGES[error.code ?? ''];
  if (known !== undefined) return known;
  const isTls = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|ERR_SSL)/.test(error.code ?? '');
  return isTls ? `TLS failed: ${error.code}` : `Request failed: ${error.code ?? 'unknown error'}`;
}
