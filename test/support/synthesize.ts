import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { TestProject } from 'vitest/node';
import { addTouchstone } from '#lib/add-touchstone.ts';
import { placeholderBundles } from '#lib/cost/templates.ts';
import { type StageConfig, stageConfig } from '#lib/settings/config.ts';
import { type Synthesized, synthesized, type Templates } from './stacks.ts';

const ROOT = join(import.meta.dirname, '../..');

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with the templates of each deployed stage. */
    templates: string;
  }
}

/** Global set-up of test/stacks: synthesizes the stages once for all files, which read them with `templatesOf`. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-templates-'));
  for (const stage of ['dev', 'prod']) {
    writeFileSync(join(folder, `${stage}.json`), JSON.stringify(templates(stageConfig(stage))));
  }
  project.provide('templates', folder);
  return () => rmSync(folder, { recursive: true });
}

/** Stage with a changed configuration. */
export function synthesize(stage: string, changes: Partial<StageConfig>): Synthesized {
  const config = { ...stageConfig(stage), ...changes };
  return synthesized(config, templates(config));
}

/**
 * Synthesizes a stage as `cdk synth` does, with cdk-nag and empty bundles. Throws on cdk-nag findings.
 * Template validation is left to `cdk synth`: starting its engine takes longer than the whole synthesis.
 */
function templates(config: StageConfig): Templates {
  process.env.CDK_VALIDATION = 'false';
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-stacks-'));
  try {
    const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    const app = new App({ outdir: join(folder, 'cdk.out'), context });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const stacks = addTouchstone(app, config, placeholderBundles(folder));
    const annotations = Object.values(stacks).map((stack) => Annotations.fromStack(stack));
    const warnings = annotations.flatMap((each) => each.findWarning('*', Match.anyValue()));
    const notes = annotations.flatMap((each) => each.findInfo('*', Match.anyValue()));
    return {
      warnings: warnings.map(({ entry }) => String(entry.data)),
      notes: notes.map(({ entry }) => String(entry.data)),
      data: Template.fromStack(stacks.data).toJSON() as Templates['data'],
      platform: Template.fromStack(stacks.platform).toJSON() as Templates['platform'],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
