import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDataProxy, type DataProxyOptions } from '#runtime/data-proxy/create-data-proxy.ts';
import type { ProxyOutcome, ProxyResult } from '#runtime/data-proxy/envelope.ts';

/** Behaviour for one request: a response or silence. */
export type Behaviour =
  | { readonly status: number; readonly body: unknown; readonly type?: string; readonly encoding?: string }
  | 'hang'
  | 'drop'
  | 'hang-after-400';

/** Fake data collection service on loopback with one behaviour per request; the last one repeats. */
export class FakeService {
  readonly requests: { url: URL; headers: IncomingMessage['headers'] }[] = [];
  /** Called when a request gets no response. */
  onHang: () => void = () => {};
  behaviours: Behaviour[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#handle(request, response));
  }

  static async start(): Promise<FakeService> {
    const service = new FakeService();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push({ url: new URL(request.url!, this.url), headers: request.headers });
    const behaviour = this.behaviours.length > 1 ? this.behaviours.shift()! : this.behaviours[0]!;
    if (behaviour === 'drop') {
      request.socket.destroy();
    } else if (behaviour === 'hang') {
      this.onHang();
    } else if (behaviour === 'hang-after-400') {
      response.writeHead(400, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"detail":');
    } else {
      const { status, body, type = 'application/json', encoding } = behaviour;
      response.writeHead(status, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) });
      response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
    }
  }
}

export interface Rig {
  readonly proxy: ReturnType<typeof createDataProxy>;
  /** Backoff between attempts, ms. */
  readonly pauses: number[];
  /** Time-outs given to the attempts, ms. */
  readonly timeouts: number[];
  readonly outcomes: ProxyOutcome[];
  readonly now: () => number;
}

/** Proxy in front of `service` whose clock advances only by backoff and time-outs. */
export function rig(service: FakeService, options: Partial<DataProxyOptions> = {}): Rig {
  let now = 1_700_000_000_000;
  const pauses: number[] = [];
  const timeouts: number[] = [];
  const outcomes: ProxyOutcome[] = [];
  const observer = {
    after: ({ response }: { readonly response: ProxyResult }) => {
      outcomes.push(response.outcome);
    },
  };
  const proxy = createDataProxy(
    {
      fetch,
      clock: { now: () => now },
      sleep: async (ms) => {
        pauses.push(ms);
        now += ms;
      },
      timeoutSignal: (ms) => {
        timeouts.push(ms);
        const controller = new AbortController();
        service.onHang = () => {
          now += ms;
          controller.abort(new DOMException('timed out', 'TimeoutError'));
        };
        return controller.signal;
      },
      requestTimeoutMs: 30_000,
      maxRetries: 2,
      baseUrl: service.url,
      newCorrelationId: () => 'made-1',
      ...options,
    },
    [observer],
  );
  return { proxy, pauses, timeouts, outcomes, now: () => now };
}
