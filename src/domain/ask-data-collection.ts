import { CodedError } from '#contract/errors.ts';
import type { DataProxy } from './ports.ts';

/** A schema of the contract, as far as it is needed to read a value. */
interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };
}

/**
 * The result of one of the proxy's operations, as `schema` describes it.
 * Throws SVC002 for a result that does not fit it, and what {@link DataProxy} throws.
 */
export async function askDataCollection<T>(
  proxy: DataProxy,
  request: Parameters<DataProxy['call']>[0],
  schema: Schema<T>,
): Promise<T> {
  const result = schema.safeParse(await proxy.call(request));
  if (!result.success) throw new CodedError('SVC002', { cause: result.error });
  return result.data;
}
