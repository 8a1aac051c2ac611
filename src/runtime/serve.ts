import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import { CORRELATION_HEADER, CORRELATION_ID } from '#contract/values/names.ts';
import { NO_PAGES } from '#contract/values/page-paths.ts';
import { SECURITY_HEADERS } from '#contract/values/security-headers.ts';
import type { Log } from './log.ts';
import { MAX_HEADERS_LENGTH, MAX_URL_LENGTH } from './request-json.ts';
import { type ErrorResponse, errorResponse } from './responses.ts';
import type { ServiceApp } from './service.ts';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, ends idle connections and streams, and waits for requests in progress. */
  close(): Promise<void>;
}

type App = Pick<ServiceApp, 'fetch'>;

export interface ServeOptions {
  readonly port: number;
  readonly hostname: string;
  /**
   * Rejects requests that a web site in a local browser could send, because callers without a token have all roles. Default
   * false.
   */
  readonly loopbackOnly?: boolean;
  /** The application has the pages of the dashboard, which a link on another site may open. Default false. */
  readonly hasPages?: boolean;
  /** Further applications by path prefix, such as `/services/strategy`. They see the path without it. */
  readonly prefixes?: ReadonlyMap<string, App>;
  /** Time limit of a request's headers, ms. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** Time limit of a whole request, ms. Default 30 s; the deadline of its response starts afterwards. */
  readonly requestTimeoutMs?: number;
  /**
   * Time after which a connection without traffic is closed, ms: a client that never reads its response would hold it forever.
   * Default 60 s.
   */
  readonly stalledTimeoutMs?: number;
  /**
   * Time limit of a request's body while further connections of its address wait, ms; half of it for clients that read nothing, where
   * an address has more than 16. Default 10 s.
   */
  readonly crowdedTimeoutMs?: number;
  readonly log: Log;
}

/**
 * Serves an application over HTTP/1.1. Requests that are not valid HTTP, too large or too slow also receive the documented
 * error body and header. Rejects when the port is in use. Port 0 selects a free one.
 */
export async function serve(app: App, options: ServeOptions): Promise<RunningServer> {
  const { port, hostname, log } = options;
  const reject = (code: ErrorCode) => {
    const { status, head, body } = rejection(new CodedError(code), log);
    return new Response(body, { status, headers: head });
  };
  const closing = new AbortController();
  const { stalledTimeoutMs = 60_000, crowdedTimeoutMs = 10_000 } = options;
  const connections = new Connections({
    timeoutMs: stalledTimeoutMs,
    crowdedMs: crowdedTimeoutMs,
    refuse: (socket) => respondAndClose(socket, TOO_MANY, log),
    expire: (socket) => respondAndClose(socket, new CodedError('HTTP408'), log),
  });
  const listenerOf = (each: App, hasPages = false) =>
    getRequestListener(
      async (request, env) => {
        if (options.loopbackOnly && !isLoopbackRequest(request, hasPages)) return reject('HTTP403');
        const own = { ...env, closing: closing.signal } as Parameters<ServiceApp['fetch']>[1];
        return withOwnHeaders(request, await each.fetch(request, own));
      },
      { overrideGlobalObjects: false, errorHandler: () => reject('HTTP400') },
    );
  const prefixed = [...(options.prefixes ?? [])].map(([prefix, each]) => [prefix, listenerOf(each)] as const);
  const unprefixed = listenerOf(app, options.hasPages);
  const listener = connections.limitPipelines((request, response) => {
    const { url = '' } = request;
    const [prefix, handle] = prefixed.find(([each]) => url.startsWith(`${each}/`)) ?? ['', unprefixed];
    // Before the path is normalized: dot segments cannot lead out of the application.
    request.url = url.slice(prefix.length);
    return handle(request, response);
  });
  const server = createServer(settings(options), listener);
  server.timeout = stalledTimeoutMs;
  connections.attach(server);
  // By default Node silently drops headers beyond a number; here their total length is limited.
  server.maxHeadersCount = 0;
  // Requests that Node would respond to without our body and header: no Host, Expect, CONNECT.
  server.on('checkExpectation', listener);
  server.on('connect', (_, socket) => respondAndClose(socket, new CodedError('HTTP400'), log));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => void rejectBroken(error, socket, log));
  await listen(server, port, hostname);
  const bound = (server.address() as AddressInfo).port;
  const stop = () => {
    closing.abort();
    return close(server, connections);
  };
  return { port: bound, url: `http://${hostname}:${bound}`, close: stop };
}

