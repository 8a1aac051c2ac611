/** Which tests load a file, by the paths that sources name: imports, and modules that are started by name. */
import { dirname, join, normalize } from 'node:path';

/** Tests that start platforms, browsers or compilers: they take longest. */
export const isSlow = (test: string) =>
  /^test\/(cli|docs|e2e|fuzz|package|rehearsal|soak|stacks|web)\//.test(test);

const TYPES_ONLY = /^(?:import|export) type [^'";]*from ['"][^'"]*['"]/gm;
const QUOTED = /['"`]([^'"`\s]+)['"`]/g;

/** The files that load each file. Imports of types do not load. */
export function importersOf(
  sources: ReadonlyMap<string, string>,
  aliases: Readonly<Record<string, string>>,
): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, source] of sources) {
    const quoted = [...source.replaceAll(TYPES_ONLY, '').matchAll(QUOTED)];
    const named = quoted.map(([, text]) => pathOf(file, text!, aliases));
    for (const path of new Set(named)) {
      // `codeFile('./child', import.meta.url)` names a module without its suffix.
      const target = [path, `${path}.ts`].find((each) => sources.has(each));
      if (target) importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  }
  return importers;
}

function pathOf(file: string, text: string, aliases: Readonly<Record<string, string>>): string {
  if (text.startsWith('.')) return normalize(join(dirname(file), text));
  const alias = Object.keys(aliases).find((key) => text.startsWith(key.slice(0, -1)));
  return normalize(alias ? text.replace(alias.slice(0, -1), aliases[alias]!.slice(0, -1)) : text);
}

/**
 * Tests that load a file: quick ones, then full ones, then slow ones. Among these, first those whose path has most words in common
 * with that of the file, then the nearest by imports.
 */
export function testsOf(file: string, importers: ReadonlyMap<string, readonly string[]>): string[] {
  const reached = new Set([file]);
  // A set is walked in the order of its insertions, those during the walk included: breadth first.
  for (const each of reached) for (const importer of importers.get(each) ?? []) reached.add(importer);
  const words = wordsOf(file);
  const rank = (test: string) =>
    2000 * Number(isSlow(test)) +
    1000 * Number(test.endsWith('.full.test.ts')) -
    [...wordsOf(test)].filter((word) => words.has(word)).length;
  return [...reached].filter((each) => each.endsWith('.test.ts')).sort((a, b) => rank(a) - rank(b));
}

const wordsOf = (path: string) => new Set(path.split(/[/.-]/));
