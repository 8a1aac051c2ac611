import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Responses in progress on one connection. Further requests of a pipeline wait. */
const MAX_RESPONSES_PER_CONNECTION = 16;
/** Open connections of one peer address. Further connections wait. */
const MAX_CONNECTIONS_PER_PEER = 256;
/** Checks for stalled connections within the time after which one is closed. */
const CHECKS_PER_TIMEOUT = 10;

/** A connection that is served. */
interface Connection {
  readonly inProgress: Set<ServerResponse>;
  /** Requests of its pipeline that are not begun. */
  readonly waiting: (() => void)[];
  /** What there was to send when it last changed, and when that was. */
  unsent: { readonly state: string; readonly since: number };
}

interface Peer {
  open: number;
  readonly waiting: Map<Socket, () => void>;
}

/** The connections of a server, and what one client may take of it. */
export class Connections {
  readonly #timeoutMs: number;
  readonly #open = new Map<Socket, Connection>();
  readonly #peers = new Map<string, Peer>();

  /** @param timeoutMs after which a connection is closed that waits for its turn, or whose client reads nothing */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * The listener, called for at most 16 requests of a connection at a time. Further requests of the pipeline wait, and
   * nothing more is read from the connection meanwhile.
   */
  limitPipelines(listener: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const connection = this.#open.get(socket);
      if (!connection) return;
      const { inProgress, waiting } = connection;
      const start = () => {
        inProgress.add(response);
        response.once('close', () => {
          inProgress.delete(response);
          if (socket.destroyed) return;
          waiting.shift()?.();
          if (waiting.length === 0) socket.resume();
        });
        listener(request, response);
      };
      if (inProgress.size < MAX_RESPONSES_PER_CONNECTION) return start();
      waiting.push(start);
      socket.pause();
    };
  }

  /**
   * Serves at most 256 connections of one peer address at a time. Further connections wait, unread, until one of them
   * closes. A connection that waits too long is closed, and one whose client reads nothing of what there is to send.
   */
  attach(server: Server): void {
    const [serve, ...others] = server.listeners('connection');
    if (!serve || others.length > 0)
      throw new Error('The server must have Node’s own connection listener only');
    // A connection that waits must not be read: the parser would miss what was read before it came.
    Object.assign(server, { pauseOnConnect: true });
    server.off('connection', serve as () => void);
    server.on('connection', (socket: Socket) => {
      const address = socket.remoteAddress ?? '';
      const peer = this.#peers.get(address) ?? { open: 0, waiting: new Map() };
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
      if (peer.open < MAX_CONNECTIONS_PER_PEER) return admit();
      peer.waiting.set(socket, admit);
      socket.setTimeout(this.#timeoutMs, expire).once('close', leave);
    });
    const check = setInterval(() => this.#closeStalled(), this.#timeoutMs / CHECKS_PER_TIMEOUT).unref();
    server.once('close', () => clearInterval(check));
  }

  /** Closes every connection on which no request is under way. Node’s own leaves those that have sent none yet. */
  closeIdle(): void {
    for (const { waiting } of this.#peers.values()) for (const socket of waiting.keys()) socket.destroy();
    for (const [socket, { inProgress }] of this.#open) if (inProgress.size === 0) socket.destroy();
  }

  #admit(socket: Socket, address: string, peer: Peer): void {
    const connection: Connection = {
      ...{ inProgress: new Set(), waiting: [] },
      unsent: { state: '', since: performance.now() },
    };
    this.#open.set(socket, connection);
    peer.open++;
    // Node resumes the socket whenever a request has been read whole. Its own listeners come first.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => {
      this.#open.delete(socket);
      connection.waiting.length = 0;
      // Node leaves responses behind the first one open: what they read from would stay open with them.
      for (const response of connection.inProgress) response.destroy();
      peer.open--;
      const [next] = peer.waiting.values();
      next?.();
      if (peer.open === 0) this.#peers.delete(address);
    });
  }

  /** Node’s own timeout counts from the last byte of either direction: who only sends would hold its answers for ever. */
  #closeStalled(): void {
    const now = performance.now();
    for (const [socket, connection] of this.#open) {
      const queued = queuedBytes(socket);
      const state = `${socket.bytesWritten} ${queued}`;
      if (queued === 0 || state !== connection.unsent.state) connection.unsent = { state, since: now };
      else if (now - connection.unsent.since >= this.#timeoutMs) socket.destroy();
    }
  }
}

/**
 * Bytes of the write under way that the system has not taken. Node tells only whole writes in public, and a large one takes
 * a slow client minutes.
 */
function queuedBytes(socket: Socket & { readonly _handle?: { readonly writeQueueSize: number } | null }) {
  return socket._handle?.writeQueueSize ?? 0;
}
