import type { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

interface PresignOptions {
  /** Time of the signature. */
  readonly at: Date;
  readonly lifetimeS: number;
  /** Headers that the request must have with these values, names in lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Address that allows a request without credentials. The client's own signer signs addresses too: its package would only wrap these
 * lines.
 */
export async function presign(
  client: S3Client,
  command: GetObjectCommand | PutObjectCommand,
  { at, lifetimeS, headers = {} }: PresignOptions,
): Promise<string> {
  const { config } = client;
  const request = await requestOf(client, command);
  const signer = new (config as unknown as SignerConfig).signerConstructor({
    service: 's3',
    region: await config.region(),
    credentials: config.credentials,
    sha256: config.sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const signedHeaders = {
    ...headers,
    host: request.headers.host!,
    'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
  };
  const signed = await signer.presign(
    { ...request, headers: signedHeaders },
    // S3 reads a checksum from a header only, and the signer would move it into the address.
    { expiresIn: lifetimeS, signingDate: at, unhoistableHeaders: new Set(Object.keys(headers)) },
  );
  const address = new URL(`${signed.protocol}//${request.headers.host}${signed.path}`);
  for (const [name, value] of Object.entries(signed.query)) address.searchParams.set(name, value);
  // Signatures encode a space as %20.
  return address.href.replaceAll('+', '%20');
}

/** The request of a command with the address that the client would send it to, unsent. */
async function requestOf(
  client: S3Client,
  given: GetObjectCommand | PutObjectCommand,
): Promise<SignableRequest> {
  // Their middlewares have the same form; a union of the two types has no method that both accept.
  const command = given as GetObjectCommand;
  let request: SignableRequest | undefined;
  command.middlewareStack.add(
    () => async (args: unknown) => {
      request = (args as { readonly request: SignableRequest }).request;
      return { response: {}, output: { $metadata: {} } };
    },
    { step: 'finalizeRequest', name: 'keepRequest' },
  );
  await client.send(command);
  return request!;
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
      options: {
        readonly expiresIn: number;
        readonly signingDate: Date;
        readonly unhoistableHeaders: ReadonlySet<string>;
      },
    ): Promise<SignableRequest>;
  };
}
