import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { gatewayEvent } from '../../support/gateway.ts';
import { clientConfig, missingForEmulator } from '../emulator.ts';
import type { Deployed, Part } from '../rehearsal.ts';
import { FunctionProcess, runtimeClient } from '../runtime-api.ts';
import { codeOfFunction } from '../verify/assembly.ts';
import { failOn, resourcesOf } from '../verify/resources.ts';

interface Event {
  /** Start of the function's logical ID. */
  readonly of: string;
  readonly event: unknown;
  /** What the answer must contain. */
  readonly answer: RegExp;
}

const openapi = gatewayEvent({ path: '/openapi.json' });
const unknown = gatewayEvent({ path: '/nowhere' });

/** Events that need neither a token nor another service. A function without one is only started. */
const EVENTS: readonly Event[] = [
  { of: 'BackendFunction', event: openapi, answer: /"statusCode":200/ },
  { of: 'BackendFunction', event: unknown, answer: /HTTP404/ },
  { of: 'StrategyServiceFunction', event: openapi, answer: /"statusCode":200/ },
  { of: 'StrategyServiceFunction', event: unknown, answer: /HTTP404/ },
  { of: 'DataProxy', event: { operation: 'drop-tables', params: {} }, answer: /"success":false/ },
  { of: 'Repair', event: {}, answer: /.*/ },
  { of: 'TableEvents', event: { Records: [] }, answer: /null|^$/ },
  { of: 'Webhooks', event: { Records: [] }, answer: /null|^$/ },
  { of: 'Dispatcher', event: { Records: [] }, answer: /batchItemFailures|null/ },
];

/** Starts every deployed function as Lambda does: read-only code, a bare environment, the Runtime API. */
export const bundles: Part = {
  name: 'bundles',
  title: 'bundles under the Runtime API',
  missing: missingForEmulator,
  seconds: 20,
  run: async (rehearsal) => {
    const deployed = await rehearsal.deployed();
    const { name } = runtimeClient();
    await rehearsal.verify('bundles under the Runtime API', async () => {
      const problems: string[] = [];
      const times: string[] = [];
      for (const { logicalId, physical } of resourcesOf(deployed, 'AWS::Lambda::Function')) {
        const result = await run(deployed, logicalId, physical);
        problems.push(...result.problems);
        times.push(`${logicalId.replace(/(Service)?Function\w{8}$/, '')} ${result.initMs.toFixed(0)}`);
      }
      failOn(problems);
      return `under ${name}; ms to the first event: ${times.join(', ')}`;
    });
  },
};

async function run(deployed: Deployed, logicalId: string, FunctionName: string) {
  const lambda = new LambdaClient(clientConfig(deployed.emulator));
  const { Environment, Handler } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-function-'));
  const problems: string[] = [];
  let initMs = Number.NaN;
  try {
    cpSync(codeOfFunction(deployed, logicalId), folder, { recursive: true });
    protect(folder, true);
    const started = await FunctionProcess.start(folder, Handler!, {
      ...deployed.emulator.env,
      ...Environment?.Variables,
    });
    initMs = started.initMs;
    for (const { event, answer } of EVENTS.filter(({ of }) => logicalId.startsWith(of))) {
      const { kind, body } = await started.invoke(event);
      const text = `${logicalId} answers ${JSON.stringify(event).slice(0, 60)} with`;
      if (kind !== 'response' || !answer.test(body)) problems.push(`${text} ${kind} ${body.slice(0, 500)}`);
    }
    started.stop();
  } catch (error) {
    problems.push(`${logicalId}: ${(error as Error).message}`);
  } finally {
    protect(folder, false);
    rmSync(folder, { recursive: true });
  }
  return { problems, initMs };
}

/** Makes a folder read-only, as Lambda does, or writable. */
function protect(path: string, isReadOnly: boolean): void {
  const isFolder = statSync(path).isDirectory();
  if (!isReadOnly) chmodSync(path, isFolder ? 0o755 : 0o644);
  if (isFolder) for (const each of readdirSync(path)) protect(join(path, each), isReadOnly);
  if (isReadOnly) chmodSync(path, isFolder ? 0o555 : 0o444);
}
