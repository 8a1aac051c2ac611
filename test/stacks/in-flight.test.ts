import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BacktestTaskEnv, CollectTaskEnv, HyperoptTaskEnv } from '#contract/env/env.ts';
import type { EnvDeclaration } from '#contract/env/env-fields.ts';
import { readEnv } from '#runtime/env.ts';
import { actionsOf, ofType, type Synthesized, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** An execution that began before a deployment which changes the image, the environment and the size of every task. */
const before = templatesOf('dev');
const after = synthesize('dev', {
  logLevel: 'WARN',
  baseImage: `registry.example/node:24@sha256:${'a'.repeat(64)}`,
  backtestTask: { cpu: 2048, memoryMiB: 8192 },
  hyperoptTask: { cpu: 8192, memoryMiB: 32_768 },
});

/** Logical IDs that a value refers to, in its own stack. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    if (key === 'Ref') return String(each).startsWith('AWS::') ? [] : [String(each)];
    if (key === 'Fn::GetAtt') return [String(each[0])];
    return references(each);
  });
}

const definitionsOf = (stage: Synthesized) => ofType(stage, 'AWS::ECS::TaskDefinition');
const environmentOf = (stage: Synthesized, id: string) =>
  stage.resources.get(id)!.Properties.ContainerDefinitions[0].Environment;

describe.each(definitionsOf(before))('earlier revision of %s', (id, earlier) => {
  test('deployment registers another revision of the family and keeps this one', () => {
    const later = after.resources.get(id)!;
    expect(later.Properties.ContainerDefinitions[0].Image).not.toEqual(
      earlier.Properties.ContainerDefinitions[0].Image,
    );
    expect(environmentOf(after, id)).not.toEqual(environmentOf(before, id));
    expect(later.Properties.Family).toBe(earlier.Properties.Family);
    // CloudFormation applies the policy of the earlier template to what it replaces.
    expect(earlier.UpdateReplacePolicy).toBe('Retain');
  });

  test('its roles, log and secrets outlive the deployment', () => {
    const needed = references(earlier.Properties);
    expect(needed.length).toBeGreaterThanOrEqual(3);
    for (const name of needed) {
      expect(after.resources.get(name)?.Type, name).toBe(before.resources.get(name)!.Type);
    }
    for (const role of [earlier.Properties.TaskRoleArn, earlier.Properties.ExecutionRoleArn]) {
      const [name] = references(role);
      expect(after.resources.get(name!)).toEqual(before.resources.get(name!));
    }
  });
});

const machines = ofType(before, 'AWS::StepFunctions::StateMachine');

describe.each(machines)('execution of %s in flight', (id, machine) => {
  const substitutions: Record<string, unknown> = machine.Properties.DefinitionSubstitutions;
  const tasks = definitionsOf(before).filter(([name]) => references(substitutions).includes(name));

  test('starts its tasks from the revisions with which it began', () => {
    expect(tasks.length).toBeGreaterThanOrEqual(2);
    // The reference of a task definition is its ARN with the revision; its family would be a literal.
    for (const [name, { Properties }] of tasks) {
      expect(Object.values(substitutions)).toContainEqual({ Ref: name });
      expect(JSON.stringify(substitutions)).not.toContain(`"${Properties.Family}"`);
    }
  });

  test('everything it refers to outlives the deployment', () => {
    for (const name of references(substitutions)) {
      expect(after.resources.get(name)?.Type, name).toBe(before.resources.get(name)!.Type);
    }
    expect(after.resources.has(id)).toBe(true);
  });

  test('may start every revision of its tasks and pass their roles', () => {
    const [role] = references(after.resources.get(id)!.Properties.RoleArn);
    const granted = statements(after)
      .filter(({ id: policy }) =>
        references(after.resources.get(policy)!.Properties.Roles ?? [{ Ref: policy }]).includes(role!),
      )
      .map(({ statement }) => statement);
    const resources = (action: string) =>
      JSON.stringify(
        granted.filter((each) => actionsOf(each).includes(action)).map(({ Resource }) => Resource),
      );
    for (const [, { Properties }] of tasks) {
      expect(resources('ecs:RunTask')).toContain(`${Properties.Family}:*`);
      for (const each of [Properties.TaskRoleArn, Properties.ExecutionRoleArn]) {
        expect(resources('iam:PassRole')).toContain(JSON.stringify(each));
      }
    }
  });
});

test('earlier versions of changed functions are kept, and their aliases keep their identity', () => {
  const versions = (stage: Synthesized) => ofType(stage, 'AWS::Lambda::Version');
  const changed = versions(before).filter(([id]) => !after.resources.has(id));
  expect(changed.length).toBeGreaterThan(4);
  for (const [id, { DeletionPolicy }] of changed) expect(DeletionPolicy, id).toBe('RetainExceptOnCreate');
  const identity = (stage: Synthesized) =>
    ofType(stage, 'AWS::Lambda::Alias').map(([id, { Properties }]) => [
      id,
      Properties.Name,
      Properties.FunctionName,
    ]);
  expect(identity(after)).toEqual(identity(before));
});

/**
 * Variables that machines send to tasks. TaskImage may give an earlier execution a later revision, and a task that is retried belongs
 * to an earlier execution. So a variable that tasks require is sent for one release before, and one is removed one release after.
 */
const SENT = {
  CollectTask: ['CORRELATION_ID', 'JOB_ID'],
  BacktestTask: ['CORRELATION_ID', 'JOB_ID'],
  HyperoptTask: ['CORRELATION_ID', 'JOB_ID', 'WORKER'],
};

test.each([
  ['CollectTask', CollectTaskEnv],
  ['BacktestTask', BacktestTaskEnv],
  ['HyperoptTask', HyperoptTaskEnv],
] as const)(
  '%s starts with its definition and the variables that machines send',
  (name, environment: EnvDeclaration) => {
    const [id] = definitionsOf(after).find(([each]) => each.startsWith(name))!;
    const own = environmentOf(after, id).map(({ Name, Value }: { Name: string; Value: unknown }) => [
      Name,
      typeof Value === 'string' ? Value : 'a-reference',
    ]);
    const sent = SENT[name].map((each) => [each, each === 'WORKER' ? '0' : 'bt-1']);
    expect(() => readEnv(environment, Object.fromEntries([...own, ...sent]))).not.toThrow();
  },
);

test.each([
  ['backtest', [SENT.CollectTask, SENT.BacktestTask, ['CORRELATION_ID', 'RUN_INPUT']]],
  ['hyperopt', [SENT.CollectTask, SENT.HyperoptTask, SENT.HyperoptTask]],
])('%s machine sends the variables that tasks rely on', (name, expected) => {
  const file = join(import.meta.dirname, `../../statemachines/${name}.asl.json`);
  const lists = [...readFileSync(file, 'utf8').matchAll(/"[Ee]nvironment": \[([^\]]*)\]/g)];
  const sent = lists.map(([, list]) =>
    [...list!.matchAll(/"Name": "(\w+)"/g)].map(([, each]) => each!).sort(),
  );
  expect(sent).toEqual(expected);
});

