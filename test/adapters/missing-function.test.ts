import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createLambdaClient, lambdaDataProxy } from '#adapters/aws/lambda-data-proxy.ts';

afterEach(() => vi.unstubAllEnvs());

it('missing data proxy function is SVC004', async () => {
  const server = createServer((_, response) =>
    response
      .writeHead(404, { 'content-type': 'application/json', 'x-amzn-errortype': 'ResourceNotFoundException' })
      .end('{"Message":"Function not found","Type":"User"}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'x');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
  try {
    const call = lambdaDataProxy(createLambdaClient(), 'data-proxy')({ operation: 'health' });
    await expect(call).rejects.toMatchObject({ code: 'SVC004' });
  } finally {
    server.close();
  }
});
