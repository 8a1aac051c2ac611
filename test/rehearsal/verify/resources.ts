import type { Deployed } from '../rehearsal.ts';

export interface DeployedResource {
  readonly stack: string;
  readonly logicalId: string;
  readonly physical: string;
}

/** All resources of a type in the stacks of the stage. @throws Error if there is none */
export function resourcesOf({ report, stage }: Deployed, type: string): DeployedResource[] {
  const found = Object.entries(report.stacks)
    .filter(([stack]) => stack.startsWith(`touchstone-${stage}-`))
    .flatMap(([stack, { resources }]) =>
      Object.entries(resources)
        .filter(([, each]) => each.type === type)
        .map(([logicalId, { physical }]) => ({ stack, logicalId, physical })),
    );
  if (found.length === 0) throw new Error(`The stage ${stage} has no ${type}`);
  return found;
}

/** Fails with all problems, one line each. */
export function failOn(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
