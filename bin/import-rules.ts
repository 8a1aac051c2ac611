import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Who may import whom, by folder; the first rule whose folder holds a file is the one for it. */
interface Rule {
  readonly folder: string;
  /** Folders and files of the project, its own folder aside. */
  readonly project: readonly string[];
  /** Folders of which it may import types alone. */
  readonly types?: readonly string[];
  /** Packages, `node:*` included; a name that ends in `*` stands for all that begin so. */
  readonly packages: readonly string[];
  /** Code that would make a result depend on more than its inputs. */
  readonly noClock?: true;
  /** Folders within `project` that it must not import. */
  readonly except?: readonly string[];
}

const ANY = ['*'];
const DOMAIN: Rule = {
  folder: 'src/domain',
  project: ['src/domain', 'src/engine', 'src/contract'],
  packages: [],
  noClock: true,
};
const RULES: readonly Rule[] = [
  // Bounds and defaults without zod: the engine reads their values, and of the rest of the contract types alone.
  { folder: 'src/contract/limits.ts', project: [], packages: [] },
  {
    folder: 'src/engine',
    project: ['src/contract/limits.ts'],
    types: ['src/contract'],
    packages: [],
    noClock: true,
  },
  { folder: 'strategies', project: ['src/engine'], packages: [], noClock: true },
  { folder: 'src/contract', project: [], packages: ['zod'] },
  // Stage transitions are below registry and challenges, which do not import each other.
  { ...DOMAIN, folder: 'src/domain/transitions', except: ['src/domain/registry', 'src/domain/challenges'] },
  { ...DOMAIN, folder: 'src/domain/registry', except: ['src/domain/challenges'] },
  { ...DOMAIN, folder: 'src/domain/challenges', except: ['src/domain/registry'] },
  DOMAIN,
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
  { folder: 'src', project: ['src', 'package.json'], packages: ANY },
  { folder: 'lambdas', project: ['src'], packages: ANY },
  {
    folder: 'lib',
    project: ['src/contract', 'package.json'],
    packages: ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs', 'cdk-nag', 'cdk-nag/*', 'zod', 'node:*'],
  },
  { folder: 'bin/app.ts', project: ['lib'], packages: ['aws-cdk-lib', 'cdk-nag', 'node:path'] },
];
/** Nothing that runs may carry the CDK along. */
const HOLDS_CDK = new Set(['lib', 'bin/app.ts']);
const CDK = /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/;
const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bglobalThis\b|\bprocess\./;

/** What breaks the rules in one file, a line each. */
export function importProblems(file: string, imports: Readonly<Record<string, string>>): string[] {
  const rule = RULES.find(({ folder }) => isWithin(file, folder));
  if (!rule) return [];
  const source = readFileSync(file, 'utf8');
  const text = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const problems = specifiersOf(file, source)
    .filter((each) => !isAllowed(file, each, rule, imports))
    .map(({ specifier }) => `${file} must not import ${specifier}`);
  const clock = rule.noClock && CLOCK.exec(text);
  return clock ? [...problems, `${file} must not use ${clock[0]}: clock and chance are injected`] : problems;
}

interface Import {
  /** Of an import at run time the expression when it is not a string literal. */
  readonly specifier: string;
  readonly isType: boolean;
}

/** Everything that a file imports or re-exports. */
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
    const isExcepted = rule.except?.some((folder) => isWithin(target, folder)) ?? false;
    return !isExcepted && folders.some((folder) => isWithin(target, folder));
  }
  if (!HOLDS_CDK.has(rule.folder) && CDK.test(specifier)) return false;
  return rule.packages.some((name) =>
    name.endsWith('*') ? specifier.startsWith(name.slice(0, -1)) : specifier === name,
  );
}

/** Where in the project an import leads; undefined for a package. */
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
