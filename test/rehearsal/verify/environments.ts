import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeTaskDefinitionCommand, ECSClient } from '@aws-sdk/client-ecs';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { EnvDeclaration } from '#contract/env/env-fields.ts';
import { readEnv } from '#runtime/env.ts';
import { clientConfig } from '../emulator.ts';
import type { Deployed } from '../rehearsal.ts';
import { entryOfFunction } from './assembly.ts';
import { failOn, resourcesOf } from './resources.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Variables that the state machines, and not the task definitions, give a task. */
const OF_A_RUN = {
  JOB_ID: 'bt-01ARZ3NDEKTSV4RRFFQ69G5FAV',
  WORKER: '0',
  RUN_INPUT: `${'0'.repeat(32)}.json`,
};

/** Reads every deployed environment as its entry point does, as src/contract declares it. */
export async function environments(deployed: Deployed): Promise<string> {
  const all = [...(await ofFunctions(deployed)), ...(await ofTasks(deployed))];
  const problems = await Promise.all(
    all.map(async (each) => [...(await problemsOf(each)), ...strangers(deployed, each)]),
  );
  failOn(problems.flat());
  return `${all.length} are as declared, and their tables and buckets exist`;
}

interface Environment {
  /** Source of the entry point. */
  readonly source: string;
  readonly variables: Readonly<Record<string, string>>;
}

async function ofFunctions(deployed: Deployed): Promise<Environment[]> {
  const lambda = new LambdaClient(clientConfig(deployed.emulator));
  const all = resourcesOf(deployed, 'AWS::Lambda::Function');
  return Promise.all(
    all.map(async ({ logicalId, physical }) => {
      const { Handler, Environment: environment } = await lambda.send(
        new GetFunctionConfigurationCommand({ FunctionName: physical }),
      );
      const variables = environment?.Variables ?? {};
      // A function of the fast lane runs the entry point of a task, with the variables of an execution.
      const task = /^fast-lane\.(.+)$/.exec(Handler!)?.[1];
      if (task) return { source: `src/tasks/${task}.ts`, variables: { ...OF_A_RUN, ...variables } };
      return { source: `lambdas/${entryOfFunction(deployed, logicalId)}.ts`, variables };
    }),
  );
}

async function ofTasks(deployed: Deployed): Promise<Environment[]> {
  const ecs = new ECSClient(clientConfig(deployed.emulator));
  return Promise.all(
    resourcesOf(deployed, 'AWS::ECS::TaskDefinition').map(async ({ physical }) => {
      const { taskDefinition } = await ecs.send(
        new DescribeTaskDefinitionCommand({ taskDefinition: physical }),
      );
      const { command, environment = [], secrets = [] } = taskDefinition!.containerDefinitions![0]!;
      const name = /\/app\/(.+)\.mjs/.exec(command!.at(-1)!)![1];
      return {
        source: `src/tasks/${name}.ts`,
        variables: {
          ...OF_A_RUN,
          ...Object.fromEntries(environment.map((each) => [each.name!, each.value!])),
          // A secret has 32 characters or more.
          ...Object.fromEntries(secrets.map((each) => [each.name!, 'x'.repeat(64)])),
        },
      };
    }),
  );
}

async function problemsOf({ source, variables }: Environment): Promise<string[]> {
  const text = readFileSync(join(ROOT, source), 'utf8');
  const name = /(?:readEnv|startProcess)\((\w+Env)\b/.exec(text)?.[1];
  const module = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '(#contract/[^']+)'`).exec(text)?.[1];
  if (!name || !module) return [`${source} does not read its environment as src/contract declares it`];
  const declared: Readonly<Record<string, EnvDeclaration>> = await import(module);
  try {
    readEnv(declared[name]!, variables);
    return [];
  } catch (error) {
    return [`${source}: ${(error as Error).message}`];
  }
}

/** Names of tables and buckets that are not deployed: a reference between the stacks that points elsewhere. */
function strangers({ report }: Deployed, { source, variables }: Environment): string[] {
  const resources = Object.values(report.stacks).flatMap((stack) => Object.entries(stack.resources));
  return Object.entries(variables).flatMap(([variable, value]) => {
    const id = /^(\w+)_(?:TABLE|BUCKET)$/.exec(variable)?.[1]?.replaceAll('_', '').toLowerCase();
    if (!id) return [];
    const isDeployed = resources.some(
      ([logicalId, { physical }]) => physical === value && logicalId.toLowerCase().startsWith(id),
    );
    return isDeployed ? [] : [`${source}: ${variable} is ${value}, which is not deployed`];
  });
}
