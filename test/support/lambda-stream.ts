import { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { startEngine, type TestEngine } from './engine.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from './gateway.ts';
import { FUNCTION_ENVIRONMENT } from './lambda-environment.ts';

/** Content of the runtime's response stream: the first write sends status and headers, as in Lambda. */
class Output extends Writable {
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

type StreamHandler = (event: APIGatewayProxyEvent, output: Writable, context: Context) => Promise<void>;

/** Stands in for the runtime's global of streaming functions, which are imported afterwards. */
function stubResponseStreams(): void {
  vi.stubGlobal('awslambda', {
    streamifyResponse: (streaming: StreamHandler) => streaming,
    HttpResponseStream: {
      from: (output: Output, metadata: unknown) => Object.assign(output, { metadata }),
    },
  });
}

/** A streaming function on the embedded database, with an output for each test. */
export function streamFixture(
  environment: (engine: TestEngine) => Readonly<Record<string, string>>,
  load: () => Promise<unknown>,
  prepare: (engine: TestEngine) => Promise<unknown> = async () => undefined,
) {
  const fixture = {
    engine: undefined as unknown as TestEngine,
    output: new Output(),
    call: (changes: Partial<APIGatewayProxyEvent>) =>
      handler(gatewayEvent(changes), fixture.output, LAMBDA_CONTEXT),
    /** Calls, and expects a response that is not streamed; `code` undefined: one without a body. */
    expectUnstreamed: async (path: string, headers: object, status: number, code: string | undefined) => {
      await fixture.call({ path, headers: headers as Record<string, string> });
      const { output } = fixture;
      expect(output.writableFinished).toBe(true);
      expect(output.sent.statusCode).toBe(status);
      expect(output.header('x-correlation-id')).toBeTruthy();
      if (code) expect(JSON.parse(output.text)).toMatchObject({ detail: { code } });
      else expect(output.text).toBe('');
    },
  };
  let handler: StreamHandler;
  beforeAll(async () => {
    fixture.engine = await startEngine();
    stubResponseStreams();
    const { endpoint, tables } = fixture.engine;
    const stored = { DYNAMODB_ENDPOINT: endpoint, JOBS_TABLE: tables.jobs };
    const all = { ...FUNCTION_ENVIRONMENT, ...stored, ...environment(fixture.engine) };
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
    ({ handler } = (await load()) as { handler: StreamHandler });
    await prepare(fixture.engine);
  });
  beforeEach(() => {
    fixture.output = new Output();
  });
  afterAll(() => fixture.engine?.stop());
  return fixture;
}
