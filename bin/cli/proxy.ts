import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { ProxyEnvelope, ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import { userToken, withSession } from './session.ts';
import { UsageError } from './usage.ts';

type Answer = ProxyEnvelope | ProxyHttpResponse;

const FUNCTION_LIMIT_MS = 60_000;

/**
 * Runs the data proxy's deployed handler on an event and prints its envelope; what the handler prints goes to stderr.
 * The handler's own variables give the address of data collection, DATA_COLLECTION_URL before SERVICE_DISCOVERY_NAMESPACE;
 * without both it is the platform's.
 * Answers the exit code: 0 when the status is 200 and there is no error.
 * @param argument the event as JSON, or `-` for stdin
 */
export async function callProxy(argument: string): Promise<number> {
  const event = parseEvent(argument === '-' ? await text(process.stdin) : argument);
  if (process.env.DATA_COLLECTION_URL || process.env.SERVICE_DISCOVERY_NAMESPACE) {
    sendUserToken();
    return printAnswer(await invoke(event));
  }
  return withSession(undefined, async ({ platform }) => {
    process.env.DATA_COLLECTION_URL = platform!.data_collection_url;
    if (platform!.issuer_url) sendUserToken();
    return printAnswer(await invoke(event));
  });
}

/** Data collection takes it where the function sends the platform's own. */
function sendUserToken(): void {
  process.env.SERVICE_TOKEN ||= userToken() ?? '';
}

function parseEvent(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const example = `touchstone proxy '{"operation":"symbols"}'`;
    throw new UsageError(`The event is not JSON: ${(error as Error).message}. For example: ${example}`);
  }
}

async function invoke(event: unknown): Promise<Answer> {
  // Read when the handler is loaded; requests that went well are not worth a line to a person.
  process.env.LOG_LEVEL ||= 'WARN';
  const write = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    const { handler } = await import('#lambdas/data-proxy.ts');
    return await handler(event as never, lambdaContext() as never);
  } finally {
    process.stdout.write = write;
  }
}

/** What the handler and its middleware read of Lambda's context. */
function lambdaContext() {
  const ends = Date.now() + FUNCTION_LIMIT_MS;
  return {
    functionName: 'data-proxy',
    functionVersion: 'local',
    memoryLimitInMB: '512',
    invokedFunctionArn: 'local',
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => ends - Date.now(),
  };
}

function printAnswer(answer: Answer): number {
  console.log(JSON.stringify(answer, null, 2));
  // An event of API Gateway is answered with a string.
  const body: ProxyEnvelope['body'] = typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
  return answer.statusCode === 200 && !body.error && !body.data.result?.error ? 0 : 1;
}
