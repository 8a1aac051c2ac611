import { MAX_AGENT_ROWS } from '#contract/operations/agent-tools.ts';
import type { Operation, ServiceName } from '#contract/values/operation.ts';
import { type ApiClient, ApiError } from '../client.ts';

/** On whose behalf tools are called. */
export interface Caller {
  /** Name under which its runs are counted as trials. */
  readonly session: string;
  client(service: ServiceName): Promise<ApiClient>;
  /** The address of the platform is looked up again at the next call. */
  forget(): void;
}

/** Arguments of a tool. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The arguments cannot be a request; the message says what to pass. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** The server does not offer the tool; the message says who decides. */
export class WithheldError extends Error {
  override readonly name = 'WithheldError';
}

/** Calls an operation. The service validates the arguments. @throws ApiError, ArgumentError */
export async function callOperation(
  caller: Caller,
  operation: Operation,
  args: Arguments,
  signal: AbortSignal,
): Promise<unknown> {
  const path = pathOf(operation, args);
  const body = operation.body && fieldsOf(operation.body as unknown as { shape: object }, args);
  const client = await caller.client(operation.service);
  try {
    return await client.send(operation.method, path, body, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) caller.forget();
    throw error;
  }
}

function pathOf({ path, query }: Operation, args: Arguments): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, args[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ? fieldsOf(query, args) : {})) {
    if (value === null) continue;
    if (typeof value === 'object' && !Array.isArray(value)) {
      for (const [key, each] of Object.entries(value)) search.append(`${name}.${key}`, textOf(key, each));
      continue;
    }
    for (const each of [value].flat()) search.append(name, textOf(name, each));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** One segment of a path: a dot segment would lead to another operation. */
function segment(name: string, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && !['', '.', '..'].includes(text)) return encodeURIComponent(text);
  throw new ArgumentError(
    `${name} is ${value === undefined ? 'missing' : 'not valid'}: pass it as a string.`,
  );
}

function textOf(name: string, value: unknown): string {
  // More rows than an answer shows would be skipped by the cursor.
  if (name === 'limit' && typeof value === 'number') return String(Math.min(value, MAX_AGENT_ROWS));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function fieldsOf({ shape }: { readonly shape: object }, args: Arguments): Record<string, unknown> {
  const names = Object.keys(shape).filter((name) => args[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, args[name]]));
}
