import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import Table from 'cli-table3';
import type { Bench, Figure } from './support/bench.ts';

const FOLDER = import.meta.dirname;

/** Every other file of this folder is a bench. */
function benchNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => basename(file, '.ts'))
    .filter((name) => name !== 'run')
    .sort();
}

/** Runs one bench in a process of its own, so that none inherits the compiled code or heap of another. */
function runBench(name: string): Promise<Figure[]> {
  return new Promise((resolve, reject) => {
    const child = fork(join(FOLDER, 'support', 'child.ts'), [name], { execArgv: ['--expose-gc'] });
    let figures: Figure[] | undefined;
    child.on('message', (message) => {
      figures = message as Figure[];
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (figures) resolve(figures);
      else reject(new Error(`bench ${name} ended with code ${code} and no figures`));
    });
  });
}

function goal({ target, value }: Figure): string[] {
  if (!target) return ['', ''];
  if ('atLeast' in target) return [`>= ${target.atLeast}`, value >= target.atLeast ? 'yes' : 'no'];
  return [`<= ${target.atMost}`, value <= target.atMost ? 'yes' : 'no'];
}

function toRow(bench: string, figure: Figure): string[] {
  const value = `${Number(figure.value.toPrecision(3))} ${figure.unit}`;
  return [bench, figure.label, value, ...goal(figure), figure.detail ?? ''];
}

async function describe(name: string): Promise<Bench> {
  return (await import(join(FOLDER, `${name}.ts`))).default;
}

async function main(asked: string[]): Promise<void> {
  const known = benchNames();
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`No bench named ${unknown.join(', ')}. There are: ${known.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const table = new Table({
    head: ['bench', 'figure', 'median', 'target', 'met', 'of what'],
    style: { head: [], border: [], compact: true },
  });
  for (const name of asked.length > 0 ? asked : known) {
    console.log(`${name}: ${(await describe(name)).description}`);
    for (const figure of await runBench(name)) table.push(toRow(name, figure));
  }
  console.log(table.toString());
}

await main(process.argv.slice(2));
