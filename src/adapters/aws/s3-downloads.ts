import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { GetObjectCommand, type GetObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import type { Downloads, ExportFile } from '#domain/export-backtest.ts';
import type { Clock } from '#domain/ports.ts';
import { exportsPrefix } from '../result-store.ts';
import { S3ObjectStore } from './s3-object-store.ts';

/** Duration of an address, seconds: enough to open it. S3 finishes a download that it has begun. */
const LIFETIME_S = 300;
/** Lowest compression: columns of numbers lose half at once, and higher levels save little more. */
const GZIP_LEVEL = 1;

/**
 * Downloads from the bucket of results by presigned addresses. A file that is not stored yet is compressed and stored below the
 * job's prefix of exports, which expires.
 */
export class S3Downloads implements Downloads {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #clock: Clock;

  constructor(client: S3Client, bucket: string, clock: Clock) {
    this.#client = client;
    this.#bucket = bucket;
    this.#clock = clock;
  }

  async offer(jobId: string, file: ExportFile) {
    const now = this.#clock.now();
    const key = file.storedAs ?? (await this.#store(jobId, file));
    const url = await this.#presign(new Date(now), {
      Key: key,
      ResponseContentType: file.contentType,
      ResponseContentDisposition: `attachment; filename="${file.name}"`,
      // The browser decompresses it, so the saved file is plain.
      ...(file.storedAs === undefined && { ResponseContentEncoding: 'gzip' }),
    });
    return { url, expires_at: new Date(now + LIFETIME_S * 1_000).toISOString() };
  }

  async #store(jobId: string, { name, chunks }: ExportFile): Promise<string> {
    const gzip = createGzip({ level: GZIP_LEVEL });
    const [body] = await Promise.all([buffer(gzip), pipeline(chunks(), gzip)]);
    const key = `${exportsPrefix(jobId)}/${name}.gz`;
    await new S3ObjectStore(this.#client, this.#bucket).put(key, body, 'application/gzip');
    return key;
  }

  /** The client's own signer signs addresses too. Its package for that would only wrap these lines. */
  async #presign(signingDate: Date, input: Omit<GetObjectCommandInput, 'Bucket'>): Promise<string> {
    const { config } = this.#client;
    const request = await this.#requestOf(new GetObjectCommand({ Bucket: this.#bucket, ...input }));
    const signer = new (config as unknown as SignerConfig).signerConstructor({
      ...{ service: 's3', region: await config.region(), credentials: config.credentials },
      ...{ sha256: config.sha256, uriEscapePath: false, applyChecksum: false },
    });
    const headers = { host: request.headers.host!, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
    const signed = await signer.presign({ ...request, headers }, { expiresIn: LIFETIME_S, signingDate });
    const address = new URL(`${signed.protocol}//${signed.headers.host}${signed.path}`);
    for (const [name, value] of Object.entries(signed.query)) address.searchParams.set(name, value);
    // Signatures encode a space as %20.
    return address.href.replaceAll('+', '%20');
  }

  /** The request of a command with the address that the client would send it to, unsent. */
  async #requestOf(command: GetObjectCommand): Promise<SignableRequest> {
    let request: SignableRequest | undefined;
    command.middlewareStack.add(
      () => async (args) => {
        request = (args as unknown as { readonly request: SignableRequest }).request;
        return { response: {}, output: { $metadata: {} } };
      },
      { step: 'finalizeRequest', name: 'keepRequest' },
    );
    await this.#client.send(command);
    return request!;
  }
}

interface SignableRequest {
  readonly method: string;
  readonly protocol: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** The part of the resolved configuration that the client's types leave open. */
interface SignerConfig {
  readonly signerConstructor: new (
    options: object,
  ) => {
    presign(
      request: SignableRequest,
      options: { readonly expiresIn: number; readonly signingDate: Date },
    ): Promise<SignableRequest>;
  };
}
