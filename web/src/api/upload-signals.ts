import LIMITS from 'virtual:limits';
import { ApiError, call, type ResponseOf } from './client.ts';

export type UploadedSignals = ResponseOf<'createSignals'>;

/** First bytes of a Parquet file. */
const PARQUET = 'PAR1';

/**
 * Uploads a file of signals. The same bytes have the same ID, also from the command line and the clients.
 *
 * @param onSent called with the part that is sent, 0 to 1
 * @throws ApiError if the platform rejects the request, or the address of the upload the file; Error if it cannot be read or sent
 */
export async function uploadSignals(
  file: File,
  onSent: (part: number) => void,
  signal: AbortSignal,
): Promise<UploadedSignals> {
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error(`${file.name} cannot be read: it has changed since you chose it. Choose it again.`);
  });
  const sha256 = hex(await crypto.subtle.digest('SHA-256', bytes));
  const format =
    new TextDecoder('latin1').decode(bytes.slice(0, PARQUET.length)) === PARQUET ? 'parquet' : 'csv';
  const name = file.name.slice(0, LIMITS.signals.limits.name);
  const created = await call(
    'createSignals',
    { body: { format, bytes: bytes.byteLength, sha256, name } },
    { headers: { 'Idempotency-Key': `${format}-${sha256}` }, signal },
  );
  await put(created, bytes, onSent, signal);
  return created;
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Not by `fetch`, which does not report what it has sent. The address is a permission of its own: the token is not sent. */
function put(
  { upload_url, upload_headers }: UploadedSignals,
  bytes: ArrayBuffer,
  onSent: (part: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  return new Promise<void>((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', abort);
    request.upload.onprogress = ({ loaded, total }) => onSent(total > 0 ? loaded / total : 0);
    request.onload = () => (request.status < 300 ? resolve() : reject(rejection(request)));
    request.onabort = () => reject(signal.reason);
    request.onerror = () =>
      reject(
        new Error(
          'The file could not be sent. Check that you are online. A stage in AWS accepts files from this page only once web.domain or web.distributionName is set.',
        ),
      );
    request.open('PUT', new URL(upload_url, location.origin));
    for (const [name, value] of Object.entries(upload_headers)) request.setRequestHeader(name, value);
    request.send(bytes);
  }).finally(() => signal.removeEventListener('abort', abort));
}

/** The reason of local mode is text, that of S3 an XML document. */
function rejection({ status, responseText }: XMLHttpRequest): ApiError {
  const reason = /<Message>([^<]+)/.exec(responseText)?.[1] ?? responseText;
  return new ApiError(status, `HTTP${status}`, `The upload was rejected: ${reason.trim().slice(0, 300)}`);
}
