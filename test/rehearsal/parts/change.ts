import { DescribeTaskDefinitionCommand, ECSClient } from '@aws-sdk/client-ecs';
import {
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { clientConfig, missingForEmulator } from '../emulator.ts';
import { Backend, taskPrograms, tasks } from '../jobs.ts';
import type { Deployed, Part, Rehearsal } from '../rehearsal.ts';
import { deployedDefinitions } from '../verify/machines.ts';
import { failOn, resourcesOf } from '../verify/resources.ts';

/** Jobs without a token: the emulator issues none that the services could verify. All jobs run on Fargate. */
const BEFORE = { openAccess: true, maxRunning: { fast: 0 } };
/** Changes every function, every task definition and both state machines, and adds the fast lane. */
const AFTER = { openAccess: true, logLevel: 'WARN' };
const LOG_LEVEL_AFTER = 'WARN';

/** A deployment that a job in flight survives, and the rollback of the functions as the runbook describes it. */
export const change: Part = {
  name: 'change',
  title: 'changed deployment',
  missing: missingForEmulator,
  seconds: 120,
  run: async (rehearsal) => {
    if (rehearsal.stage === 'prod') {
      rehearsal.skipped('changed deployment', 'jobs in prod need a token, and the emulator issues none');
      return;
    }
    const { emulator, cdk, stage } = await rehearsal.deployed();
    const assembly = await cdk.synth(stage, { settings: BEFORE });
    await cdk.deploy(assembly);
    const before = { stage, emulator, cdk, assembly, report: await emulator.report() };
    await tasks(emulator, { folder: taskPrograms(assembly) });
    const definitions = await deployedDefinitions(before);
    const live = await aliases(before);
    const jobId = await startHeld(rehearsal, before);

    let after = before;
    await rehearsal.check('changed deployment', async () => {
      const changed = await cdk.synth(stage, { settings: AFTER });
      await cdk.deploy(changed);
      after = { ...before, assembly: changed, report: await emulator.report() };
      return await changes(after, definitions, live);
    });
    await finishHeld(rehearsal, after, jobId);
    await rehearsal.check('job after the deployment', async () => {
      const backend = new Backend(after);
      await backend.completed(await backend.submit('after'));
      return 'completed in the fast lane: function, candles, result';
    });
    await rollBack(rehearsal, before, after, live);
  },
};

/** Submits a job whose first task waits for its start. */
async function startHeld(rehearsal: Rehearsal, deployed: Deployed): Promise<string> {
  let jobId = '';
  await rehearsal.check('job in flight', async () => {
    await tasks(deployed.emulator, { hold: true });
    jobId = await new Backend(deployed).submit('in flight');
    const end = Date.now() + 60_000;
    while ((await tasks(deployed.emulator, { hold: true })).length === 0) {
      if (Date.now() > end) throw new Error(`No task of ${jobId} starts: ${await lastProblem(deployed)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return `${jobId} is submitted, and its execution waits for a task`;
  });
  return jobId;
}

async function lastProblem({ emulator }: Deployed): Promise<string> {
  const { invocations, tasks: ended } = await emulator.report();
  return JSON.stringify([...invocations.filter(({ error }) => error).slice(-2), ...ended.slice(-2)]);
}

/** What a deployment must have replaced, and what it must have kept. */
async function changes(
  after: Deployed,
  definitions: ReadonlyMap<string, { readonly definition: string }>,
  live: ReadonlyMap<string, string>,
): Promise<string> {
  const problems: string[] = [];
  for (const [name, { definition }] of await deployedDefinitions(after)) {
    if (definition === definitions.get(name)!.definition)
      problems.push(`${name} names the task definitions of before`);
  }
  const ecs = new ECSClient(clientConfig(after.emulator));
  const revisions = taskRevisions(definitions);
  for (const taskDefinition of revisions) {
    const { taskDefinition: found } = await ecs.send(new DescribeTaskDefinitionCommand({ taskDefinition }));
    if (found?.status !== 'ACTIVE') problems.push(`${taskDefinition} is ${found?.status}`);
  }
  const lambda = new LambdaClient(clientConfig(after.emulator));
  const now = await aliases(after);
  for (const [FunctionName, Qualifier] of live) {
    await lambda.send(new GetFunctionConfigurationCommand({ FunctionName, Qualifier }));
    if (now.get(FunctionName) === Qualifier) problems.push(`${FunctionName} still has version ${Qualifier}`);
  }
  failOn(problems);
  return `${live.size} functions moved; ${revisions.length} task revisions and all versions of before are kept`;
}

function taskRevisions(definitions: ReadonlyMap<string, { readonly definition: string }>): string[] {
  const all = [...definitions.values()].flatMap(
    ({ definition }) => definition.match(/arn:aws:ecs:[^"]+:task-definition\/[^"]+/g) ?? [],
  );
  return [...new Set(all)];
}

async function finishHeld(rehearsal: Rehearsal, after: Deployed, jobId: string): Promise<void> {
  await rehearsal.check('job in flight survives', async () => {
    const [waiting] = await tasks(after.emulator, {});
    if (!waiting) throw new Error(`The task of ${jobId} did not wait`);
    await new Backend(after).completed(jobId);
    const ended = (await after.emulator.report()).tasks;
    const current = new Set(resourcesOf(after, 'AWS::ECS::TaskDefinition').map(({ physical }) => physical));
    failOn(
      ended
        .filter(({ definition }) => current.has(definition))
        .map(({ program, definition }) => `${program} ran ${definition}, the revision of after`),
    );
    return `completed by ${ended.map(({ program }) => program).join(', ')} of the revisions of before`;
  });
}

/** The runbook's command, and the deployment of the previous commit. */
async function rollBack(
  rehearsal: Rehearsal,
  before: Deployed,
  after: Deployed,
  live: ReadonlyMap<string, string>,
): Promise<void> {
  const lambda = new LambdaClient(clientConfig(after.emulator));
  const logLevel = async (FunctionName: string) => {
    const { Environment } = await lambda.send(
      new GetFunctionConfigurationCommand({ FunctionName, Qualifier: 'live' }),
    );
    return Environment?.Variables?.LOG_LEVEL;
  };
  await rehearsal.check('rollback by alias', async () => {
    for (const [FunctionName, FunctionVersion] of live) {
      await lambda.send(new UpdateAliasCommand({ FunctionName, Name: 'live', FunctionVersion }));
      if ((await logLevel(FunctionName)) === LOG_LEVEL_AFTER)
        throw new Error(`${FunctionName} is not rolled back`);
    }
    const backend = new Backend(after);
    await backend.completed(await backend.submit('rolled back'));
    return `${live.size} functions run their version of before, and a job completes`;
  });
  await rehearsal.check('deployment of the previous commit', async () => {
    await before.cdk.deploy(before.assembly);
    const deployed = { ...before, report: await before.emulator.report() };
    for (const FunctionName of (await aliases(deployed)).keys()) {
      if ((await logLevel(FunctionName)) === LOG_LEVEL_AFTER)
        throw new Error(`${FunctionName} is not rolled back`);
    }
    const text = await before.cdk.deploy(before.assembly);
    if (!/\(no changes\)/.test(text))
      throw new Error(`The next deployment changes the stacks:\n${text.slice(-2000)}`);
    return 'functions, tasks and workflows are those of before';
  });
}

/** Version of the alias `live` by function. */
async function aliases(deployed: Deployed): Promise<Map<string, string>> {
  const lambda = new LambdaClient(clientConfig(deployed.emulator));
  const all = resourcesOf(deployed, 'AWS::Lambda::Function');
  return new Map(
    await Promise.all(
      all.map(async ({ physical: FunctionName }): Promise<[string, string]> => {
        const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
        return [FunctionName, FunctionVersion!];
      }),
    ),
  );
}
