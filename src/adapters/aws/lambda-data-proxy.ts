import { InvokeCommand, LambdaClient, ResourceNotFoundException } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { CodedError, ERRORS, type ErrorCode } from '#contract/errors.ts';
import { reportUnavailable } from './unavailable.ts';

const Envelope = z.object({
  statusCode: z.int(),
  body: z.object({
    success: z.boolean(),
    data: z.object({ operation: z.string(), result: z.record(z.string(), z.unknown()).nullable() }),
    error: z.object({ code: z.string(), message: z.string(), field: z.string().optional() }).optional(),
  }),
});

/** What the data proxy answers; see the interface's section on it. */
export type DataProxyEnvelope = z.infer<typeof Envelope>;

/**
 * One attempt of at most 28 s: API Gateway gives its caller 29 s, and the proxy itself repeats what is worth repeating.
 * Commands throw SVC004 when Lambda cannot answer.
 */
export function createLambdaClient(): LambdaClient {
  const client = new LambdaClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 28_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'SVC004');
}

/** Short of the two seconds that a health check waits. */
const PROBE_MS = 1_500;

/** The data proxy as a deployed function. */
export class LambdaDataProxy {
  readonly #client: LambdaClient;
  readonly #functionName: string;

  /** @param functionName name or ARN, with its alias */
  constructor(client: LambdaClient, functionName: string) {
    this.#client = client;
    this.#functionName = functionName;
  }

  /**
   * Invokes the proxy and answers its envelope. What the proxy rejected is thrown with the proxy's own code;
   * SVC002 when it failed or its answer is none, SVC004 when there is no such function or Lambda cannot answer.
   * @param deadlineMs how long the proxy may take
   */
  async invoke(
    operation: string,
    params: Readonly<Record<string, unknown>>,
    deadlineMs: number,
  ): Promise<DataProxyEnvelope> {
    const envelope = await this.#call({ operation, params, deadline_ms: deadlineMs });
    const { success, error } = envelope.body;
    if (success) return envelope;
    const code = error && error.code in ERRORS ? (error.code as ErrorCode) : 'SVC002';
    throw new CodedError(code, { ...(error && { message: error.message, field: error.field ?? '' }) });
  }

  /** A health probe of data collection: rejects when the proxy or the service behind it does not answer. */
  async probe(): Promise<void> {
    const { body } = await this.invoke('health', {}, PROBE_MS);
    const result = body.data.result as { readonly error?: string } | null;
    if (result?.error) throw new CodedError('SVC004', { message: result.error });
  }

  async #call(event: Record<string, unknown>): Promise<DataProxyEnvelope> {
    try {
      const { FunctionError, Payload } = await this.#client.send(
        new InvokeCommand({ FunctionName: this.#functionName, Payload: JSON.stringify(event) }),
      );
      const text = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) throw new CodedError('SVC002', { cause: new Error(text) });
      return Envelope.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof ResourceNotFoundException) throw new CodedError('SVC004', { cause: error });
      if (error instanceof z.ZodError || error instanceof SyntaxError) {
        throw new CodedError('SVC002', { cause: error });
      }
      throw error;
    }
  }
}
