import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { type StageConfig, stageConfig } from '#lib/config.ts';
import { addTouchstone } from '#lib/platform-stack.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, any>;
  readonly DeletionPolicy?: string;
}

export interface Synthesized {
  readonly config: StageConfig;
  readonly data: Template;
  readonly platform: Template;
  /** Resources of both stacks by logical id. */
  readonly resources: ReadonlyMap<string, Resource>;
}

/**
 * Synthesizes a stage as `cdk synth` does, cdk-nag included, with empty bundles. Throws when cdk-nag finds something.
 * The validation of templates is left to `cdk synth`: its engine alone takes longer to start than all of this.
 */
export function synthesize(stage: string, changes: Partial<StageConfig> = {}): Synthesized {
  process.env.CDK_VALIDATION = 'false';
  const config = { ...stageConfig(stage), ...changes };
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-stacks-'));
  const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
  const app = new App({ outdir: join(folder, 'cdk.out'), context });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stacks = addTouchstone(app, config, emptyBundles(folder));
  const data = Template.fromStack(stacks.data);
  const platform = Template.fromStack(stacks.platform);
  const resources = [data, platform].flatMap((each) => Object.entries(each.toJSON().Resources));
  return { config, data, platform, resources: new Map(resources as [string, Resource][]) };
}

export function ofType({ resources }: Synthesized, type: string): [string, Resource][] {
  return [...resources].filter(([, resource]) => resource.Type === type);
}

/** All IAM policy statements with the id of the role or policy they stand in. */
export function statements(
  synthesized: Synthesized,
): { readonly id: string; readonly statement: Statement }[] {
  const documents = [...synthesized.resources].flatMap(([id, { Type, Properties }]) => {
    if (Type === 'AWS::IAM::Policy') return [{ id, document: Properties.PolicyDocument }];
    if (Type !== 'AWS::IAM::Role') return [];
    return (Properties.Policies ?? []).map((policy: Record<string, unknown>) => ({
      id,
      document: policy.PolicyDocument,
    }));
  });
  return documents.flatMap(({ id, document }) =>
    document.Statement.map((statement: Statement) => ({ id, statement })),
  );
}

export interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, unknown>>;
}

export const actionsOf = ({ Action }: Statement): readonly string[] => [Action].flat();

function emptyBundles(folder: string): string {
  const dist = join(folder, 'dist');
  for (const name of ['backend', 'strategy', 'strategy-events', 'data-proxy', 'reconcile', 'task-image']) {
    mkdirSync(join(dist, 'lambdas', name), { recursive: true });
    writeFileSync(join(dist, 'lambdas', name, 'index.mjs'), `export const handler = '${name}';\n`);
  }
  mkdirSync(join(dist, 'tasks'), { recursive: true });
  writeFileSync(join(dist, 'tasks', 'Dockerfile'), 'FROM scratch\n');
  return dist;
}
