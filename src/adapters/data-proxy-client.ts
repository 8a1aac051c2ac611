import { ProxyEnvelope } from '#contract/market-data/data-proxy.ts';
import { CodedError, ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import type { DataProxy } from '#domain/ports.ts';

/** Invokes the proxy, in AWS or locally, and returns its result. */
export type InvokeProxy = (event: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Limit of a call, ms. A request may take 27 s; 2 s of them are for the start of the proxy function. */
const CALL_MS = 25_000;
/** Limit of a health probe, ms. The health check waits 2 s. */
const PROBE_MS = 1_500;

/** Data collection through its proxy. Throws the failures of the proxy as CodedError. */
export class DataProxyClient implements DataProxy {
  readonly #invoke: InvokeProxy;

  constructor(invoke: InvokeProxy) {
    this.#invoke = invoke;
  }

  call({ operation, params, correlationId }: Parameters<DataProxy['call']>[0]): Promise<unknown> {
    return this.#invokeProxy({ operation, params, correlation_id: correlationId, deadline_ms: CALL_MS });
  }

  /** A health probe of data collection: rejects when the proxy or the service behind it does not respond. */
  async probe(): Promise<void> {
    await this.#invokeProxy({ operation: 'health', deadline_ms: PROBE_MS });
  }

  async #invokeProxy(event: Readonly<Record<string, unknown>>): Promise<unknown> {
    const envelope = ProxyEnvelope.safeParse(await this.#invoke({ ...event, safe: false }));
    if (!envelope.success) throw new CodedError('SVC002', { cause: envelope.error });
    const { success, data, error } = envelope.data.body;
    if (success) return data.result;
    const code = error && Object.hasOwn(ERRORS, error.code) ? (error.code as ErrorCode) : 'SVC002';
    throw new CodedError(code, error && { message: error.message, field: error.field });
  }
}
