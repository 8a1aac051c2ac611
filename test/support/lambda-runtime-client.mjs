/** Minimal client of the Lambda Runtime API for handlers that return a promise: node lambda-runtime-client.mjs file.export */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, name] = process.argv[2].split('.');
const base = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/`;
const post = (path, value) => fetch(base + path, { method: 'POST', body: JSON.stringify(value ?? null) });
const shapeOf = (error) => ({ errorType: error.name, errorMessage: error.message });

let handler;
try {
  ({ [name]: handler } = await import(pathToFileURL(join(process.env.LAMBDA_TASK_ROOT, `${file}.mjs`)).href));
} catch (error) {
  await post('init/error', shapeOf(error));
  process.exit(1);
}
for (;;) {
  const next = await fetch(`${base}invocation/next`);
  const id = next.headers.get('Lambda-Runtime-Aws-Request-Id');
  const end = Number(next.headers.get('Lambda-Runtime-Deadline-Ms'));
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => end - Date.now() };
  try {
    await post(`invocation/${id}/response`, await handler(await next.json(), context));
  } catch (error) {
    await post(`invocation/${id}/error`, shapeOf(error));
  }
}
