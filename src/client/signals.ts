import type { ResponseOf } from '#contract/operations/calls.ts';
import { type CallOptions, type Connection, noResponse } from './connection.ts';
import { createSignals } from './operations.ts';

/**
 * Uploads a file of signals, which a backtest of strategy `signals` then names in `config.signals`. The same bytes are one file. Needs
 * `crypto.subtle`, which browsers have on https only. In AWS the bucket accepts files of browsers only from pages of the dashboard's
 * origin.
 */
export async function uploadSignals(
  connection: Connection,
  file: Uint8Array<ArrayBuffer>,
  { name, format = 'csv' }: { readonly name?: string; readonly format?: 'csv' | 'parquet' } = {},
  options?: CallOptions,
): Promise<ResponseOf<'createSignals'>> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', file));
  const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const body = { format, bytes: file.length, sha256, ...(name !== undefined && { name }) };
  const created = await createSignals(
    connection,
    { body },
    { idempotencyKey: `${format}-${sha256}`, ...options },
  );
  const { upload_url: url, upload_headers: headers } = created;
  // The address is a permission of its own: the token stays here.
  const response = await connection.fetch(new URL(url, connection.addressOf('backend')), {
    method: 'PUT',
    headers,
    body: file,
    ...(options?.signal && { signal: options.signal }),
  });
  if (!response.ok) throw noResponse(`The upload responded with status ${response.status}`);
  return created;
}
