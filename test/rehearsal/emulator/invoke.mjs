// Calls the handler of an unpacked Lambda function once: node invoke.mjs FOLDER index.handler ANSWER.json < event.json
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [folder, name, answerFile] = process.argv.slice(2);
const dot = name.lastIndexOf('.');
const base = path.join(folder, name.slice(0, dot));
const file = ['.mjs', '.js', '.cjs'].map((end) => base + end).find((each) => existsSync(each));
const event = JSON.parse(readFileSync(0, 'utf8'));

/** The global of streaming handlers; their output is collected. */
globalThis.awslambda = {
  streamifyResponse: (handler) => async (input, context) => {
    const chunks = [];
    const stream = new Writable({ write: (chunk, _, done) => done(chunks.push(Buffer.from(chunk)) && null) });
    await handler(input, stream, context);
    return { body: Buffer.concat(chunks).toString() };
  },
  HttpResponseStream: { from: (stream) => stream },
};

const env = process.env;
const end = Date.now() + Number(env.EMULATED_TIMEOUT_MS);
const context = {
  awsRequestId: crypto.randomUUID(),
  functionName: env.AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
  invokedFunctionArn: env.EMULATED_ARN,
  memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  logGroupName: `/aws/lambda/${env.AWS_LAMBDA_FUNCTION_NAME}`,
  logStreamName: 'emulated',
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => end - Date.now(),
};

const started = performance.now();
let init_ms = 0;
let answer;
try {
  const module = await import(pathToFileURL(file));
  init_ms = performance.now() - started;
  answer = { init_ms, answer: (await module[name.slice(dot + 1)](event, context)) ?? null };
} catch (error) {
  const { name: errorType = 'Error', message: errorMessage = String(error), stack = '' } = error ?? {};
  answer = { init_ms, error: { errorType, errorMessage, trace: stack.split('\n') } };
}
writeFileSync(answerFile, JSON.stringify(answer));
process.exit(0);
