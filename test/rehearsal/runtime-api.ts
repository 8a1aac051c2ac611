import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { startProcess } from './processes.ts';

const PREFIX = '/2018-06-01/runtime/';
const OWN_CLIENT = join(import.meta.dirname, 'runtime-client.mjs');

/** AWS's runtime client if it is installed, which compiles for a minute; else a small one of the same protocol. */
export function runtimeClient(): { readonly name: string; readonly file: string } {
  try {
    const entry = createRequire(import.meta.url).resolve('aws-lambda-ric');
    return { name: 'aws-lambda-ric', file: join(dirname(entry), 'index.mjs') };
  } catch {
    return {
      name: 'a client of the same protocol (npm i --no-save aws-lambda-ric@4.0.2 for that of AWS)',
      file: OWN_CLIENT,
    };
  }
}

export interface Answer {
  /** `exit`: the process ended. */
  readonly kind: 'response' | 'error' | 'exit';
  readonly body: string;
  readonly ms: number;
}

interface Invocation {
  readonly id: string;
  readonly event: unknown;
  readonly resolve: (answer: Answer) => void;
  sent: number;
}

/** The Runtime API of Lambda on loopback, with one process of a function. */
export class FunctionProcess {
  /** From the start of the process to its first request for an event, ms. */
  readonly initMs: number;
  readonly #server: http.Server;
  readonly #child: ChildProcess;
  readonly #state: State;

  private constructor(server: http.Server, child: ChildProcess, state: State, initMs: number) {
    this.#server = server;
    this.#child = child;
    this.#state = state;
    this.initMs = initMs;
  }

  /** @throws Error that has the error of the initialization, and the log */
  static async start(
    folder: string,
    handler: string,
    env: Readonly<Record<string, string>>,
  ): Promise<FunctionProcess> {
    const state = new State();
    const server = http.createServer((request, response) => state.serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const started = performance.now();
    const child = startProcess(process.execPath, ['--enable-source-maps', runtimeClient().file, handler], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: '/usr/bin:/bin',
        TZ: ':UTC',
        LANG: 'en_US.UTF-8',
        _HANDLER: handler,
        LAMBDA_TASK_ROOT: folder,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_FUNCTION_NAME: 'rehearsed',
        AWS_LAMBDA_FUNCTION_VERSION: '7',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_LAMBDA_LOG_GROUP_NAME: 'group',
        AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
        ...env,
      },
    });
    let log = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (part) => (log += part));
    child.on('exit', (status) => state.end(`The process ended with ${status}:\n${log.slice(-1000)}`));
    const failure = await state.ready;
    const process_ = new FunctionProcess(server, child, state, performance.now() - started);
    if (failure === undefined) return process_;
    process_.stop();
    throw new Error(failure);
  }

  invoke(event: unknown): Promise<Answer> {
    return this.#state.invoke(event);
  }

  stop(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Waiting events, and waiting requests for one. */
class State {
  readonly ready: Promise<string | undefined>;
  #isReady!: (failure: string | undefined) => void;
  #pending: Invocation[] = [];
  #waiting: http.ServerResponse[] = [];
  readonly #sent = new Map<string, Invocation>();

  constructor() {
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
  }

  invoke(event: unknown): Promise<Answer> {
    return new Promise((resolve) => {
      this.#pending.push({ id: randomUUID(), event, resolve, sent: 0 });
      this.#deliver();
    });
  }

  end(reason: string): void {
    this.#isReady(reason);
    for (const { resolve, sent } of this.#sent.values()) {
      resolve({ kind: 'exit', body: reason, ms: performance.now() - sent });
    }
  }

  async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = request.url!.replace(PREFIX, '');
    if (path === 'invocation/next') {
      this.#isReady(undefined);
      this.#waiting.push(response);
      this.#deliver();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
    if (path === 'init/error') this.#isReady(`Initialization failed: ${body.slice(0, 1000)}`);
    const [, id, kind] = /^invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    const invocation = id && this.#sent.get(id);
    if (!invocation) return;
    this.#sent.delete(id);
    invocation.resolve({ kind: kind as 'response' | 'error', body, ms: performance.now() - invocation.sent });
  }

  #deliver(): void {
    while (this.#pending.length > 0 && this.#waiting.length > 0) {
      const invocation = this.#pending.shift()!;
      this.#sent.set(invocation.id, invocation);
      invocation.sent = performance.now();
      const body = JSON.stringify(invocation.event);
      this.#waiting
        .shift()!
        .writeHead(200, {
          'content-type': 'application/json',
          'Lambda-Runtime-Aws-Request-Id': invocation.id,
          'Lambda-Runtime-Deadline-Ms': String(Date.now() + 28_000),
          'Lambda-Runtime-Invoked-Function-Arn':
            'arn:aws:lambda:us-east-1:123456789012:function:rehearsed:live',
          'Lambda-Runtime-Trace-Id': `Root=1-${'0'.repeat(8)}-${'0'.repeat(24)};Parent=${'0'.repeat(16)};Sampled=0`,
        })
        .end(body);
    }
  }
}
