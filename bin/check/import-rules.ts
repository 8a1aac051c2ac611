import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Allowed imports of a folder. The first rule whose folder contains a file applies. */
interface Rule {
  readonly folder: string;
  /** Folders and files of the project, in addition to the rule's folder. */
  readonly project: readonly string[];
  /** Folders from which it may import only types. */
  readonly types?: readonly string[];
  /** Packages, including `node:*`; a trailing `*` matches any suffix. */
  readonly packages: readonly string[];
  /** Packages from which it may import only types. */
  readonly typePackages?: readonly string[];
  /** Rejects access to clock, randomness and process, so that results depend only on inputs. */
  readonly noClock?: true;
}

const ANY = ['*'];
const VALUES = 'src/contract/values';
/** Packages of the dashboard. None of them violates its content policy. */
const BROWSER_PACKAGES = [
  'react',
  'react-dom',
  'react-dom/*',
  '@tanstack/*',
  'uplot',
  'uplot/*',
  'lightweight-charts',
  'lucide-react',
  'eventsource-parser',
  'oauth4webapi',
];
const RULES: readonly Rule[] = [
  // The floor, without zod: the engine, the browser and cold starts import it.
  { folder: VALUES, project: [], types: ['src/contract'], packages: [], typePackages: ['zod'] },
  { folder: 'src/engine', project: [VALUES], types: ['src/contract'], packages: [], noClock: true },
  { folder: 'strategies', project: ['src/engine'], packages: [], noClock: true },
  { folder: 'src/contract', project: [], packages: ['zod'] },
  { folder: 'src/domain', project: ['src/engine', 'src/contract'], packages: [], noClock: true },
  {
    folder: 'src/adapters',
    project: ['src/domain', 'src/contract', 'src/engine'],
    packages: ANY,
  },
  {
    folder: 'src/runtime',
    project: ['src/contract', 'src/domain', 'package.json'],
    packages: [
      'node:*',
      '@middy/*',
      '@aws-lambda-powertools/*',
      'aws-jwt-verify/*',
      'hono',
      'hono/*',
      '@hono/*',
      'aws-lambda',
      'zod',
    ],
  },
  // Programs of others bundle it: what it imports is part of their size.
  { folder: 'src/client', project: [], types: ['src/contract'], packages: [] },
  { folder: 'src', project: ['src', 'package.json'], packages: ANY },
  { folder: 'lambdas', project: ['src'], packages: ANY },
  {
    folder: 'lib',
    project: ['src/contract', 'package.json'],
    packages: ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs', 'cdk-nag', 'cdk-nag/*', 'zod', 'node:*'],
  },
  {
    folder: 'web/vite.config.ts',
    project: [
      'src/contract',
      'src/engine/metrics',
      'src/engine/walk-forward/objectives.ts',
      'web/report-file.ts',
    ],
    packages: ['vite', 'node:*'],
  },
  {
    folder: 'web/report-file.ts',
    project: ['src/contract/backtests/report-file.ts'],
    packages: ['vite', 'node:*'],
  },
  {
    folder: 'web',
    project: [VALUES],
    types: ['src/contract'],
    packages: [...BROWSER_PACKAGES, 'virtual:*'],
  },
  { folder: 'bin/app.ts', project: ['lib'], packages: ['aws-cdk-lib', 'cdk-nag', 'node:path'] },
  { folder: 'bin/operate/cost.ts', project: ['lib'], packages: ['node:*'] },
];
/** Only these folders may import the CDK, which must not be in a bundle. */
const HOLDS_CDK = new Set(['lib', 'bin/app.ts']);
const CDK = /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/;
const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bglobalThis\b|\bprocess\./;

/** Violations in one file, one line each. */
export function importProblems(file: string, imports: Readonly<Record<string, string>>): string[] {
  const rule = RULES.find(({ folder }) => isWithin(file, folder));
  if (!rule) return [];
  const source = readFileSync(file, 'utf8');
  const text = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const problems = specifiersOf(file, source)
    .filter((each) => !isAllowed(file, each, rule, imports))
    .map(({ specifier }) => `${file} must not import ${specifier}`);
  const clock = rule.noClock && CLOCK.exec(text);
  return clock
    ? [...problems, `${file} must not use ${clock[0]}: clock and randomness are injected`]
    : problems;
}

/**
 * Pairs of sibling folders that import each other, types included, one line each: neither could be read or moved without the other. A
 * folder and the folders in it count as one.
 */
export function siblingProblems(
  files: readonly string[],
  imports: Readonly<Record<string, string>>,
): string[] {
  const examples = new Map<string, string>();
  for (const file of files) {
    for (const { specifier } of specifiersOf(file, readFileSync(file, 'utf8'))) {
      const target = projectPath(file, specifier, imports);
      const siblings = target === undefined ? undefined : siblingFolders(file, target);
      if (siblings) examples.set(siblings.join(' '), `${file} imports ${target}`);
    }
  }
  return [...examples].flatMap(([pair, example]) => {
    const [from, to] = pair.split(' ') as [string, string];
    const back = examples.get(`${to} ${from}`);
    return from < to && back ? [`${from} and ${to} import each other: ${example}, ${back}`] : [];
  });
}

/** The folders in which the paths of two files part; undefined when one file is in the other's folder or below it. */
function siblingFolders(file: string, other: string): [string, string] | undefined {
  const [a, b] = [dirname(file).split('/'), dirname(other).split('/')];
  const depth = a.findIndex((name, index) => name !== b[index]);
  if (depth === -1 || depth >= b.length) return undefined;
  return [a.slice(0, depth + 1).join('/'), b.slice(0, depth + 1).join('/')];
}

interface Import {
  /** For a dynamic import without a string literal, its expression. */
  readonly specifier: string;
  readonly isType: boolean;
}

/** All imports and re-exports of a file. */
function specifiersOf(file: string, source: string): Import[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  return [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
    })),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, isType }] : [],
      ),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      specifier: source.slice(start, end).replaceAll(/^'|'$/g, ''),
      isType: false,
    })),
  ];
}

function isAllowed(
  file: string,
  { specifier, isType }: Import,
  rule: Rule,
  imports: Readonly<Record<string, string>>,
): boolean {
  const target = projectPath(file, specifier, imports);
  if (target !== undefined) {
    const folders = [rule.folder, ...rule.project, ...(isType ? (rule.types ?? []) : [])];
    return folders.some((folder) => isWithin(target, folder));
  }
  if (!HOLDS_CDK.has(rule.folder) && CDK.test(specifier)) return false;
  const packages = [...rule.packages, ...(isType ? (rule.typePackages ?? []) : [])];
  return packages.some((name) =>
    name.endsWith('*') ? specifier.startsWith(name.slice(0, -1)) : specifier === name,
  );
}

/** Path of an import in the project; undefined for a package. */
function projectPath(
  file: string,
  specifier: string,
  imports: Readonly<Record<string, string>>,
): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  const alias = Object.keys(imports).find((key) => specifier.startsWith(key.slice(0, -1)));
  return alias && normalize(specifier.replace(alias.slice(0, -1), imports[alias]!.slice(0, -1)));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