/**
 * The response with the security headers that it lacks, and the caller's correlation ID or a new one: a service has set them already,
 * uploads and other programs have none.
 */
function withOwnHeaders({ headers }: Request, response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value);
  if (response.headers.has(CORRELATION_HEADER)) return response;
  const given = headers.get(CORRELATION_HEADER) ?? '';
  response.headers.set(CORRELATION_HEADER, CORRELATION_ID.test(given) ? given : randomUUID());
  return response;
}

function settings({ headersTimeoutMs = 10_000, requestTimeoutMs = 30_000 }: ServeOptions) {
  return {
    requireHostHeader: false,
    maxHeaderSize: MAX_URL_LENGTH + MAX_HEADERS_LENGTH,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, requestTimeoutMs) / CHECKS_PER_TIMEOUT,
  };
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use. Stop the process that uses it, or set another port`, {
              cause: error,
            })
          : error,
      ),
    );
    server.listen(port, hostname, resolve);
  });
}

function close(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    // Connections that finish a response now become idle and would stay open for another request.
    const idle = setInterval(() => connections.closeIdle(), 50);
    server.close(() => {
      clearInterval(idle);
      resolve();
    });
    connections.closeIdle();
  });
}

/** Responds to requests that Node's parser rejects: invalid syntax 400, oversized headers 431, time-out 408. */
async function rejectBroken(
  error: { readonly code?: string; readonly rawPacket?: Buffer },
  socket: Duplex,
  log: Log,
): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const coded = new CodedError(PARSER_ERRORS[error.code ?? ''] ?? 'HTTP400');
  const isOfMlflow = OF_MLFLOW.test(error.rawPacket?.subarray(0, MAX_URL_LENGTH).toString('latin1') ?? '');
  const mlflow = isOfMlflow ? await import('./mlflow-errors.ts') : undefined;
  respondAndClose(socket, coded, log, mlflow?.mlflowError);
}

/** Start of a request to a path of MLflow, whose client reads errors of its own form. */
const OF_MLFLOW = /^[A-Z]{3,7} (?:\/services\/\w{1,20})?\/api\/2\.0\//;

/** Time for a client to read its last response, ms. Its own end of the connection may stay open forever. */
const LINGER_MS = 500;

function respondAndClose(socket: Duplex, error: CodedError, log: Log, form?: ErrorForm): void {
  // Node's parser has left the socket of CONNECT: an error without a listener would end the process.
  socket.on('error', () => socket.destroy());
  const { status, head, body } = rejection(error, log, form);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(head).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HTTP431',
  ERR_HTTP_REQUEST_TIMEOUT: 'HTTP408',
};

/** Makes the body of an error from that of the contract. */
type ErrorForm = (status: number, body: ErrorResponse['body']) => object;

function rejection(
  error: CodedError,
  log: Log,
  form: ErrorForm = (_, body) => body,
): { status: number; head: Record<string, string>; body: string } {
  const { status, body, headers } = errorResponse(error, log);
  const head = {
    ...headers,
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json',
    [CORRELATION_HEADER]: randomUUID(),
  };
  return { status, head, body: JSON.stringify(form(status, body)) };
}

/** Connections of one peer address whose clients do not read: each holds a response of up to 5 MB. */
const MAX_UNREAD_PER_PEER = 16;
/** Open connections of one peer address. Further connections wait. */
const MAX_CONNECTIONS_PER_PEER = 256;
/** Waiting connections of one peer address. Further connections are closed with 503. */
const MAX_WAITING_PER_PEER = 256;
/** Number of checks for slow and stalled connections per time-out. */
const CHECKS_PER_TIMEOUT = 10;

const TOO_MANY = new CodedError('HTTP503', {
  message: `Your address has ${MAX_CONNECTIONS_PER_PEER} open connections, and as many wait. Close some, or repeat the request later`,
  context: { connections: MAX_CONNECTIONS_PER_PEER, waiting: MAX_WAITING_PER_PEER },
});

/** A connection that is served. */
interface Connection {
  /** The response in progress, and since when; its request may still arrive. */
  inProgress:
    | { readonly request: IncomingMessage; readonly response: ServerResponse; since: number }
    | undefined;
  /** Waiting requests of the pipeline. */
  readonly waiting: (() => void)[];
  /** Bytes left to send at the last change, and its time. */
  unsent: { readonly state: string; readonly since: number };
}

interface Peer {
  readonly open: Map<Socket, Connection>;
  readonly waiting: Map<Socket, () => void>;
}

interface ConnectionLimits {
  /** Time after which a connection is closed that waits for its turn or whose client reads nothing. */
  readonly timeoutMs: number;
  /** Time after which a connection is closed whose request is not complete while others wait. */
  readonly crowdedMs: number;
  /** Responds to a connection that may not even wait, and closes it. */
  readonly refuse: (socket: Socket) => void;
  /** Responds to a connection whose request takes too long, and closes it. */
  readonly expire: (socket: Socket) => void;
}

/** Connections of a server, with limits per client. */
class Connections {
  readonly #limits: ConnectionLimits;
  readonly #peers = new Map<string, Peer>();
  /** Peer of each connection that is served. */
  readonly #open = new Map<Socket, Peer>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /**
   * Calls the listener for one request of a connection at a time: the next one starts when the response is sent, so a client that
   * reads nothing costs one response. Further requests of the pipeline wait, and the connection is not read meanwhile.
   */
  limitPipelines(listener: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const connection = this.#open.get(socket)?.open.get(socket);
      if (!connection) return;
      const { waiting } = connection;
      const start = () => {
        connection.inProgress = { request, response, since: performance.now() };
        response.once('close', () => {
          connection.inProgress = undefined;
          if (socket.destroyed) return;
          waiting.shift()?.();
          if (waiting.length === 0) socket.resume();
        });
        listener(request, response);
      };
      if (!connection.inProgress) return start();
      waiting.push(start);
      socket.pause();
    };
  }

  /**
   * Serves at most 256 concurrent connections of one peer address. 256 further ones wait, unread, until one of them closes.
   * A connection that waits too long is closed, as is one whose client does not read its responses, and one that sends its request
   * slowly while others wait. One that may not wait is refused.
   */
  attach(server: Server): void {
    const [serve, ...others] = server.listeners('connection');
    if (!serve || others.length > 0)
      throw new Error('The server must have Node’s own connection listener only');
    // A waiting connection must not be read: the parser would miss the data read before it is attached.
    Object.assign(server, { pauseOnConnect: true });
    server.off('connection', serve as () => void);
    const { timeoutMs, crowdedMs, refuse } = this.#limits;
    server.on('connection', (socket: Socket) => {
      const address = socket.remoteAddress ?? '';
      const peer = this.#peers.get(address) ?? { open: new Map(), waiting: new Map() };
      this.#peers.set(address, peer);
      const expire = () => socket.destroy();
      const leave = () => peer.waiting.delete(socket);
      const admit = () => {
        leave();
        socket.off('timeout', expire).off('close', leave);
        serve.call(server, socket);
        this.#admit(socket, address, peer);
        socket.resume();
      };
      if (peer.open.size < MAX_CONNECTIONS_PER_PEER) return admit();
      if (peer.waiting.size >= MAX_WAITING_PER_PEER) return refuse(socket);
      peer.waiting.set(socket, admit);
      socket.setTimeout(timeoutMs, expire).once('close', leave);
    });
    const check = setInterval(() => {
      for (const peer of this.#peers.values()) this.#closeStalled(peer);
    }, Math.min(timeoutMs, crowdedMs) / CHECKS_PER_TIMEOUT).unref();
    server.once('close', () => clearInterval(check));
  }

  /** Closes every connection without a request in progress. Node’s method skips connections that have sent no request. */
  closeIdle(): void {
    for (const { waiting, open } of this.#peers.values()) {
      for (const socket of waiting.keys()) socket.destroy();
      for (const [socket, { inProgress }] of open) if (!inProgress) socket.destroy();
    }
  }

  #admit(socket: Socket, address: string, peer: Peer): void {
    const connection: Connection = {
      inProgress: undefined,
      waiting: [],
      unsent: { state: '', since: performance.now() },
    };
    this.#open.set(socket, peer);
    peer.open.set(socket, connection);
    // Node resumes the socket after each complete request. Its listeners run first.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => {
      this.#open.delete(socket);
      peer.open.delete(socket);
      connection.waiting.length = 0;
      connection.inProgress?.response.destroy();
      const [next] = peer.waiting.values();
      next?.();
      if (peer.open.size === 0) this.#peers.delete(address);
    });
  }

  /** Node's time-out counts traffic in both directions, so a client that only sends would hold its responses forever. */
  #closeStalled(peer: Peer): void {
    const now = performance.now();
    const { timeoutMs, crowdedMs, expire } = this.#limits;
    const unread: Socket[] = [];
    for (const [socket, connection] of peer.open) {
      const queued = queuedBytes(socket);
      const state = `${socket.bytesWritten} ${queued}`;
      if (queued === 0 || state !== connection.unsent.state) connection.unsent = { state, since: now };
      else if (now - connection.unsent.since >= timeoutMs) socket.destroy();
      else if (now - connection.unsent.since >= crowdedMs / 2) unread.push(socket);
      const { request, since = now } = connection.inProgress ?? {};
      if (peer.waiting.size > 0 && request?.complete === false && now - since >= crowdedMs) expire(socket);
    }
    // The oldest connections come first.
    for (const socket of unread.slice(0, -MAX_UNREAD_PER_PEER)) socket.destroy();
  }
}

/**
 * Bytes of the current write that the kernel has not accepted. Node's public API reports only complete writes, and a slow
 * client needs minutes for a large one.
 */
function queuedBytes(socket: Socket & { readonly _handle?: { readonly writeQueueSize: number } | null }) {
  return socket._handle?.writeQueueSize ?? 0;
}

/** By its decoded characters, which the router compares too. */
function isPagePath(path: string): boolean {
  try {
    return !NO_PAGES.includes(decodeURIComponent(path).split('/')[1]!);
  } catch {
    return false;
  }
}

/** Pages of the same origin, and what a user types. Other programs do not send the header. */
const OWN_SITE = new Set(['same-origin', 'none']);
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * True if a request names a loopback host and comes from a page of that host and port, if from any. Other sites could point their
 * name to the loopback address and read every response (DNS rebinding), or send a form (CSRF); so could a page of another server of this
 * computer. Browsers send no `Origin` with a picture or a link, but `Sec-Fetch-Site`. A link to a page that a user follows is allowed.
 */
function isLoopbackRequest({ headers, method, url }: Request, hasPages: boolean): boolean {
  const host = headers.get('Host') ?? '';
  const origin = headers.get('Origin')?.replace(/^https?:\/\//i, '');
  if (!LOOPBACK.test(host) || (origin !== undefined && origin.toLowerCase() !== host.toLowerCase()))
    return false;
  const isFollowed =
    headers.get('Sec-Fetch-Mode') === 'navigate' && headers.get('Sec-Fetch-Dest') === 'document';
  const isPage = hasPages && method === 'GET' && isPagePath(new URL(url).pathname);
  return (isFollowed && isPage) || OWN_SITE.has(headers.get('Sec-Fetch-Site') ?? 'none');
}
