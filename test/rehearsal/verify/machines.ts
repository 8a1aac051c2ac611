import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeStateMachineCommand, SFNClient } from '@aws-sdk/client-sfn';
import { clientConfig } from '../emulator.ts';
import type { Deployed } from '../rehearsal.ts';
import { failOn, resourcesOf } from './resources.ts';

const FOLDER = join(import.meta.dirname, '../../../statemachines');

/** Deployed definition of every file in statemachines/, by the file's name without its extension. */
export async function deployedDefinitions(
  deployed: Deployed,
): Promise<Map<string, { readonly arn: string; readonly definition: string }>> {
  const sfn = new SFNClient(clientConfig(deployed.emulator));
  const files = readdirSync(FOLDER).map((file) => ({
    name: file.replace('.asl.json', ''),
    pattern: patternOf(JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))),
  }));
  const found = new Map<string, { readonly arn: string; readonly definition: string }>();
  for (const { logicalId, physical } of resourcesOf(deployed, 'AWS::StepFunctions::StateMachine')) {
    const { definition } = await sfn.send(new DescribeStateMachineCommand({ stateMachineArn: physical }));
    const file = files.find(({ pattern }) => pattern.test(JSON.stringify(JSON.parse(definition!))));
    if (!file) throw new Error(`The definition of ${logicalId} equals no file of statemachines/`);
    found.set(file.name, { arn: physical, definition: definition! });
  }
  failOn(files.filter(({ name }) => !found.has(name)).map(({ name }) => `${name}.asl.json is not deployed`));
  return found;
}

/** Compares the deployed definitions with the files, and looks for every resource that they name. */
export async function machines(deployed: Deployed): Promise<string> {
  const definitions = await deployedDefinitions(deployed);
  const known = new Set(
    Object.values(deployed.report.stacks).flatMap(({ resources }) =>
      Object.values(resources).map(({ physical }) => physical),
    ),
  );
  let names = 0;
  const problems = [...definitions].flatMap(([file, { definition }]) => {
    const arns = definition.match(/arn:aws:(lambda|ecs):[^"\s]+/g) ?? [];
    names += arns.length;
    return arns
      .filter((arn) => !known.has(arn) && !isCluster(arn))
      .map((arn) => `${file} names ${arn}, which is not deployed`);
  });
  failOn(problems);
  return `${definitions.size} equal their files; ${names} ARNs in them are deployed`;
}

/** The ARN of a cluster, whose physical ID is its name. */
const isCluster = (arn: string) => arn.includes(':cluster/');

/** Matches the definition with any values for its parameters. */
function patternOf(definition: unknown): RegExp {
  const text = JSON.stringify(definition);
  const literal = text.split(/\$\{\w+\}/).map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^"{}]+')}$`);
}
