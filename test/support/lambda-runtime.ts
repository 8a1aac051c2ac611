import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Path of every request of the Lambda Runtime API. */
const BASE = '/2018-06-01/runtime/';
/** Own client of that API. AWS's is the package aws-lambda-ric, which compiles a native module when it is installed. */
const OWN_CLIENT = join(import.meta.dirname, 'lambda-runtime-client.mjs');

export interface FunctionOptions {
  /** Folder of the function's code. */
  readonly code: string;
  /** `file.export`, as in the function's configuration. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of an invocation, ms. */
  readonly timeoutMs: number;
  /** Program that fetches invocations and calls the handler. @default - this project's own */
  readonly client?: string | undefined;
}

export interface Invoked {
  readonly kind: 'response' | 'error';
  readonly body: unknown;
}

interface Pending {
  readonly id: string;
  readonly event: unknown;
  readonly resolve: (invoked: Invoked) => void;
}

/** A deployed function on this machine: environments that handle one invocation at a time, started when none is idle. */
export class LambdaRuntime {
  readonly #options: FunctionOptions;
  readonly #environments = new Set<Environment>();

  constructor(options: FunctionOptions) {
    this.#options = options;
  }

  /** Invokes the function. An environment that ends during an invocation fails it, as in Lambda. */
  async invoke(event: unknown): Promise<Invoked> {
    let environment = [...this.#environments].find((each) => each.isIdle);
    if (!environment) {
      environment = await Environment.start(this.#options);
      this.#environments.add(environment);
      const started = environment;
      void started.ended.then(() => this.#environments.delete(started));
    }
    return environment.invoke(event);
  }

  /** Ends all environments: the next invocation starts another. */
  async reset(): Promise<void> {
    await Promise.all([...this.#environments].map((each) => each.stop()));
    this.#environments.clear();
  }
}

class Environment {
  readonly ended: Promise<void>;
  readonly #server: Server;
  readonly #child: ChildProcess;
  readonly #timeoutMs: number;
  #waiting: ServerResponse | undefined;
  #pending: Pending | undefined;

  static async start(options: FunctionOptions): Promise<Environment> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Environment(server, options);
  }

  private constructor(server: Server, { code, handler, environment, timeoutMs, client }: FunctionOptions) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
    server.on('request', (request, response) => void this.#answer(request, response));
    const { port } = server.address() as AddressInfo;
    this.#child = spawn(process.execPath, [client ?? OWN_CLIENT, handler], {
      cwd: code,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH,
        ...environment,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        LAMBDA_TASK_ROOT: code,
        _HANDLER: handler,
        AWS_LAMBDA_FUNCTION_NAME: 'local',
        AWS_LAMBDA_FUNCTION_VERSION: '1',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1769',
        AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/local',
        AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      },
    });
    this.ended = once(this.#child, 'exit').then(() => {
      this.#server.close();
      this.#server.closeAllConnections();
      this.#finish({ kind: 'error', body: { errorType: 'Runtime.ExitError' } });
    });
  }

  get isIdle(): boolean {
    return this.#pending === undefined;
  }

  invoke(event: unknown): Promise<Invoked> {
    return new Promise((resolve) => {
      this.#pending = { id: randomUUID(), event, resolve };
      this.#deliver();
    });
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.replace(BASE, '');
    const body = await text(request);
    if (path === 'invocation/next') {
      this.#waiting = response;
      this.#deliver();
      return;
    }
    send(response, 202, { status: 'OK' });
    const kind = /^invocation\/[^/]+\/(response|error)$/.exec(path)?.[1] as Invoked['kind'] | undefined;
    // `init/error`: the code could not be loaded.
    this.#finish({ kind: kind ?? 'error', body: body === '' ? null : JSON.parse(body) });
  }

  #deliver(): void {
    if (!this.#waiting || !this.#pending) return;
    const { id, event } = this.#pending;
    send(this.#waiting, 200, event, {
      'Lambda-Runtime-Aws-Request-Id': id,
      'Lambda-Runtime-Deadline-Ms': String(Date.now() + this.#timeoutMs),
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:123456789012:function:local',
      'Lambda-Runtime-Trace-Id': 'Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0',
    });
    this.#waiting = undefined;
  }

  #finish(invoked: Invoked): void {
    this.#pending?.resolve(invoked);
    this.#pending = undefined;
  }
}

function send(response: ServerResponse, status: number, value: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
