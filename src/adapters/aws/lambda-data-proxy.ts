import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CodedError } from '#contract/values/errors.ts';
import type { InvokeProxy } from '../data-proxy-client.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';

/**
 * One attempt of up to 28 s: API Gateway's limit is 29 s, and the proxy itself retries where that is useful. Commands
 * throw SVC004 when Lambda is unavailable.
 */
export function createLambdaClient(): LambdaClient {
  const client = new LambdaClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 28_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'SVC004');
}

/**
 * The data proxy as a deployed function. Throws SVC002 when the function failed or its response is not JSON, SVC004 when
 * the function does not exist or Lambda is unavailable.
 *
 * @param functionName name or ARN, with its alias
 */
export function lambdaDataProxy(client: LambdaClient, functionName: string): InvokeProxy {
  return async (event) => {
    try {
      const { FunctionError, Payload } = await client.send(
        new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }),
      );
      const response = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) throw new CodedError('SVC002', { cause: new Error(response) });
      return JSON.parse(response);
    } catch (error) {
      if (error instanceof SyntaxError) throw new CodedError('SVC002', { cause: error });
      throw error;
    }
  };
}
