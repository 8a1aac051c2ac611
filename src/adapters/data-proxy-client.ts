import { ProxyEnvelope } from '#contract/data-proxy.ts';
import { CodedError, ERRORS, type ErrorCode } from '#contract/errors.ts';
import type { DataProxy } from '#domain/ports.ts';

/** Calls the proxy with an event and answers what it returns, wherever it runs. */
export type InvokeProxy = (event: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Two seconds short of the 27 that a request may take: starting the proxy's function counts too. */
const CALL_MS = 25_000;
/** Short of the two seconds that a health check waits. */
const PROBE_MS = 1_500;

/** Data collection through its proxy, whose failures come as errors with their code. */
export class DataProxyClient implements DataProxy {
  readonly #invoke: InvokeProxy;

  constructor(invoke: InvokeProxy) {
    this.#invoke = invoke;
  }

  call({ operation, params, correlationId }: Parameters<DataProxy['call']>[0]): Promise<unknown> {
    return this.#ask({ operation, params, correlation_id: correlationId, deadline_ms: CALL_MS });
  }

  /** A health probe of data collection: rejects when the proxy or the service behind it does not answer. */
  async probe(): Promise<void> {
    await this.#ask({ operation: 'health', deadline_ms: PROBE_MS });
  }

  async #ask(event: Readonly<Record<string, unknown>>): Promise<unknown> {
    const envelope = ProxyEnvelope.safeParse(await this.#invoke({ ...event, safe: false }));
    if (!envelope.success) throw new CodedError('SVC002', { cause: envelope.error });
    const { success, data, error } = envelope.data.body;
    if (success) return data.result;
    const code = error && Object.hasOwn(ERRORS, error.code) ? (error.code as ErrorCode) : 'SVC002';
    throw new CodedError(code, error && { message: error.message, field: error.field });
  }
}