/** Payloads that machines send to functions, by top-level field. An earlier execution sends its payload to a later version. */
const PAYLOADS = {
  backtest: {
    CheckFreshness: ['correlation_id', 'operation', 'params'],
    CollectDataFast: ['correlation_id', 'job_id'],
    RunBacktestFast: ['correlation_id', 'job_id'],
    PrepareImage: ['correlation_id', 'image'],
    PrepareImageRun: ['correlation_id', 'job_id', 'operation'],
    RecordImageRun: ['correlation_id', 'job_id', 'operation', 'task'],
  },
  hyperopt: { CheckFreshness: ['correlation_id', 'operation', 'params'] },
};

test.each(Object.entries(PAYLOADS))(
  '%s machine sends the payloads that functions rely on',
  (name, expected) => {
    const file = join(import.meta.dirname, `../../statemachines/${name}.asl.json`);
    const { States } = JSON.parse(readFileSync(file, 'utf8'));
    const payloads = Object.entries<any>(States)
      .filter(([, { Parameters }]) => Parameters?.FunctionName)
      .map(([state, { Parameters }]) => [
        state,
        Object.keys(Parameters.Payload)
          .map((key) => key.replace(/\.\$$/, ''))
          .sort(),
      ]);
    expect(Object.fromEntries(payloads)).toEqual(expected);
  },
);
