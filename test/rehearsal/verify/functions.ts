import { GetAliasCommand, GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientConfig } from '../emulator.ts';
import type { Deployed } from '../rehearsal.ts';
import { failOn, resourcesOf } from './resources.ts';

/** Runtime, processor and alias of every function: `live` is a published version with the code of this deployment. */
export async function functions(deployed: Deployed): Promise<string> {
  const lambda = new LambdaClient(clientConfig(deployed.emulator));
  const all = resourcesOf(deployed, 'AWS::Lambda::Function');
  const problems: string[] = [];
  for (const { logicalId, physical: FunctionName } of all) {
    const latest = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
    const live = await lambda.send(
      new GetFunctionConfigurationCommand({ FunctionName, Qualifier: FunctionVersion }),
    );
    const expect = (what: string, actual: unknown, expected: unknown) => {
      if (actual !== expected) problems.push(`${logicalId}: ${what} is ${actual} instead of ${expected}`);
    };
    expect('runtime', latest.Runtime, 'nodejs24.x');
    expect('architecture', latest.Architectures?.join(), 'arm64');
    expect('alias to a version', FunctionVersion !== '$LATEST', true);
    expect('code of the alias', live.CodeSha256, latest.CodeSha256);
    expect(
      'environment of the alias',
      JSON.stringify(live.Environment?.Variables),
      JSON.stringify(latest.Environment?.Variables),
    );
  }
  failOn(problems);
  return `${all.length} on arm64 with the alias live`;
}
