import { missingForEmulator } from '../emulator.ts';
import type { Part } from '../rehearsal.ts';
import { environments } from '../verify/environments.ts';
import { functions } from '../verify/functions.ts';
import { machines } from '../verify/machines.ts';
import { failOn } from '../verify/resources.ts';
import { routes } from '../verify/routes.ts';
import { tables } from '../verify/tables.ts';

/** From an empty account to a stage whose resources are those of the code, and a second deployment that changes nothing. */
export const deploy: Part = {
  name: 'deploy',
  title: 'deployment',
  missing: missingForEmulator,
  seconds: 30,
  run: async (rehearsal) => {
    const deployed = await rehearsal.deployed();
    const { cdk, assembly, report } = deployed;
    await rehearsal.verify('second deployment', async () => {
      const text = await cdk.deploy(assembly);
      const [stacks, unchanged] = [/✅/g, /\(no changes\)/g].map((each) => text.match(each)?.length ?? 0);
      if (stacks !== unchanged)
        throw new Error(`${stacks! - unchanged!} stacks changed:\n${text.slice(-2000)}`);
      return `no changes in ${unchanged} stacks`;
    });
    await rehearsal.verify('resources', async () => {
      const findings = (await deployed.emulator.report()).findings.filter(({ kind }) => kind !== 'delete');
      failOn(findings.map(({ type, id, kind, text }) => `${kind} of ${type} ${id}: ${text}`));
      return 'all fit their schemas and were accepted by their service';
    });
    await rehearsal.verify('tables', () => tables(deployed));
    await rehearsal.verify('state machines', () => machines(deployed));
    await rehearsal.verify('functions', () => functions(deployed));
    await rehearsal.verify('environments', () => environments(deployed));
    await rehearsal.verify('routes', () => routes(deployed));

    const stubs = new Set(report.resources.filter(({ made }) => made === 'stub').map(({ type }) => type));
    for (const type of stubs) rehearsal.skipped(type, 'accepted without effect');
    rehearsal.skipped('permissions', 'IAM, resource policies and networks are not enforced');
    rehearsal.skipped('CodeDeploy', 'an alias moves at once, whatever its deployment group says');
    rehearsal.skipped('streams of tables', 'moto has no filters: their records are dropped');
    rehearsal.skipped('alarms, firewall, custom resources', 'recorded without effect');
  },
};
