import { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { vi } from 'vitest';

/** Content of the runtime's response stream: the first write sends status and headers, as in Lambda. */
export class Output extends Writable {
  metadata: any;
  sent: any;
  text = '';

  constructor() {
    super({ write: (chunk, _, done) => this.#take(String(chunk), done) });
  }

  override write(...call: any[]): boolean {
    this.sent ??= this.metadata;
    return super.write(...(call as [unknown]));
  }

  /** First value of a header; undefined without one. */
  header(name: string): string | undefined {
    const headers = Object.entries<string[]>(this.sent.multiValueHeaders);
    return headers.find(([key]) => key.toLowerCase() === name)?.[1][0];
  }

  #take(text: string, done: () => void): void {
    this.text += text;
    done();
  }
}

export type StreamHandler = (
  event: APIGatewayProxyEvent,
  output: Writable,
  context: Context,
) => Promise<void>;

/** Stands in for the runtime's global of streaming functions, which are imported afterwards. */
export function stubResponseStreams(): void {
  vi.stubGlobal('awslambda', {
    streamifyResponse: (streaming: StreamHandler) => streaming,
    HttpResponseStream: {
      from: (output: Output, metadata: unknown) => Object.assign(output, { metadata }),
    },
  });
}
