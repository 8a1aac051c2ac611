import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Event of a REST API for a Lambda proxy integration; `changes` override its fields. */
export function gatewayEvent(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  const path = changes.path ?? '/api/v1/health';
  const httpMethod = changes.httpMethod ?? 'GET';
  const headers = { Host: 'abc123.execute-api.us-east-1.amazonaws.com', Accept: '*/*', ...changes.headers };
  const query = changes.queryStringParameters ?? null;
  return {
    resource: path,
    pathParameters: null,
    queryStringParameters: query,
    multiValueQueryStringParameters:
      query && Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value!]])),
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    ...changes,
    path,
    httpMethod,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value!]])),
    requestContext: {
      accountId: '123456789012',
      apiId: 'abc123',
      authorizer: null,
      protocol: 'HTTP/1.1',
      domainName: 'abc123.execute-api.us-east-1.amazonaws.com',
      domainPrefix: 'abc123',
      extendedRequestId: 'JKJaXmPLvHcESHA=',
      httpMethod,
      identity: { sourceIp: '192.0.2.1', userAgent: 'curl/8.5.0' } as never,
      path: `/prod${path}`,
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      requestTime: '21/Nov/2026:03:00:00 +0000',
      requestTimeEpoch: 1_795_230_000_000,
      resourceId: '0n0fcr',
      resourcePath: path,
      stage: 'prod',
    },
  };
}

export const LAMBDA_CONTEXT = {
  functionName: 'backend',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:123456789012:function:backend:live',
  memoryLimitInMB: '1024',
  awsRequestId: '11111111-2222-3333-4444-555555555555',
  callbackWaitsForEmptyEventLoop: true,
  logGroupName: 'backend',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 28_000,
} as unknown as Context;

/** Header of a Lambda proxy result, in any case and from either map. */
export function headerOf(result: APIGatewayProxyResult, name: string): string | undefined {
  const all = {
    ...result.headers,
    ...Object.fromEntries(
      Object.entries(result.multiValueHeaders ?? {}).map(([key, values]) => [key, values[0]]),
    ),
  };
  const found = Object.entries(all).find(([key]) => key.toLowerCase() === name.toLowerCase());
  return found && String(found[1]);
}
