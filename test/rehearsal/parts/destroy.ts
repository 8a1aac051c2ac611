import { missingForEmulator } from '../emulator.ts';
import type { Part } from '../rehearsal.ts';

/** The teardown of docs/deploy.md. It runs last: no other part finds the stage after it. */
export const destroy: Part = {
  name: 'destroy',
  title: 'teardown',
  missing: missingForEmulator,
  seconds: 15,
  run: async (rehearsal) => {
    const { cdk, assembly, emulator, stage } = await rehearsal.deployed();
    if (stage === 'prod') {
      await rehearsal.verify('teardown', async () => {
        const reason = await cdk.destroy(assembly).then(
          () => 'prod was deleted',
          (error: Error) => error.message,
        );
        if (!/TerminationProtection is enabled/.test(reason)) throw new Error(reason);
        return 'refused: the stacks are protected';
      });
      return;
    }
    await rehearsal.verify('teardown', async () => {
      await cdk.destroy(assembly);
      const { stacks } = await emulator.report();
      const left = Object.keys(stacks).filter((stack) => stack.startsWith(`touchstone-${stage}-`));
      if (left.length > 0) throw new Error(`${left.join(' and ')} still exist`);
      return 'both stacks are deleted';
    });
    const { findings } = await emulator.report();
    for (const { type, id, text } of findings.filter(({ kind }) => kind === 'delete')) {
      rehearsal.skipped(`${type} ${id}`, text);
    }
  },
};
