import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { inject } from 'vitest';
import { type StageConfig, stageConfig } from '#lib/settings/config.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, any>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
  readonly UpdatePolicy?: Record<string, any>;
}

export interface Synthesized {
  readonly config: StageConfig;
  readonly data: Template;
  readonly platform: Template;
  /** Warnings of the synthesis. */
  readonly warnings: readonly string[];
  /** Other messages of the synthesis. */
  readonly notes: readonly string[];
  /** Resources of both stacks by logical id. */
  readonly resources: ReadonlyMap<string, Resource>;
}

/** Templates of both stacks as JSON. */
export interface Templates {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly data: { readonly Resources: Readonly<Record<string, Resource>> };
  readonly platform: { readonly Resources: Readonly<Record<string, Resource>> };
}

/** Deployed stage, synthesized once for all test files by the global set-up in synthesize.ts. */
export function templatesOf(stage: 'dev' | 'prod'): Synthesized {
  const text = readFileSync(join(inject('templates'), `${stage}.json`), 'utf8');
  return synthesized(stageConfig(stage), JSON.parse(text));
}

export function synthesized(
  config: StageConfig,
  { warnings, notes, data, platform }: Templates,
): Synthesized {
  return {
    config,
    warnings,
    notes,
    data: Template.fromJSON(data),
    platform: Template.fromJSON(platform),
    resources: new Map(Object.entries({ ...data.Resources, ...platform.Resources })),
  };
}

export function ofType({ resources }: Synthesized, type: string): [string, Resource][] {
  return [...resources].filter(([, resource]) => resource.Type === type);
}

/** All IAM policy statements with the ID of their role or policy. */
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
