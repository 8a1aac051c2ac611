import { ACCOUNT, missingForEmulator, query } from '../emulator.ts';
import type { Deployed, Part, Rehearsal } from '../rehearsal.ts';
import { failOn } from '../verify/resources.ts';

/** A caller that the account does not have: Lambda rejects the permission when most of the platform stack exists. */
const UNKNOWN_CALLER = `arn:aws:iam::${ACCOUNT}:role/not-yet`;

/**
 * The teardown of docs/deploy.md, and a deployment after it, also one that fails first. It runs after the parts that need the stage.
 */
export const destroy: Part = {
  name: 'destroy',
  title: 'teardown',
  missing: missingForEmulator,
  seconds: 60,
  run: async (rehearsal) => {
    const deployed = await rehearsal.deployed();
    const { stage } = rehearsal;
    if (stage === 'prod') {
      await rehearsal.check('protected stage', () => refuseTeardown(deployed));
    }
    await rehearsal.check('teardown', () => tearDown(deployed));
    await rehearsal.check('deployment after the teardown', () => deployAgain(deployed));
    await rehearsal.check('teardown of that', () => tearDown(deployed));
    await rehearsal.check('first deployment that fails', () => failFirst(rehearsal, deployed));
    if (stage === 'prod') {
      await rehearsal.check('protected stack that failed', async () => {
        const reason = await failureOf(deployed.cdk.deploy(deployed.assembly));
        if (!/TerminationProtection is enabled/.test(reason)) throw new Error(reason);
        await liftProtection(deployed, 'platform');
        return 'is replaced once its protection is lifted';
      });
    }
    await rehearsal.check('deployment after the failure', () => deployAgain(deployed));
    const { findings } = await deployed.emulator.report();
    const left = new Map(findings.filter(({ kind }) => kind === 'delete').map((each) => [each.id, each]));
    for (const { type, id, text } of left.values()) rehearsal.skipped(`${type} ${id}`, text);
  },
};

/** Message of a command that must fail. */
function failureOf(command: Promise<string>): Promise<string> {
  return command.then(
    () => 'it succeeded',
    (error: Error) => error.message,
  );
}

async function refuseTeardown({ cdk, assembly }: Deployed): Promise<string> {
  const reason = await failureOf(cdk.destroy(assembly));
  if (!/TerminationProtection is enabled/.test(reason)) throw new Error(reason);
  return 'teardown is refused until the protection is lifted';
}

/** The documented way out of the termination protection. */
async function liftProtection({ emulator, stage }: Deployed, ...stacks: readonly string[]): Promise<void> {
  for (const each of stacks) {
    const StackName = `touchstone-${stage}-${each}`;
    const wanted = { StackName, EnableTerminationProtection: 'false' };
    await query(emulator, 'cloudformation', 'UpdateTerminationProtection', wanted);
  }
}

async function tearDown(deployed: Deployed): Promise<string> {
  const { cdk, assembly, stage } = deployed;
  if (stage === 'prod') await liftProtection(deployed, 'platform', 'data');
  await cdk.destroy(assembly);
  const left = Object.keys(await stacksOf(deployed));
  if (left.length > 0) throw new Error(`${left.join(' and ')} still exist`);
  return 'both stacks are deleted';
}

/** Deploys the same assembly; what an earlier stack kept must be in the way of nothing. */
async function deployAgain(deployed: Deployed): Promise<string> {
  const { cdk, assembly, emulator } = deployed;
  const before = (await emulator.report()).findings.length;
  await cdk.deploy(assembly);
  const { findings } = await emulator.report();
  const problems = findings.slice(before).filter(({ kind }) => kind !== 'delete');
  failOn(problems.map(({ type, id, kind, text }) => `${kind} of ${type} ${id}: ${text}`));
  const resources = Object.values(await stacksOf(deployed)).flatMap((stack) => Object.keys(stack.resources));
  return `${resources.length} resources`;
}

/** A first deployment whose platform stack fails, after its data stack has succeeded. */
async function failFirst(rehearsal: Rehearsal, deployed: Deployed): Promise<string> {
  const { cdk, stage } = deployed;
  const folder = await cdk.synth(stage, {
    settings: { ...rehearsal.neededSettings, trustedCallers: [UNKNOWN_CALLER] },
  });
  const reason = await failureOf(cdk.deploy(folder));
  if (!/provided principal was invalid/.test(reason)) throw new Error(reason);
  const { status, resources } = (await stacksOf(deployed))[`touchstone-${stage}-platform`]!;
  if (status !== 'ROLLBACK_COMPLETE') throw new Error(`The platform stack is ${status}`);
  failOn(Object.keys(resources).map((id) => `${id} is left`));
  return 'the platform stack is rolled back';
}

async function stacksOf({ emulator, stage }: Deployed) {
  const { stacks } = await emulator.report();
  return Object.fromEntries(
    Object.entries(stacks).filter(([stack]) => stack.startsWith(`touchstone-${stage}-`)),
  );
}
