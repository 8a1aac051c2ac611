// Stand-in for AWS's runtime client, the npm package aws-lambda-ric, whose installation compiles for a minute: the same protocol,
// one invocation at a time. node runtime-client.mjs index.handler, in a folder with AWS_LAMBDA_RUNTIME_API.
import http from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Calls the Runtime API. A stream as the body is sent in chunks. */
function call(method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: `/2018-06-01/runtime/${path}`, method, agent };
    const request = http.request(
      { ...options, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ headers: response.headers, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    request.on('error', reject);
    if (body instanceof PassThrough) body.pipe(request);
    else request.end(body);
  });
}

const shapeOf = (error) =>
  JSON.stringify({
    errorType: error?.name ?? 'Error',
    errorMessage: error?.message ?? String(error),
    trace: String(error?.stack ?? '').split('\n'),
  });

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [STREAMING]: 'response' }),
  HttpResponseStream: {
    /** Writes the prelude and eight zero bytes before the first byte of the body. */
    from(stream, prelude) {
      stream.contentType = 'application/vnd.awslambda.http-integration-response';
      stream.write(JSON.stringify(prelude));
      stream.write(Buffer.alloc(8));
      return stream;
    },
  },
};

async function stream(handler, id, event, context) {
  const out = new PassThrough();
  const headers = () => ({
    'content-type': out.contentType ?? 'application/octet-stream',
    'Lambda-Runtime-Function-Response-Mode': 'streaming',
    'Transfer-Encoding': 'chunked',
  });
  const handled = handler(event, out, context);
  const posted = new Promise((resolve) => setImmediate(resolve)).then(() =>
    call('POST', `invocation/${id}/response`, out, headers()),
  );
  await handled;
  if (!out.writableEnded) out.end();
  await posted;
}

let handler;
try {
  const [file, name] = process.argv[2].split('.');
  const module = await import(pathToFileURL(join(process.env.LAMBDA_TASK_ROOT, `${file}.mjs`)));
  handler = module[name];
  if (handler.length >= 3 && !handler[STREAMING]) {
    const message = 'Node 24 does not call handlers with a callback';
    throw Object.assign(new Error(message), { name: 'Runtime.CallbackHandlerDeprecated' });
  }
} catch (error) {
  await call('POST', 'init/error', shapeOf(error));
  process.exit(1);
}
for (;;) {
  const { headers, body } = await call('GET', 'invocation/next');
  const id = headers['lambda-runtime-aws-request-id'];
  const end = Number(headers['lambda-runtime-deadline-ms']);
  process.env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id'];
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: 'group',
    logStreamName: 'stream',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => end - Date.now(),
  };
  try {
    const event = JSON.parse(body);
    if (handler[STREAMING]) await stream(handler, id, event, context);
    else
      await call(
        'POST',
        `invocation/${id}/response`,
        JSON.stringify((await handler(event, context)) ?? null),
      );
  } catch (error) {
    const kind = { 'Lambda-Runtime-Function-Error-Type': error?.name ?? 'Error' };
    await call('POST', `invocation/${id}/error`, shapeOf(error), kind);
  }
}
