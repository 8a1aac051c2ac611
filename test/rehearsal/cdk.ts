import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT, type Emulator } from './emulator.ts';
import { startProcess } from './processes.ts';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');

interface Finished {
  readonly status: number | null;
  /** Output and errors. */
  readonly text: string;
}

/** Runs a command of this checkout and collects its output. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = ROOT,
): Promise<Finished> {
  const { AWS_PROFILE: _, ...inherited } = process.env;
  const child = startProcess(command, args, {
    cwd,
    env: { ...inherited, ...env, PATH: `${BIN}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (part) => (text += part));
  const [status] = await once(child, 'close');
  return { status, text };
}

export interface StageChange {
  /** Settings of the stage, over those of the settings file. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** The CDK CLI of this project against one region of an emulator. */
export class Cdk {
  readonly #emulator: Emulator;
  readonly #folder = mkdtempSync(join(tmpdir(), 'touchstone-rehearsal-'));
  #assemblies = 0;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  bootstrap(): Promise<string> {
    return this.#cdk(['bootstrap', `aws://${ACCOUNT}/${this.#emulator.region}`]);
  }

  /** Synthesizes a stage into a folder, so that several deployments take the same assembly. */
  async synth(stage: string, { settings }: StageChange = {}): Promise<string> {
    const folder = join(this.#folder, `assembly-${this.#assemblies++}`);
    const context = [`stage=${stage}`];
    if (settings) {
      const file = `${folder}.config.json`;
      writeFileSync(file, JSON.stringify({ stages: { [stage]: settings } }));
      context.push(`config=${file}`);
    }
    await this.#cdk(['synth', '--quiet', '-o', folder, ...context.flatMap((each) => ['-c', each])], ROOT);
    return folder;
  }

  deploy(folder: string): Promise<string> {
    return this.#cdk(['deploy', '--all', '--app', folder, '--require-approval', 'never', '--ci']);
  }

  destroy(folder: string): Promise<string> {
    return this.#cdk(['destroy', '--all', '--app', folder, '--force', '--ci']);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Output of a command. It runs outside the project by default: with this project's cdk.json the CLI would build and
   * synthesize the app again.
   *
   * @throws Error with the end of the output if it fails
   */
  async #cdk(args: readonly string[], cwd = this.#folder): Promise<string> {
    const env = {
      ...this.#emulator.env,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      // Every command of Docker succeeds and does nothing: test/stacks/image.full.test.ts builds the image.
      CDK_DOCKER: 'true',
    };
    const { status, text } = await runCommand('cdk', [...args, '--no-notices'], env, cwd);
    if (status !== 0) throw new Error(`cdk ${args[0]} ended with ${status}:\n${text.slice(-3000)}`);
    return text;
  }
}
